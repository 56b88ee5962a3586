// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
)

// Ref names an object.
type Ref struct {
	Kind      string // "Ingress", "Secret", …
	Namespace string // empty for cluster-wide objects
	Name      string
}

// String gives "Kind namespace/name", or "Kind name" for cluster-wide objects.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Compare orders refs by kind, namespace, name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}

// Problem is something that a person wrote and that could not be honoured.
type Problem struct {
	Object Ref
	// Field is the place in the object, such as "spec.rules[0].http.paths[1]" or "metadata.annotations[…]"; empty means
	// the object as a whole.
	Field string
	// Reason is one CamelCase word of the list below, for machines.
	Reason string
	// Message is one sentence that says what happens now and, where it helps, the remedy.
	Message string
	// Refusal is what the admission webhook answers when it does not let the object in because of this Problem: what is wrong, and the remedy.
	// Empty when the object may be stored.
	Refusal string
}

// Reasons of problems. One list, so that dashboards and docs can name them.
const (
	ReasonUnknownClass         = "UnknownClass"         // ingressClassName names a class nobody has
	ReasonInvalidHost          = "InvalidHost"          // a host that is no DNS name
	ReasonInvalidPath          = "InvalidPath"          // a path that cannot be matched
	ReasonInvalidAnnotation    = "InvalidAnnotation"    // a value that does not parse
	ReasonUnknownAnnotation    = "UnknownAnnotation"    // a key nobody reads
	ReasonForbiddenAnnotation  = "ForbiddenAnnotation"  // the admin's settings do not let it count
	ReasonForbiddenText        = "ForbiddenText"        // --deep-inspect refuses it
	ReasonInvalidSnippet       = "InvalidSnippet"       // raw configuration that nginx refuses
	ReasonMissingConfigMap     = "MissingConfigMap"     // the ConfigMap does not exist
	ReasonUnsupported          = "Unsupported"          // a known key or field that has no effect yet
	ReasonShadowed             = "Shadowed"             // an older object owns the path
	ReasonMissingService       = "MissingService"       // the Service does not exist
	ReasonMissingPort          = "MissingPort"          // the Service has no such port
	ReasonNoEndpoints          = "NoEndpoints"          // nobody is ready to serve
	ReasonInvalidBackend       = "InvalidBackend"       // a backend that is no Service, or a refused ExternalName
	ReasonMissingSecret        = "MissingSecret"        // the Secret does not exist
	ReasonInvalidCertificate   = "InvalidCertificate"   // the Secret is no usable certificate
	ReasonCertificateMismatch  = "CertificateMismatch"  // the certificate is not for the host
	ReasonCertificateExpired   = "CertificateExpired"   // served all the same
	ReasonUnmatchedCanary      = "UnmatchedCanary"      // no route for the canary to share
	ReasonCatchAllDisabled     = "CatchAllDisabled"     // --disable-catch-all refuses the Ingress
	ReasonInvalidSetting       = "InvalidSetting"       // a ConfigMap value that does not parse
	ReasonUnknownSetting       = "UnknownSetting"       // a ConfigMap key nobody reads
	ReasonInvalidListener      = "InvalidListener"      // an entry for a TCP or UDP service that does not parse, or whose port is taken
	ReasonPortUnavailable      = "PortUnavailable"      // a port that this machine does not let be opened
	ReasonUnavailable          = "Unavailable"          // a setting that this machine's nginx cannot obey
	ReasonUnreadableManifest   = "UnreadableManifest"   // a file that does not parse
	ReasonMissingConfiguration = "MissingConfiguration" // a flag names an object that is not there
	ReasonContestedStatus      = "ContestedStatus"      // another controller keeps writing other addresses
	ReasonMissingPlugin        = "MissingPlugin"        // no KongPlugin or KongClusterPlugin of that name may be used
	ReasonInvalidPlugin        = "InvalidPlugin"        // a plugin whose configuration cannot be built
	ReasonInvalidConsumer      = "InvalidConsumer"      // a consumer that nobody can be
	ReasonInvalidCredential    = "InvalidCredential"    // a Secret that is no credential
	ReasonDuplicate            = "Duplicate"            // an older object has the name or key
	ReasonMissingPolicy        = "MissingPolicy"        // there is no KongUpstreamPolicy of that name
	ReasonAmbiguous            = "Ambiguous"            // the data plane decides by itself which of two applies
	ReasonDeprecated           = "Deprecated"           // works, but should be written otherwise
)

// SortProblems sorts in place by object, field, reason, message, and drops duplicates.
func SortProblems(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Object.Compare(b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(problems)
}
