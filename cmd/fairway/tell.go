// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/fairway-ingress/fairway/internal/controller"
	"github.com/fairway-ingress/fairway/internal/events"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kube"
)

// teller hands what the loop knows to the reporter of Events.
type teller struct {
	reporter *events.Reporter
	settings source.Key
	// Of the loop's goroutine.
	at      time.Time // of the last change that was told
	failure string    // that was told last
}

// tell is told of each round.
func (t *teller) tell(s *controller.State) {
	if s.Change.Reload && s.At != t.at {
		t.at = s.At
		t.reporter.Reloaded(s.Change.Reasons, nil)
	}
	failure := ""
	if s.Err != nil && s.Tried.Reload {
		failure = s.Err.Error()
	}
	if failure != "" && failure != t.failure {
		t.reporter.Reloaded(nil, s.Err)
	}
	t.failure = failure
	round := &events.Round{Problems: s.Problems.All(), Settings: s.Snapshot.ConfigMaps[t.settings]}
	if s.InForce != nil {
		round.Accepted = s.InForce.Accepted
	}
	t.reporter.Report(round)
}

// referTo finds the objects that Problems are about.
func referTo(loop *controller.Loop, objects *kube.Source) func(model.Ref) *corev1.ObjectReference {
	return func(ref model.Ref) *corev1.ObjectReference {
		key := source.Key{Namespace: ref.Namespace, Name: ref.Name}
		snapshot := loop.State().Snapshot
		version, object := "v1", metav1.Object(nil)
		switch ref.Kind {
		case "Ingress":
			version = "networking.k8s.io/v1"
			if i := objects.Latest(key); i != nil {
				object = i
			}
		case "Service":
			object = found(snapshot.Services[key])
		case "EndpointSlice":
			version = "discovery.k8s.io/v1"
			object = found(sliceOf(snapshot, key))
		case "Secret":
			object = found(snapshot.Secrets[key])
		case "ConfigMap":
			object = found(snapshot.ConfigMaps[key])
		default:
			version, object = kongObject(snapshot, ref)
		}
		if object == nil {
			return nil // a file, or what is gone
		}
		return &corev1.ObjectReference{APIVersion: version, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: object.GetUID()}
	}
}

// sliceOf gives the EndpointSlice of that name, or nil. Snapshots have them by their Service, and few Problems are about one.
func sliceOf(snapshot *source.Snapshot, key source.Key) *discoveryv1.EndpointSlice {
	for service, list := range snapshot.EndpointSlices {
		for _, slice := range list {
			if service.Namespace == key.Namespace && slice.Name == key.Name {
				return slice
			}
		}
	}
	return nil
}

// found makes a nil pointer a nil interface.
func found[T any, P interface {
	*T
	metav1.Object
}](object P) metav1.Object {
	if object == nil {
		return nil
	}
	return object
}

// ownReference is our own pod, for Events about it; nil when it is not known.
func ownReference(ctx context.Context, client kubernetes.Interface, pod podName, log *slog.Logger) *corev1.ObjectReference {
	if !pod.known() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, existsPatience)
	defer cancel()
	self, err := client.CoreV1().Pods(pod.namespace).Get(ctx, pod.name, metav1.GetOptions{})
	if err != nil {
		log.Warn("own pod is not readable, so no Events tell of reloads", "object", "Pod "+pod.namespace+"/"+pod.name, "err", err)
		return nil
	}
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: self.Namespace, Name: self.Name, UID: self.UID}
}
