// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairway-ingress/fairway/internal/model"
)

const (
	// mostReasons bounds the reasons in a message; the causes of the status have them all.
	mostReasons = 5
	// Kubernetes cuts a warning after 256 bytes, and all together after 4096.
	mostWarnings, longestWarning = 15, 256
)

// refuse answers that an object may not be stored, and why.
func refuse(message string, details *metav1.StatusDetails) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: message, Details: details,
	}}
}

// answer puts a verdict into the API server's words.
func (v *verdict) answer(name string, warn bool) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{Allowed: true}
	if len(v.Refusals) > 0 {
		response = refuse(refusal(v.Refusals), causes(name, v.Refusals))
	}
	if warn {
		response.Warnings = warnings(v.Warnings)
	}
	return response
}

// refusal names the object, and for each reason the field and the remedy.
func refusal(problems []model.Problem) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s is refused: ", problems[0].Object)
	for i, p := range problems {
		if i == mostReasons {
			fmt.Fprintf(&text, "; and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(p.Field + ": " + cmp.Or(p.Refusal, p.Message))
	}
	return text.String()
}

// causes are the reasons for programs.
func causes(name string, problems []model.Problem) *metav1.StatusDetails {
	details := &metav1.StatusDetails{Name: name, Group: "networking.k8s.io", Kind: "Ingress"}
	for _, p := range problems {
		kind := metav1.CauseTypeFieldValueInvalid
		if p.Reason == model.ReasonShadowed {
			kind = metav1.CauseTypeFieldValueDuplicate
		}
		details.Causes = append(details.Causes, metav1.StatusCause{Type: kind, Field: p.Field, Message: cmp.Or(p.Refusal, p.Message)})
	}
	return details
}

// warnings are what kubectl shows behind "Warning:".
func warnings(problems []model.Problem) []string {
	var list []string
	for i, p := range problems {
		if i == mostWarnings-1 && len(problems) > mostWarnings {
			return append(list, fmt.Sprintf("and %d more problems of this Ingress", len(problems)-i))
		}
		text := p.Message
		if p.Field != "" {
			text = p.Field + ": " + text
		}
		list = append(list, shorten(text))
	}
	return list
}

// shorten cuts a text, with a mark, and makes one line of it.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const mark = "…"
	if len(text) > longestWarning {
		text = strings.ToValidUTF8(text[:longestWarning-len(mark)], "") + mark
	}
	return text
}
