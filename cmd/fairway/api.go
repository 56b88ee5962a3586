// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kube"
)

// apiFlags say how to reach the API server.
type apiFlags struct {
	secretFlags
	host, authority, kubeconfig string
	resync                      time.Duration
	kong                        *kube.KongOptions // nil unless the data plane is Kong
}

func (f *apiFlags) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringVar(&f.host, "apiserver-host", "", "address of the API server, protocol://host:port; empty for --kubeconfig or the pod's own account")
	flags.StringVar(&f.authority, "certificate-authority", "", "CA file for --apiserver-host")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file to use instead of the pod's own account")
	flags.DurationVar(&f.resync, "sync-period", 0, "interval at which all objects are looked at again; 0 never")
	f.secretFlags.add(flags)
	return flags
}

// config gives what client-go needs to reach the API server.
func (f *apiFlags) config() (*rest.Config, error) {
	overrides := &clientcmd.ConfigOverrides{}
	if f.host != "" {
		if f.authority != "" {
			if _, err := os.ReadFile(f.authority); err != nil {
				return nil, fmt.Errorf("--certificate-authority must name a readable PEM file: %w", err)
			}
		}
		overrides.ClusterInfo = clientcmdapi.Cluster{Server: f.host, CertificateAuthority: f.authority}
	}
	var config *rest.Config
	var err error
	if f.host == "" && f.kubeconfig == "" {
		config, err = rest.InClusterConfig()
	} else {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	}
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w; run in a pod, or give --kubeconfig, --apiserver-host or --manifests", err)
	}
	config.QPS, config.Burst = 50, 100
	config.UserAgent = "fairway/" + buildVersion()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return config, nil
}

func (f *apiFlags) source(ctx context.Context, log *slog.Logger, options *ingress.Options, published source.Key) (controller.Source, error) {
	config, err := f.config()
	if err != nil {
		return nil, err
	}
	config.Wrap(kube.Patience(log))
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	if err := mustExist(ctx, client, *options, published, log); err != nil {
		return nil, err
	}
	if options.TopologyAware {
		if options.Zone, err = ownZone(ctx, client); err != nil {
			log.Warn("zone of the own node is not known, so hints of zones are not used", "err", err)
		}
	}
	options.SecretsLimit = f.limit()
	given := *options
	secrets, configMaps := namedBySettings(ctx, client, given)
	return kube.New(kube.Options{
		Client: client, Log: log, Namespace: options.WatchNamespace, Namespaces: options.NamespaceSelector != nil, Resync: f.resync,
		References:          func(i *netv1.Ingress) (secrets, configMaps []source.Key) { return ingress.References(given, i) },
		ConfigMapReferences: func(c *corev1.ConfigMap) (_, _ []source.Key) { return ingress.SettingsReferences(given, c) },
		Secrets:             append(named(options.DefaultCertificate), secrets...),
		ConfigMaps:          slices.Concat(named(options.ConfigMap), named(options.TCPServices), named(options.UDPServices), configMaps),
		Services:            named(published), SecretNamespaces: f.secretNamespaces, SecretSelector: f.secretSelector.Selector, Kong: f.kong,
	}), nil
}

func named(key source.Key) []source.Key {
	if key.Name == "" {
		return nil
	}
	return []source.Key{key}
}

// namedBySettings gives the Secrets and ConfigMaps that the settings name at the start, so that they are there from the first round on. What cannot be read now is
// followed later.
func namedBySettings(ctx context.Context, client kubernetes.Interface, options ingress.Options) (secrets, configMaps []source.Key) {
	if options.ConfigMap.Name == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, existsPatience)
	defer cancel()
	object, err := client.CoreV1().ConfigMaps(options.ConfigMap.Namespace).Get(ctx, options.ConfigMap.Name, metav1.GetOptions{})
	if err != nil {
		return nil, nil
	}
	return ingress.SettingsReferences(options, object)
}

// existsPatience is how long the start waits for the API server to say whether what flags name is there.
const existsPatience = 5 * time.Second

// mustExist refuses flags that name an object that is not there: it is a typing error more often than something still to come. While
// nobody can tell, the start goes on.
func mustExist(ctx context.Context, client kubernetes.Interface, options ingress.Options, published source.Key, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, existsPatience)
	defer cancel()
	verdict := func(flag, what string, err error) error {
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("--%s names the %s, which does not exist: create it, or correct the flag", flag, what)
		}
		if err != nil {
			log.Warn("what a flag names can't be looked up", "flag", "--"+flag, "err", err)
		}
		return nil
	}
	if name := options.WatchNamespace; name != "" {
		_, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err := verdict("watch-namespace", "namespace "+name, err); err != nil {
			return err
		}
	}
	for flag, key := range map[string]source.Key{"default-backend-service": options.DefaultBackend, "publish-service": published} {
		if key.Name == "" {
			continue
		}
		_, err := client.CoreV1().Services(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
		if err := verdict(flag, "Service "+key.String(), err); err != nil {
			return err
		}
	}
	return nil
}

// ownZone is the zone of the node that this pod runs on.
func ownZone(ctx context.Context, client kubernetes.Interface) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if os.Getenv("POD_NAME") == "" || os.Getenv("POD_NAMESPACE") == "" {
		return "", errors.New("POD_NAME and POD_NAMESPACE are not set: give them by the downward API")
	}
	pod, err := client.CoreV1().Pods(os.Getenv("POD_NAMESPACE")).Get(ctx, os.Getenv("POD_NAME"), metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read own pod: %w", err)
	}
	node, err := client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read own node: %w", err)
	}
	return node.Labels[corev1.LabelTopologyZone], nil
}
