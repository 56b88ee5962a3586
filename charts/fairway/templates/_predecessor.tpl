{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* Names of the predecessor's templates, which values of its users call. */ -}}
{{- define "ingress-nginx.name" }}{{ include "fairway.name" . }}{{ end -}}
{{- define "ingress-nginx.fullname" }}{{ include "fairway.fullname" . }}{{ end -}}
{{- define "ingress-nginx.namespace" }}{{ include "fairway.namespace" . }}{{ end -}}
{{- define "ingress-nginx.labels" }}{{ include "fairway.labels" . }}{{ end -}}
{{- define "ingress-nginx.selectorLabels" }}{{ include "fairway.selectorLabels" . }}{{ end -}}
{{- define "ingress-nginx.controller.fullname" }}{{ include "fairway.controller.fullname" . }}{{ end -}}
{{- define "ingress-nginx.controller.publishServicePath" }}{{ include "fairway.publishService" . }}{{ end -}}
{{- define "ingress-nginx.controller.electionID" }}{{ include "fairway.electionID" . }}{{ end -}}
{{- define "ingress-nginx.defaultBackend.fullname" }}{{ include "fairway.defaultBackend.fullname" . }}{{ end -}}
{{- define "ingress-nginx.serviceAccountName" }}{{ include "fairway.serviceAccount" . }}{{ end -}}
