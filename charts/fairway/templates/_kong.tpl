{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* Kong Gateways as data plane: see docs/kong.md. Nothing of this is rendered without kong.enabled. */ -}}

{{- /* "true" if the gateways have pods of their own; else there is one in each pod of the controller. */ -}}
{{- define "fairway.kong.apart" -}}
{{- $apart := .Values.kong.admin.service -}}
{{- range .Values.kong.admin.urls }}{{ if not (regexMatch "^https?://(localhost|127[.]|\\[::1\\])" .) }}{{ $apart = . }}{{ end }}{{ end -}}
{{- if and .Values.kong.enabled $apart }}true{{ end -}}
{{- end -}}

{{- /* Arguments, one per line. */ -}}
{{- define "fairway.args.kong" -}}
{{- $k := .Values.kong -}}
{{- $a := $k.admin -}}
- --data-plane=kong
{{- with $a.service }}
- --kong-admin-svc={{ . }}
{{- end }}
{{- with $a.portNames }}
- --kong-admin-svc-port-names={{ join "," . }}
{{- end }}
{{- range $a.urls }}
- --kong-admin-url={{ . }}
{{- end }}
{{- if $a.tokenSecret.name }}
- --kong-admin-token-file=/etc/fairway/kong-token/{{ $a.tokenSecret.key }}
{{- end }}
{{- range $a.headers }}
- {{ printf "--kong-admin-header=%s" . | quote }}
{{- end }}
{{- if $a.tls.skipVerify }}
- --kong-admin-tls-skip-verify=true
{{- end }}
{{- with $a.tls.serverName }}
- --kong-admin-tls-server-name={{ . }}
{{- end }}
{{- if $a.tls.caSecret.name }}
- --kong-admin-ca-cert-file=/etc/fairway/kong-ca/{{ $a.tls.caSecret.key }}
{{- end }}
{{- if $a.tls.clientSecret }}
- --kong-admin-tls-client-cert-file=/etc/fairway/kong-client/tls.crt
- --kong-admin-tls-client-key-file=/etc/fairway/kong-client/tls.key
{{- end }}
{{- with $a.concurrency }}
- --kong-admin-concurrency={{ include "fairway.text" . }}
{{- end }}
{{- with $k.workspace }}
- --kong-workspace={{ . }}
{{- end }}
{{- with $k.filterTag }}
- --kong-admin-filter-tag={{ . }}
{{- end }}
{{- with $k.clusterDomain }}
- --cluster-domain={{ . }}
{{- end }}
{{- if $k.reverseSync }}
- --enable-reverse-sync=true
{{- end }}
{{- if not $k.drainSupport }}
- --enable-drain-support=false
{{- end }}
{{- if $k.skipCACertificates }}
- --skip-ca-certificates=true
{{- end }}
{{- if $k.openWithoutPlugin }}
- --kong-open-without-plugin=true
{{- end }}
{{- if $k.crossNamespacePlugins }}
- --kong-cross-namespace-plugins=true
{{- end }}
{{- end -}}

{{- /* The Secrets by which the Admin API is reached: a list of name, secret and mode for both volumes and mounts. */ -}}
{{- define "fairway.kong.secrets" -}}
{{- $a := .Values.kong.admin -}}
{{- if .Values.kong.enabled }}
{{- with $a.tokenSecret.name }}
kong-token: {{ . }}
{{- end }}
{{- with $a.tls.caSecret.name }}
kong-ca: {{ . }}
{{- end }}
{{- with $a.tls.clientSecret }}
kong-client: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fairway.kong.volumes" -}}
{{- range $name, $secret := include "fairway.kong.secrets" . | fromYaml }}
- name: {{ $name }}
  secret: {secretName: {{ $secret }}}
{{- end }}
{{- end -}}

{{- define "fairway.kong.mounts" -}}
{{- range $name, $_ := include "fairway.kong.secrets" . | fromYaml }}
- {name: {{ $name }}, mountPath: /etc/fairway/{{ $name }}, readOnly: true}
{{- end }}
{{- end -}}

{{- /* The class: its name, and what spec.controller of the IngressClass says. */ -}}
{{- define "fairway.class.name" -}}
{{- ternary .Values.kong.ingressClass .Values.controller.ingressClassResource.name .Values.kong.enabled -}}
{{- end -}}

{{- define "fairway.class.controller" -}}
{{- ternary .Values.kong.controllerValue .Values.controller.ingressClassResource.controllerValue .Values.kong.enabled -}}
{{- end -}}

{{- /* Webhooks for what Kong alone has, behind that of Ingresses: dict "root" $ "config" the rest of a webhook. */ -}}
{{- define "fairway.kong.webhooks" -}}
{{- $w := .root.Values.controller.admissionWebhooks }}
- name: objects.validate.konghq.com
  matchPolicy: Equivalent
  rules:
    - apiGroups: [configuration.konghq.com]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources:
        - kongplugins
        - kongclusterplugins
        - kongconsumers
        - kongconsumergroups
        - kongupstreampolicies
        - kongingresses
        - tcpingresses
        - udpingresses
  {{- .config | nindent 2 }}
  {{- with $w.objectSelector }}
  objectSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
# Secrets with the labels of credentials, and of configurations of plugins.
- name: credentials.validate.konghq.com
  {{- include "fairway.kong.secretRules" . | nindent 2 }}
  {{- .config | nindent 2 }}
  objectSelector:
    matchExpressions: [{key: konghq.com/credential, operator: Exists}]
- name: configurations.validate.konghq.com
  {{- include "fairway.kong.secretRules" . | nindent 2 }}
  {{- .config | nindent 2 }}
  objectSelector:
    matchLabels: {konghq.com/validate: plugin}
{{- end -}}

{{- define "fairway.kong.secretRules" -}}
matchPolicy: Equivalent
rules:
  - apiGroups: [""]
    apiVersions: [v1]
    operations: [CREATE, UPDATE]
    resources: [secrets]
{{- end -}}
