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
	fairway := program(t, t.TempDir())
	for name, v := range valuesFiles(t) {
		args := mustRender(t, release, v).arguments(t)
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
	} {
		args := mustRender(t, release, values(t, c.values)).arguments(t)
		unwanted, negated := strings.CutPrefix(c.want, "! ")
		if negated && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, unwanted) }) || !negated && !slices.Contains(args, c.want) {
			t.Errorf("%q: %s is expected in %q", c.values, c.want, args)
		}
	}
}
