// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"encoding/json"
	"fmt"

	netv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// live is an object as the API server has it now.
type live struct {
	metav1.Object
	says netv1.IngressLoadBalancerStatus
	// put writes addresses in place of what it says, unless the object has changed since.
	put func(context.Context, Addresses) error
}

// read gives nil for what is gone, or is of no kind that has addresses.
func (w *Writer) read(ctx context.Context, ref model.Ref) (*live, error) {
	read := w.readResource
	if ref.Kind == "Ingress" {
		read = w.readIngress
	}
	found, err := read(ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	return found, nil
}

func (w *Writer) readIngress(ctx context.Context, ref model.Ref) (*live, error) {
	ingresses := w.options.Client.NetworkingV1().Ingresses(ref.Namespace)
	object, err := ingresses.Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return &live{object, object.Status.LoadBalancer, func(ctx context.Context, addresses Addresses) error {
		object.Status.LoadBalancer.Ingress = addresses
		_, err := ingresses.UpdateStatus(ctx, object, metav1.UpdateOptions{FieldManager: manager})
		return err
	}}, nil
}

func (w *Writer) readResource(ctx context.Context, ref model.Ref) (*live, error) {
	client := resource(w.options.Resources, ref)
	if client == nil {
		return nil, nil
	}
	object, err := client.Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	var typed kongapi.TCPIngress // a UDPIngress has the same status
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"status": object.Object["status"]}, &typed); err != nil {
		return nil, err
	}
	return &live{object, typed.Status.LoadBalancer, func(ctx context.Context, addresses Addresses) error {
		return patchStatus(ctx, client, object, map[string]any{"loadBalancer": map[string]any{"ingress": addresses}})
	}}, nil
}

// resource gives what reads and writes a custom resource; nil for an object that is none.
func resource(client dynamic.Interface, ref model.Ref) dynamic.ResourceInterface {
	kind, known := kongapi.KindNamed(ref.Kind)
	if !known || client == nil {
		return nil
	}
	all := client.Resource(kind.Resource())
	if kind.Cluster {
		return all
	}
	return all.Namespace(ref.Namespace)
}

// patchStatus changes members of the status of an object, unless the object has changed since it was read.
func patchStatus(ctx context.Context, client dynamic.ResourceInterface, object metav1.Object, members map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()}, "status": members})
	if err != nil {
		return err
	}
	_, err = client.Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, "status")
	return err
}
