// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KongPlugin is a plugin and its configuration. A KongClusterPlugin has the same fields and no namespace. There is no spec.
type KongPlugin struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Plugin            string `json:"plugin,omitempty"`
	// Config is an object; ConfigFrom takes it whole from a Secret, ConfigPatches adds to it from Secrets.
	Config        json.RawMessage `json:"config,omitempty"`
	ConfigFrom    *ConfigFrom     `json:"configFrom,omitempty"`
	ConfigPatches []ConfigPatch   `json:"configPatches,omitempty"`
	Disabled      bool            `json:"disabled,omitempty"`
	Protocols     []string        `json:"protocols,omitempty"`
	InstanceName  string          `json:"instance_name,omitempty"`
	Ordering      json.RawMessage `json:"ordering,omitempty"`
	RunOn         string          `json:"run_on,omitempty"`
	ConsumerRef   string          `json:"consumerRef,omitempty"`
	Status        Status          `json:"status,omitempty"`
}

// ConfigFrom names where a configuration stands.
type ConfigFrom struct {
	SecretKeyRef SecretKeyRef `json:"secretKeyRef"`
}

// ConfigPatch adds the value of a Secret at a JSON pointer.
type ConfigPatch struct {
	Path      string     `json:"path"`
	ValueFrom ConfigFrom `json:"valueFrom"`
}

// SecretKeyRef names a key of a Secret. The namespace is for KongClusterPlugins.
type SecretKeyRef struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Key       string `json:"key"`
}

// Status of an object: its conditions.
type Status struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
