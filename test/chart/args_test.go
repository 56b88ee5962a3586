// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// program builds the controller into a folder, under the name that the image also has it by.
func program(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "nginx-ingress-controller")
	build := exec.Command("go", "build", "-o", path, "./cmd/fairway")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build fairway: %v: %s", err, out)
	}
	return path
}

// container gives the first container of a Deployment or DaemonSet.
func container(t *testing.T, o *unstructured.Unstructured) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) == 0 {
		t.Fatalf("%s %s has no containers: %v", o.GetKind(), o.GetName(), err)
	}
	return containers[0].(map[string]any)
}

// arguments gives those of the controller's container, with the environment put in as Kubernetes does.
func (r rendered) arguments(t *testing.T) []string {
	t.Helper()
	for _, o := range r.objects {
		if o.GetKind() != "Deployment" && o.GetKind() != "DaemonSet" || !strings.HasSuffix(o.GetName(), "-controller") {
			continue
		}
		args, _, err := unstructured.NestedStringSlice(container(t, o), "args")
		if err != nil {
			t.Fatal(err)
		}
		for i := range args {
			args[i] = strings.NewReplacer("$(POD_NAMESPACE)", namespace, "$(POD_NAME)", "fairway-0").Replace(args[i])
		}
		return args
	}
	t.Fatal("there is no controller")
	return nil
}

// TestControllerTakesTheArguments gives the arguments of every values file to the real program, which judges them before it prints its
// version. That it would refuse others is shown with one that is wrong.
func TestControllerTakesTheArguments(t *testing.T) {
	fairway, secrets := program(t, t.TempDir()), mountSecrets(t)
	for name, v := range valuesFiles(t) {
		args := mustRender(t, release, v).arguments(t)
		for i := range args {
			args[i] = secrets.Replace(args[i])
		}
		if out, err := exec.Command(fairway, append(args, "--version")...).CombinedOutput(); err != nil {
			t.Errorf("%s: %q: %v: %s", name, args, err, out)
		}
		wrong := append(args, "--watch-namespace-selector=a=b", "--watch-namespace=c", "--version")
		if out, err := exec.Command(fairway, wrong...).CombinedOutput(); err == nil {
			t.Errorf("%s: %q are taken: %s", name, wrong, out)
		}
	}
}

// TestArguments says which value makes which argument.
func TestArguments(t *testing.T) {
	for _, c := range []struct{ values, want string }{
		{"", "--publish-service=fairway-system/fairway-controller"},
		{"", "--election-id=fairway-leader"},
		{"", "--controller-class=k8s.io/ingress-nginx"},
		{"", "--ingress-class=nginx"},
		{"", "--configmap=fairway-system/fairway-controller"},
		{"", "--validating-webhook=:8443"},
		{"", "--enable-metrics=false"},
		{"controller: {metrics: {enabled: true}}", "--enable-metrics=true"},
		{"controller: {service: {external: {enabled: false}, internal: {enabled: true}}}", "--publish-service=fairway-system/fairway-controller-internal"},
		{"controller: {publishService: {pathOverride: a/b}}", "--publish-service=a/b"},
		{"controller: {configMapNamespace: c}", "--configmap=c/fairway-controller"},
		{"controller: {scope: {enabled: true}}", "--watch-namespace=fairway-system"},
		{"controller: {scope: {enabled: true, namespace: shop}}", "--watch-namespace=shop"},
		{"controller: {scope: {namespaceSelector: a=b}}", "--watch-namespace-selector=a=b"},
		{"controller: {electionTTL: 60s}", "--election-ttl=60s"},
		{"controller: {electionID: mine}", "--election-id=mine"},
		{"controller: {disableLeaderElection: true}", "--disable-leader-election=true"},
		{"controller: {hostNetwork: true, reportNodeInternalIp: true}", "--report-node-internal-ip-address=true"},
		{"controller: {ingressClassByName: true}", "--ingress-class-by-name=true"},
		{"controller: {watchIngressWithoutClass: true}", "--watch-ingress-without-class=true"},
		{"controller: {enableTopologyAwareRouting: true}", "--enable-topology-aware-routing=true"},
		{"controller: {healthCheckPath: /up}", "--health-check-path=/up"},
		{"controller: {maxmindLicenseKey: k}", "--maxmind-license-key=k"},
		{"defaultBackend: {enabled: true}", "--default-backend-service=fairway-system/fairway-defaultbackend"},
		{"tcp: {'22': a/b:22}", "--tcp-services-configmap=fairway-system/fairway-tcp"},
		{"udp: {'53': a/b:53}", "--udp-services-configmap=fairway-system/fairway-udp"},
		{"controller: {tcp: {configMapNamespace: streams}}\ntcp: {'22': a/b:22}", "--tcp-services-configmap=streams/fairway-tcp"},
		{"controller: {extraArgs: {enable-ssl-passthrough: ''}}", "--enable-ssl-passthrough"},
		{"controller: {extraArgs: {deep-inspect: false}}", "--deep-inspect=false"},
		{"controller: {extraArgs: {monitor-max-batch-size: 1000000}}", "--monitor-max-batch-size=1000000"},
		{"controller: {extraArgs: {sync-rate-limit: 0.5}}", "--sync-rate-limit=0.5"},
		{"controller: {customTemplate: {configMapName: t, configMapKey: k}}", "--nginx-template=/etc/nginx/template/nginx.tmpl"},
		{"", "--shutdown-grace-period=10"},
		{"controller: {extraArgs: {shutdown-grace-period: 0}}", "--shutdown-grace-period=0"},
		{"controller: {extraArgs: {shutdown-grace-period: 0}}", "! --shutdown-grace-period=10"},
		{"controller: {ingressClass: ''}", "! --ingress-class"},
		{"controller: {publishService: {enabled: false}}", "! --publish-service"},
		{"controller: {service: {enabled: false}}", "! --publish-service"},
		{"controller: {admissionWebhooks: {enabled: false}}", "! --validating-webhook"},
		{"controller: {reportNodeInternalIp: true}", "! --report-node-internal-ip-address"},
		{"", "! --data-plane"},
		{"kong: {enabled: true}", "--data-plane=kong"},
		{"kong: {enabled: true}", "--ingress-class=kong"},
		{"kong: {enabled: true}", "--controller-class=ingress-controllers.konghq.com/kong"},
		{"kong: {enabled: true}", "--publish-service=fairway-system/fairway-controller"},
		{"kong: {enabled: true, admin: {urls: ['http://localhost:8001']}}", "--publish-service=fairway-system/fairway-controller"},
		{"kong: {enabled: true, admin: {urls: ['http://gateway:8001']}}", "! --publish-service"},
		{"kong: {enabled: true, admin: {service: kong/admin}}", "! --publish-service"},
		{"kong: {enabled: true}", "! --kong-"},
		{"kong: {enabled: true, ingressClass: gateway, controllerValue: a/b}", "--ingress-class=gateway"},
		{"kong: {enabled: true, ingressClass: gateway, controllerValue: a/b}", "--controller-class=a/b"},
		{"kong: {enabled: true, proxyService: kong/proxy}", "--publish-service=kong/proxy"},
		{"kong: {enabled: true, proxyService: kong/proxy}\ncontroller: {publishService: {enabled: false}}", "! --publish-service"},
		{"kong: {enabled: true, admin: {service: kong/admin}}", "--kong-admin-svc=kong/admin"},
		{"kong: {enabled: true, admin: {portNames: [admin, b]}}", "--kong-admin-svc-port-names=admin,b"},
		{"kong: {enabled: true, admin: {urls: [http://a, http://b]}}", "--kong-admin-url=http://b"},
		{"kong: {enabled: true, admin: {tokenSecret: {name: t}}}", "--kong-admin-token-file=/etc/fairway/kong-token/token"},
		{"kong: {enabled: true, admin: {headers: ['A: b']}}", "--kong-admin-header=A: b"},
		{"kong: {enabled: true, admin: {tls: {skipVerify: true}}}", "--kong-admin-tls-skip-verify=true"},
		{"kong: {enabled: true, admin: {tls: {serverName: a.b}}}", "--kong-admin-tls-server-name=a.b"},
		{"kong: {enabled: true, admin: {tls: {caSecret: {name: c}}}}", "--kong-admin-ca-cert-file=/etc/fairway/kong-ca/ca.crt"},
		{"kong: {enabled: true, admin: {tls: {clientSecret: c}}}", "--kong-admin-tls-client-key-file=/etc/fairway/kong-client/tls.key"},
		{"kong: {enabled: true, admin: {concurrency: 20}}", "--kong-admin-concurrency=20"},
		{"kong: {enabled: true, workspace: w}", "--kong-workspace=w"},
		{"kong: {enabled: true, filterTag: t}", "--kong-admin-filter-tag=t"},
		{"kong: {enabled: true, clusterDomain: d}", "--cluster-domain=d"},
		{"kong: {enabled: true, reverseSync: true}", "--enable-reverse-sync=true"},
		{"kong: {enabled: true, drainSupport: false}", "--enable-drain-support=false"},
		{"kong: {enabled: true, skipCACertificates: true}", "--skip-ca-certificates=true"},
		{"kong: {enabled: true, openWithoutPlugin: true}", "--kong-open-without-plugin=true"},
		{"kong: {enabled: true, crossNamespacePlugins: true}", "--kong-cross-namespace-plugins=true"},
		{"{kong: {enabled: true}, tcp: {'22': a/b:22}}", "! --tcp-services-configmap"},
	} {
		args := mustRender(t, release, values(t, c.values)).arguments(t)
		unwanted, negated := strings.CutPrefix(c.want, "! ")
		if negated && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, unwanted) }) || !negated && !slices.Contains(args, c.want) {
			t.Errorf("%q: %s is expected in %q", c.values, c.want, args)
		}
	}
}
