// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
)

// secretWatches gives the informers of Secrets: one per namespace to be watched, and one for each Secret that a flag names and those leave out.
func (s *Source) secretWatches() []watch {
	namespaces := s.options.SecretNamespaces
	if len(namespaces) == 0 {
		namespaces = []string{s.options.Namespace}
	}
	put := s.putSecret
	if s.options.SecretSelector != nil {
		put = s.putSelected
	}
	var list []watch
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(s.options.Client, s.options.Resync, informers.WithNamespace(namespace),
			informers.WithTweakListOptions(func(o *metav1.ListOptions) {
				if s.options.SecretSelector != nil {
					o.LabelSelector = s.options.SecretSelector.String()
				}
			}))
		list = append(list, add(s, factory.Core().V1().Secrets().Informer(), s.keepSecret, sameSecret, put))
	}
	for _, key := range s.options.Secrets {
		if s.options.SecretSelector != nil || !s.watchesSecretsIn(key.Namespace) {
			list = append(list, add(s, s.single(key).Core().V1().Secrets().Informer(), s.keepSecret, sameSecret, s.putSecret))
		}
	}
	return list
}

// watchesSecretsIn tells whether Secrets of a namespace are watched as a whole.
func (s *Source) watchesSecretsIn(namespace string) bool {
	if list := s.options.SecretNamespaces; len(list) > 0 {
		return slices.Contains(list, namespace)
	}
	return s.options.Namespace == "" || s.options.Namespace == namespace
}

// selects tells whether a Secret is one of those to be watched.
func (s *Source) selects(secret *corev1.Secret) bool {
	return s.options.SecretSelector == nil || s.options.SecretSelector.Matches(labels.Set(secret.Labels))
}

// putSelected leaves Secrets that flags name to their own informers: that they lose a label means nothing.
func (s *Source) putSelected(old, new *corev1.Secret) {
	some := new
	if some == nil {
		some = old
	}
	if !slices.Contains(s.options.Secrets, keyOf(some)) {
		s.putSecret(old, new)
	}
}
