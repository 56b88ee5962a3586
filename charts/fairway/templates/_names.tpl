{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* Names, labels and small conversions. */ -}}

{{- /* The application: it keeps the predecessor's name in a release that is named for it, so that such a release can be upgraded in place. */ -}}
{{- define "fairway.name" -}}
{{- $default := ternary "ingress-nginx" "fairway" (contains "ingress-nginx" .Release.Name) -}}
{{- default $default .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairway.fullname" -}}
{{- $name := include "fairway.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "fairway.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairway.controller.fullname" -}}
{{- printf "%s-%s" (include "fairway.fullname" .) .Values.controller.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairway.webhook.fullname" -}}
{{- printf "%s-%s" (include "fairway.fullname" .) (default "admission" .Values.controller.admissionWebhooks.name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairway.webhook.service" -}}
{{- printf "%s-%s" (include "fairway.controller.fullname" .) (default "admission" .Values.controller.admissionWebhooks.name) -}}
{{- end -}}

{{- define "fairway.defaultBackend.fullname" -}}
{{- printf "%s-%s" (include "fairway.fullname" .) .Values.defaultBackend.name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairway.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "fairway.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "fairway.defaultBackend.serviceAccount" -}}
{{- if .Values.defaultBackend.serviceAccount.create -}}
{{- default (printf "%s-backend" (include "fairway.fullname" .)) .Values.defaultBackend.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.defaultBackend.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "fairway.electionID" -}}
{{- default (printf "%s-leader" (include "fairway.fullname" .)) .Values.controller.electionID -}}
{{- end -}}

{{- define "fairway.selectorLabels" -}}
app.kubernetes.io/name: {{ include "fairway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "fairway.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "fairway.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ include "fairway.name" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* metadata of an object: dict "root" $ "name" NAME, and optionally "component", "labels", "annotations", "namespace", "cluster" (without a namespace). */ -}}
{{- define "fairway.metadata" -}}
{{- $labels := include "fairway.labels" .root | fromYaml -}}
{{- with .component }}{{ $_ := set $labels "app.kubernetes.io/component" . }}{{ end -}}
{{- $labels = merge (dict) (.labels | default dict) $labels -}}
name: {{ .name }}
{{- if not .cluster }}
namespace: {{ .namespace | default (include "fairway.namespace" .root) }}
{{- end }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- range $key, $value := . }}
  {{ $key }}: {{ tpl (toString $value) $.root | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{- /* Text of a value: numbers without an exponent. */ -}}
{{- define "fairway.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{ int64 . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{- /* "true" if the image values name the predecessor's image, whose names, tags and digests mean nothing here. */ -}}
{{- define "fairway.image.isPredecessors" -}}
{{- $image := .Values.controller.image -}}
{{- if or (regexMatch "(^|/)ingress-nginx/controller(-chroot)?$" (toString $image.image)) (regexMatch "ingress-nginx.*/controller(-chroot)?$" (toString $image.repository)) (regexMatch "^(controller-)?v[01][.]" (toString $image.tag)) -}}true{{- end -}}
{{- end -}}

{{- define "fairway.controller.image" -}}
{{- $image := .Values.controller.image -}}
{{- if include "fairway.image.isPredecessors" . -}}
{{- $image = dict "image" "fairway-ingress/fairway" "registry" $image.registry -}}
{{- end -}}
{{- include "fairway.image" (dict "root" . "image" $image "tag" .Chart.AppVersion) -}}
{{- end -}}

{{- /* An image: dict "root" $ "image" VALUES "tag" DEFAULT. The predecessor's registry has no image of Fairway. */ -}}
{{- define "fairway.image" -}}
{{- $registry := .image.registry | default .root.Values.global.image.registry -}}
{{- if and (eq (toString $registry) "registry.k8s.io") (hasPrefix "fairway" (toString .image.image)) }}{{ $registry = "" }}{{ end -}}
{{- $path := .image.repository | default (trimPrefix "/" (printf "%s/%s" (toString ($registry | default "")) .image.image)) -}}
{{- printf "%s:%s" $path (toString (.image.tag | default .tag)) -}}
{{- with .image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- /* A container's securityContext: dict "image" VALUES "override" VALUES "bindsLow" whether a port below 1024 is opened. */ -}}
{{- define "fairway.securityContext" -}}
{{- if .override -}}
{{ toYaml .override }}
{{- else -}}
runAsNonRoot: {{ .image.runAsNonRoot }}
runAsUser: {{ include "fairway.text" .image.runAsUser }}
runAsGroup: {{ include "fairway.text" .image.runAsGroup }}
allowPrivilegeEscalation: {{ .image.allowPrivilegeEscalation }}
readOnlyRootFilesystem: {{ .image.readOnlyRootFilesystem }}
capabilities:
  drop: [ALL]
  {{- if .bindsLow }}
  add: [NET_BIND_SERVICE]
  {{- end }}
{{- with .image.seccompProfile }}
seccompProfile:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}
