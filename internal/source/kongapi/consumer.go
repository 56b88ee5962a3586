// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongapi

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// KongConsumer is somebody who sends requests.
type KongConsumer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Username          string `json:"username,omitempty"`
	CustomID          string `json:"custom_id,omitempty"`
	// Credentials are names of Secrets, ConsumerGroups of KongConsumerGroups in the namespace.
	Credentials    []string `json:"credentials,omitempty"`
	ConsumerGroups []string `json:"consumerGroups,omitempty"`
	Status         Status   `json:"status,omitempty"`
}

// KongConsumerGroup is a set of consumers, for Kong Enterprise.
type KongConsumerGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            Status `json:"status,omitempty"`
}
