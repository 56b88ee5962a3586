{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* What the controller may do. A test compares it with deploy/rbac.yaml, where each rule has its reason, and that with what the controller does. */ -}}

{{- /* What is served and what it refers to, cluster-wide or in the one namespace that is watched. */ -}}
{{- define "fairway.rules.watched" }}
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [get, list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses/status]
  verbs: [update]
- apiGroups: [""]
  resources: [services, secrets, configmaps]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- define "fairway.rules.cluster" }}
{{- include "fairway.rules.watched" . }}
- apiGroups: [networking.k8s.io]
  resources: [ingressclasses]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [nodes]
  verbs: [get]
{{- end }}

{{- /* In the controller's own namespace: the Lease of the leader, and the pods of its like. */ -}}
{{- define "fairway.rules.namespace" }}
{{- if .Values.rbac.scope }}{{ include "fairway.rules.watched" . }}{{ end }}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "fairway.electionID" . }}]
  verbs: [get, update]
{{- end }}
