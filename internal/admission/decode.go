// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	stdjson "encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// asked is an AdmissionReview as it comes, without what nobody reads here, such as the former version of the object.
type asked struct {
	metav1.TypeMeta `json:",inline"`
	Request         *request `json:"request"`
}

// request is what is asked about an object.
type request struct {
	UID         types.UID               `json:"uid"`
	Kind        metav1.GroupVersionKind `json:"kind"`
	SubResource string                  `json:"subResource"`
	Namespace   string                  `json:"namespace"`
	Name        string                  `json:"name"`
	Operation   admissionv1.Operation   `json:"operation"`
	Object      stdjson.RawMessage      `json:"object"`
}

var (
	reviewVersion = admissionv1.SchemeGroupVersion.String()
	ingressKind   = metav1.GroupVersionKind{Group: netv1.GroupName, Version: netv1.SchemeGroupVersion.Version, Kind: "Ingress"}
)

// decode reads an AdmissionReview. What is wrong with the object itself is not known yet.
func decode(body []byte) (*request, error) {
	var review asked
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, fmt.Errorf("the body is no AdmissionReview in JSON: %w", err)
	}
	switch {
	case review.Kind != "AdmissionReview" || review.APIVersion != reviewVersion:
		return nil, fmt.Errorf("the body is a %.40q of the version %.40q, but this webhook takes AdmissionReviews of %s; register it with admissionReviewVersions: [v1]",
			review.Kind, review.APIVersion, reviewVersion)
	case review.Request == nil:
		return nil, errors.New("the AdmissionReview has no request")
	case review.Request.UID == "":
		return nil, errors.New("the request of the AdmissionReview has no uid")
	}
	return review.Request, nil
}

// judged tells whether the request is about an Ingress that is to be stored.
func (r *request) judged() bool {
	return r.SubResource == "" && (r.Operation == admissionv1.Create || r.Operation == admissionv1.Update)
}

// ingress reads the object.
func (r *request) ingress() (*netv1.Ingress, error) {
	if r.Kind != ingressKind {
		return nil, fmt.Errorf("this webhook judges Ingresses of networking.k8s.io/v1, not a %.60q of %.60q; correct the rules of the ValidatingWebhookConfiguration",
			r.Kind.Kind, metav1.GroupVersion{Group: r.Kind.Group, Version: r.Kind.Version}.String())
	}
	if len(r.Object) == 0 || string(r.Object) == "null" {
		return nil, errors.New("the request has no object")
	}
	ing := &netv1.Ingress{}
	if err := json.Unmarshal(r.Object, ing); err != nil {
		return nil, fmt.Errorf("the object is no Ingress: %w", err)
	}
	if ing.Namespace == "" {
		ing.Namespace = r.Namespace
	}
	return ing, nil
}
