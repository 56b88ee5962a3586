// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	netv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fairway-ingress/fairway/test/testbed"
)

// admitted is a namespace whose Ingresses a webhook judges, and a client that collects warnings.
type admitted struct {
	*environment
	namespace string
	class     string
	client    kubernetes.Interface
	warned    *warnings
}

type warnings struct {
	mu   sync.Mutex // guards list
	list []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// take gives the warnings since the last call.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

// admission makes a namespace with a Service of replicas and a class, and registers the webhook for that namespace.
func (e *environment) admission(t *testing.T, authorities []byte, replicas ...int) *admitted {
	t.Helper()
	a := &admitted{environment: e, namespace: e.Namespace(t), warned: &warnings{}}
	a.class = a.namespace
	config, err := clientcmd.BuildConfigFromFlags("", e.Cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.WarningHandler = -1, a.warned
	if a.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	class := &netv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: a.class}, Spec: netv1.IngressClassSpec{Controller: webhookController}}
	_, err = a.client.NetworkingV1().IngressClasses().Create(t.Context(), class, metav1.CreateOptions{})
	a.must(t, err)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "webhook"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "https", Port: 443}}}}
	_, err = a.client.CoreV1().Services(a.namespace).Create(t.Context(), service, metav1.CreateOptions{})
	a.must(t, err)
	for _, number := range replicas {
		port, name, protocol := int32((&replica{number: number}).webhookPort()), "https", corev1.ProtocolTCP
		_, err = a.client.DiscoveryV1().EndpointSlices(a.namespace).Create(t.Context(), &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Name: fmt.Sprintf("webhook-%d", number), Labels: map[string]string{discoveryv1.LabelServiceName: "webhook"}},
			AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{replicaAddress}}},
			Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}},
		}, metav1.CreateOptions{})
		a.must(t, err)
	}
	a.register(t, authorities)
	return a
}

// register makes the ValidatingWebhookConfiguration, as the chart does.
func (a *admitted) register(t *testing.T, authorities []byte) {
	t.Helper()
	fail, none, path := admissionregv1.Fail, admissionregv1.SideEffectClassNone, "/networking/v1/ingresses"
	_, err := a.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: a.namespace},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "validate.nginx.ingress.kubernetes.io", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: a.namespace}},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create, admissionregv1.Update},
				Rule:       admissionregv1.Rule{APIGroups: []string{"networking.k8s.io"}, APIVersions: []string{"v1"}, Resources: []string{"ingresses"}},
			}},
			ClientConfig: admissionregv1.WebhookClientConfig{
				CABundle: authorities, Service: &admissionregv1.ServiceReference{Namespace: a.namespace, Name: "webhook", Path: &path},
			},
		}},
	}, metav1.CreateOptions{})
	a.must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := a.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, a.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if err := a.client.NetworkingV1().IngressClasses().Delete(ctx, a.class, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func (a *admitted) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ingress is newIngress of the webhook's class.
func (a *admitted) ingress(name, host, path string) *netv1.Ingress {
	ingress := newIngress(name, host, path, "web")
	ingress.Spec.IngressClassName = &a.class
	return ingress
}

// try asks whether an Ingress could be created, without creating it.
func (a *admitted) try(ingress *netv1.Ingress) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := a.client.NetworkingV1().Ingresses(a.namespace).Create(ctx, ingress, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// refused tells whether an error is a verdict of the webhook, not a failure to ask it, and holds the parts.
func refused(err error, parts ...string) bool {
	if err == nil || !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `admission webhook "validate.nginx.ingress.kubernetes.io" denied the request`) {
		return false
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			return false
		}
	}
	return true
}

// awaitVerdicts waits until the API server asks the webhook and gets answers.
func (a *admitted) awaitVerdicts(t *testing.T) {
	t.Helper()
	bad := a.ingress("bad", "bad.example", "/(")
	var last error
	a.await(t, "verdicts", func() bool { last = a.try(bad); return refused(last) })
	if !refused(last, "spec.rules[0].http.paths[0].path", "ImplementationSpecific") {
		t.Errorf("the refusal does not name field and remedy: %v", last)
	}
	a.warned.take()
}

// authority is a CA of the test's own.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	var der []byte
	a.key, der = sign(t, template, template, nil)
	var err error
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a
}

// sign makes a key and a certificate; without a signer it signs itself.
func sign(t *testing.T, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

// issue writes a certificate for a name into a folder, in the way of the kubelet: a new folder and a link that is replaced.
func (a *authority) issue(t *testing.T, dir, name string, serial int64) {
	t.Helper()
	key, der := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}, a.certificate, a.key)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("..%d", serial)
	for file, block := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: der}, "key": {Type: "PRIVATE KEY", Bytes: pkcs8}} {
		path := filepath.Join(dir, folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink("..data/"+file, filepath.Join(dir, file)) // there from the second time on
	}
	if err := os.Symlink(folder, filepath.Join(dir, "..tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
}

// TestWebhook has a real API server ask the webhook, whose certificate comes from files.
func TestWebhook(t *testing.T) {
	e := running(t)
	ca, dir := newAuthority(t), t.TempDir()
	a := e.admission(t, ca.pem, 1)
	name := "webhook." + a.namespace + ".svc"
	ca.issue(t, dir, name, 11)
	r := e.startReplica(t, 1, e.Cluster.InternalKubeconfig,
		"--validating-webhook-certificate", filepath.Join(dir, "cert"), "--validating-webhook-key", filepath.Join(dir, "key"))
	a.awaitVerdicts(t)

	t.Run("conflicts", a.testConflicts)
	t.Run("warnings", a.testWarnings)
	t.Run("not judged", a.testNotJudged)
	t.Run("oversize", func(t *testing.T) { a.testOversize(t, r) })
	t.Run("rotation", func(t *testing.T) { a.testRotation(t, ca, dir, name, r) })
}

// testConflicts creates, updates and deletes as kubectl does.
func (a *admitted) testConflicts(t *testing.T) {
	ingresses := a.client.NetworkingV1().Ingresses(a.namespace)
	owner, err := ingresses.Create(t.Context(), a.ingress("owner", "shop.example", "/"), metav1.CreateOptions{})
	a.must(t, err)
	var last error
	a.await(t, "refusal of a path that is taken", func() bool {
		last = a.try(a.ingress("second", "shop.example", "/"))
		return refused(last, "Ingress "+a.namespace+"/second is refused", "spec.rules[0].http.paths[0]", "the path / of the host shop.example", a.namespace+"/owner")
	})
	var status apierrors.APIStatus = last.(*apierrors.StatusError)
	if details := status.Status().Details; details == nil || len(details.Causes) != 1 || details.Causes[0].Field != "spec.rules[0].http.paths[0]" {
		t.Errorf("details %+v", details)
	}
	a.must(t, a.try(a.ingress("below", "shop.example", "/below")))
	canary := a.ingress("canary", "shop.example", "/")
	canary.Annotations = map[string]string{prefix + "canary": "true", prefix + "canary-weight": "5"}
	a.must(t, a.try(canary))
	owner.Annotations = map[string]string{prefix + "limit-rps": "many"}
	if _, err := ingresses.Update(t.Context(), owner, metav1.UpdateOptions{}); !refused(err, "limit-rps", "not a whole number", `such as "20"`) {
		t.Errorf("an update with a bad value: %v", err)
	}
	owner.Annotations[prefix+"limit-rps"] = "20"
	_, err = ingresses.Update(t.Context(), owner, metav1.UpdateOptions{})
	a.must(t, err)
	a.must(t, ingresses.Delete(t.Context(), "owner", metav1.DeleteOptions{}))
	a.await(t, "the path of a deleted Ingress", func() bool { return a.try(a.ingress("second", "shop.example", "/")) == nil })
}

func (a *admitted) testWarnings(t *testing.T) {
	a.warned.take()
	odd := a.ingress("odd", "odd.example", "/")
	odd.Annotations = map[string]string{prefix + "proxy-conect-timeout": "5", prefix + "proxy-read-timeout": "soon"}
	a.must(t, a.try(odd))
	list := strings.Join(a.warned.take(), "\n")
	for _, part := range []string{"did you mean proxy-connect-timeout?", `proxy-read-timeout]: the value "soon" is not a whole number`} {
		if !strings.Contains(list, part) {
			t.Errorf("the warnings %q lack %q", list, part)
		}
	}
	a.must(t, a.try(a.ingress("plain", "plain.example", "/")))
	if list := a.warned.take(); len(list) > 0 {
		t.Errorf("warnings without a reason: %q", list)
	}
	snippet := a.ingress("snippet", "snippet.example", "/")
	snippet.Annotations = map[string]string{prefix + "configuration-snippet": "return 200;"}
	if err := a.try(snippet); !refused(err, "configuration-snippet", "annotations-risk-level") {
		t.Errorf("a snippet: %v", err)
	}
}

func (a *admitted) testNotJudged(t *testing.T) {
	a.must(t, a.try(newIngress("foreign", "foreign.example", "/(", "web")))
	leaving := a.ingress("leaving", "leaving.example", "/")
	leaving.Finalizers = []string{"example.test/wait"}
	ingresses := a.client.NetworkingV1().Ingresses(a.namespace)
	created, err := ingresses.Create(t.Context(), leaving, metav1.CreateOptions{})
	a.must(t, err)
	a.must(t, ingresses.Delete(t.Context(), "leaving", metav1.DeleteOptions{}))
	created, err = ingresses.Get(t.Context(), created.Name, metav1.GetOptions{})
	a.must(t, err)
	created.Finalizers = nil
	created.Annotations = map[string]string{prefix + "limit-rps": "many"}
	_, err = ingresses.Update(t.Context(), created, metav1.UpdateOptions{})
	a.must(t, err)
}

// testOversize asks the webhook itself, over its TLS.
func (a *admitted) testOversize(t *testing.T, r *replica) {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return testbed.Dialer{Netns: a.Cluster.Netns}.DialContext(ctx, "tcp", r.webhookAddress())
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Post("https://webhook/", "application/json", bytes.NewReader(make([]byte, 9<<20)))
	a.must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge || response.TLS.Version < tls.VersionTLS12 || response.ProtoMajor != 1 {
		t.Errorf("status %d by HTTP/%d", response.StatusCode, response.ProtoMajor)
	}
}

// testRotation replaces the certificate while the API server asks.
func (a *admitted) testRotation(t *testing.T, ca *authority, dir, name string, r *replica) {
	stop := a.askAllTheTime(t)
	for serial := int64(12); serial < 15; serial++ {
		ca.issue(t, dir, name, serial)
		a.await(t, "the new certificate", func() bool { c := r.certificate(); return c != nil && c.SerialNumber.Int64() == serial })
	}
	stop()
}

// askAllTheTime has the webhook asked until stop, which demands that each time there was a verdict.
func (a *admitted) askAllTheTime(t *testing.T) (stop func()) {
	done, ended := make(chan struct{}), make(chan string, 1)
	bad := a.ingress("bad", "bad.example", "/(")
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				if n == 0 {
					ended <- "nothing was asked"
				}
				ended <- ""
				return
			case <-time.After(10 * time.Millisecond):
			}
			if err := a.try(bad); !refused(err) {
				ended <- fmt.Sprintf("no verdict: %v", err)
				return
			}
		}
	}()
	return func() {
		t.Helper()
		close(done)
		if text := <-ended; text != "" {
			t.Error(text)
		}
	}
}

// lifetime is that of the certificate in TestWebhookSelfManaged. A third of it is left at the renewal: so long the machine may stand still.
const lifetime = 45 * time.Second

// TestWebhookSelfManaged has two replicas make one certificate, with no more rights than docs/admission.md lists.
func TestWebhookSelfManaged(t *testing.T) {
	e := running(t)
	a := e.admission(t, nil, 2, 3)
	kubeconfig := a.account(t)
	flags := []string{"--validating-webhook-self-managed", "--validating-webhook-service", a.namespace + "/webhook", "--validating-webhook-secret", a.namespace + "/admission",
		"--validating-webhook-configuration", a.namespace, "--validating-webhook-certificate-lifetime", lifetime.String()}
	replicas := []*replica{e.startReplica(t, 2, kubeconfig, flags...), e.startReplica(t, 3, kubeconfig, flags...)}
	a.awaitVerdicts(t)
	shown := func() *big.Int {
		one, two := replicas[0].certificate(), replicas[1].certificate()
		if one == nil || two == nil || one.SerialNumber.Cmp(two.SerialNumber) != 0 {
			return nil
		}
		return one.SerialNumber
	}
	var first *big.Int
	a.await(t, "one certificate on both replicas", func() bool { first = shown(); return first != nil })

	stop := a.askAllTheTime(t)
	a.await(t, "the renewed certificate on both replicas", func() bool { now := shown(); return now != nil && now.Cmp(first) != 0 })
	stop()

	configurations := a.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	configuration, err := configurations.Get(t.Context(), a.namespace, metav1.GetOptions{})
	a.must(t, err)
	configuration.Webhooks[0].ClientConfig.CABundle = nil
	_, err = configurations.Update(t.Context(), configuration, metav1.UpdateOptions{})
	a.must(t, err)
	a.await(t, "the repaired registration", func() bool { return a.trusts(t) })
	a.awaitVerdicts(t)
	a.must(t, a.client.CoreV1().Secrets(a.namespace).Delete(t.Context(), "admission", metav1.DeleteOptions{}))
	a.await(t, "another Secret, and trust in it", func() bool { return a.trusts(t) })
	a.awaitVerdicts(t)
}

// trusts tells whether the API server is told to trust the authorities in the Secret.
func (a *admitted) trusts(t *testing.T) bool {
	configuration, err := a.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), a.namespace, metav1.GetOptions{})
	a.must(t, err)
	secret, err := a.client.CoreV1().Secrets(a.namespace).Get(t.Context(), "admission", metav1.GetOptions{})
	return err == nil && bytes.Equal(configuration.Webhooks[0].ClientConfig.CABundle, secret.Data["ca.crt"])
}

// account makes a ServiceAccount that may read what a controller reads, and do what docs/admission.md lists, and gives a kubeconfig for it.
func (a *admitted) account(t *testing.T) string {
	t.Helper()
	meta := metav1.ObjectMeta{Name: a.namespace}
	read := []string{"get", "list", "watch"}
	_, err := a.client.CoreV1().ServiceAccounts(a.namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	a.must(t, err)
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: a.namespace, Name: a.namespace}}
	_, err = a.client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"services", "configmaps", "secrets", "namespaces"}, Verbs: read},
		{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: read},
		{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"ingresses", "ingressclasses"}, Verbs: read},
		{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"validatingwebhookconfigurations"}, ResourceNames: []string{a.namespace},
			Verbs: []string{"get", "list", "watch", "patch"}},
	}}, metav1.CreateOptions{})
	a.must(t, err)
	bound := make(chan error, 1)
	time.AfterFunc(time.Second, func() { // an installation makes rights and pods at once, and the rights may come later
		_, err := a.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: a.namespace},
		}, metav1.CreateOptions{})
		bound <- err
	})
	t.Cleanup(func() {
		if err := <-bound; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = a.client.RbacV1().ClusterRoleBindings().Delete(ctx, a.namespace, metav1.DeleteOptions{}) // the cluster ends anyway
		_ = a.client.RbacV1().ClusterRoles().Delete(ctx, a.namespace, metav1.DeleteOptions{})
	})
	_, err = a.client.RbacV1().Roles(a.namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"admission"}, Verbs: []string{"get", "list", "watch", "update"}},
	}}, metav1.CreateOptions{})
	a.must(t, err)
	_, err = a.client.RbacV1().RoleBindings(a.namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: a.namespace},
	}, metav1.CreateOptions{})
	a.must(t, err)
	token, err := a.client.CoreV1().ServiceAccounts(a.namespace).CreateToken(t.Context(), a.namespace, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	a.must(t, err)
	return a.kubeconfigWith(t, token.Status.Token)
}

// kubeconfigWith is the one for programs inside, with a token instead of what is in it.
func (a *admitted) kubeconfigWith(t *testing.T, token string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(a.Cluster.InternalKubeconfig)
	a.must(t, err)
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	a.must(t, clientcmd.WriteToFile(*config, path))
	return path
}

var _ rest.WarningHandler = (*warnings)(nil)
