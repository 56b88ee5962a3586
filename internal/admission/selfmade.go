// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/fairway-ingress/fairway/internal/source"
)

// SelfMade is a certificate that Fairway makes itself. It lies in a Secret that all replicas share: whoever comes first creates it, and whoever finds it due
// renews it, so that nobody has to lead. The authority that signed it is written into the ValidatingWebhookConfiguration, and again
// when somebody takes it out. Fields are set before use and not changed afterwards.
type SelfMade struct {
	Client kubernetes.Interface
	// Secret holds the certificate, its key, and the authorities with the key of the newest.
	Secret source.Key
	// Service is by which the API server reaches the webhook: the certificate is for its names.
	Service source.Key
	// Configuration names the ValidatingWebhookConfiguration. Of its webhooks those with Service are told whom to trust.
	Configuration string
	// Lifetime is that of the certificate, which is renewed when a third is left.
	Lifetime time.Duration
	Log      *slog.Logger

	current atomic.Pointer[tls.Certificate]
	told    string // the last error that was logged; Run's own
}

// manager is this program's name for the fields that it writes.
const manager = "fairway"

// Certificate gives the one in force, for tls.Config.
func (s *SelfMade) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c := s.current.Load(); c != nil {
		return c, nil
	}
	return nil, errors.New("there is no certificate yet")
}

func (s *SelfMade) needs() needs {
	name := s.Service.Name + "." + s.Service.Namespace
	return needs{names: []string{name + ".svc", name}, lifetime: s.Lifetime}
}

const (
	// A step that failed is repeated after retryMin, then ever later.
	retryMin = time.Second
	retryMax = time.Minute
	// glance is after how long everything is compared again without a reason.
	glance = 10 * time.Minute
)

// Run keeps certificate, Secret and configuration in step until ctx ends.
func (s *SelfMade) Run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	stop := s.watch(ctx, changed)
	defer stop()
	retry := retryMin
	for ctx.Err() == nil {
		wait, err := s.step(ctx, time.Now())
		if err != nil {
			wait, retry = retry, min(2*retry, retryMax)
		} else {
			retry = retryMin
		}
		s.tell(ctx, err)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// tell logs an error that was not the last already.
func (s *SelfMade) tell(ctx context.Context, err error) {
	switch {
	case err == nil:
		s.told = ""
	case ctx.Err() == nil && err.Error() != s.told:
		s.told = err.Error()
		s.Log.Warn("the webhook's certificate is not settled, this is repeated", "err", err)
	}
}

// watch reports changes of the two objects, and gives what waits for the end of it after ctx has ended.
func (s *SelfMade) watch(ctx context.Context, changed chan<- struct{}) (wait func()) {
	only := func(namespace, name string) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(s.Client, 0, informers.WithNamespace(namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
			}))
	}
	secrets, configurations := only(s.Secret.Namespace, s.Secret.Name), only("", s.Configuration)
	report := func(any) {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: report, DeleteFunc: report, UpdateFunc: func(_, new any) { report(new) }}
	for _, informer := range []cache.SharedIndexInformer{
		secrets.Core().V1().Secrets().Informer(), configurations.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer(),
	} {
		_, _ = informer.AddEventHandler(handler) // fails only for informers that were stopped
	}
	secrets.StartWithContext(ctx)
	configurations.StartWithContext(ctx)
	return func() { secrets.Shutdown(); configurations.Shutdown() }
}

// step does what is due at a time, and says how long nothing else will be. The certificate is used only after the API server was told
// whom to trust.
func (s *SelfMade) step(ctx context.Context, now time.Time) (wait time.Duration, err error) {
	c, err := s.settle(ctx, now)
	if err != nil {
		return 0, err
	}
	trust := s.configure(ctx, c.data[authoritiesKey])
	if old := s.current.Load(); old == nil || !sameChain(old, &c.pair) {
		if trust != nil && old != nil && now.Before(old.Leaf.NotAfter) {
			return 0, trust // the old one does until the API server knows
		}
		s.current.Store(&c.pair)
		s.Log.Info("the webhook has a certificate", "object", "Secret "+s.Secret.String(), "until", c.pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return min(max(c.dueAt(s.needs()).Sub(now), retryMin), glance), trust
}

// settle gives the credentials of the Secret, made or renewed where need be. Of several replicas one succeeds, and the others take what it wrote.
func (s *SelfMade) settle(ctx context.Context, now time.Time) (*credentials, error) {
	secrets := s.Client.CoreV1().Secrets(s.Secret.Namespace)
	for range 5 {
		secret, err := secrets.Get(ctx, s.Secret.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			secret = nil
		case err != nil:
			return nil, fmt.Errorf("get Secret %s: %w", s.Secret, err)
		}
		c, data, err := s.due(secret, now)
		if err != nil || data == nil {
			return c, err
		}
		if err := s.write(ctx, secret, data); err != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("write Secret %s: %w", s.Secret, err)
		}
		// Read it again: it may be another replica's.
	}
	return nil, fmt.Errorf("write Secret %s: others do so all the time", s.Secret)
}

// due gives what a Secret, nil for none, holds and what should be written; nil for nothing.
func (s *SelfMade) due(secret *corev1.Secret, now time.Time) (c *credentials, data map[string][]byte, err error) {
	if secret != nil {
		if c, err = parseCredentials(secret.Data); err == nil {
			data, err = c.renewed(s.needs(), now)
			return c, data, err
		}
		s.Log.Warn("the webhook's Secret has no credentials, new ones are written", "object", "Secret "+s.Secret.String(), "err", err)
	}
	data, err = newCredentials(s.needs(), now)
	return nil, data, err
}

// write creates the Secret, or puts data into the version that was read. Other keys stay.
func (s *SelfMade) write(ctx context.Context, old *corev1.Secret, data map[string][]byte) error {
	secrets := s.Client.CoreV1().Secrets(s.Secret.Namespace)
	if old == nil {
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: s.Secret.Name, Labels: map[string]string{"app.kubernetes.io/managed-by": manager}},
			Type:       corev1.SecretTypeOpaque, Data: data,
		}, metav1.CreateOptions{FieldManager: manager})
		return err
	}
	secret := old.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range data {
		secret.Data[key] = value
	}
	_, err := secrets.Update(ctx, secret, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// configure writes the authorities into the webhooks of our Service, where they are not there.
func (s *SelfMade) configure(ctx context.Context, authorities []byte) error {
	configurations := s.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	configuration, err := configurations.Get(ctx, s.Configuration, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get ValidatingWebhookConfiguration %s: %w", s.Configuration, err)
	}
	type clientConfig struct {
		CABundle []byte `json:"caBundle"`
	}
	type webhook struct {
		Name         string       `json:"name"`
		ClientConfig clientConfig `json:"clientConfig"`
	}
	var ours int
	var patch struct {
		Webhooks []webhook `json:"webhooks"`
	}
	for _, w := range configuration.Webhooks {
		if !s.leadsHere(w.ClientConfig) {
			continue
		}
		ours++
		if !bytes.Equal(w.ClientConfig.CABundle, authorities) {
			patch.Webhooks = append(patch.Webhooks, webhook{w.Name, clientConfig{authorities}})
		}
	}
	if ours == 0 {
		return fmt.Errorf("ValidatingWebhookConfiguration %s has no webhook with the Service %s; correct it, or the flag --validating-webhook-service",
			s.Configuration, s.Service)
	}
	if len(patch.Webhooks) == 0 {
		return nil
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	if _, err := configurations.Patch(ctx, s.Configuration, types.StrategicMergePatchType, text, metav1.PatchOptions{FieldManager: manager}); err != nil {
		return fmt.Errorf("patch ValidatingWebhookConfiguration %s: %w", s.Configuration, err)
	}
	s.Log.Info("the API server is told to trust the webhook", "object", "ValidatingWebhookConfiguration "+s.Configuration)
	return nil
}

func (s *SelfMade) leadsHere(c admissionregv1.WebhookClientConfig) bool {
	return c.Service != nil && c.Service.Namespace == s.Service.Namespace && c.Service.Name == s.Service.Name
}
