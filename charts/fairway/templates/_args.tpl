{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* The controller's arguments, one per line. Image and chart know the same flags: docs/flags.md. */ -}}
{{- define "fairway.args" -}}
{{- $c := .Values.controller -}}
{{- $fullname := include "fairway.controller.fullname" . -}}
{{- if .Values.defaultBackend.enabled }}
- --default-backend-service=$(POD_NAMESPACE)/{{ include "fairway.defaultBackend.fullname" . }}
{{- end }}
{{- with include "fairway.publishService" . }}
- --publish-service={{ . }}
{{- end }}
- --election-id={{ include "fairway.electionID" . }}
{{- with $c.electionTTL }}
- --election-ttl={{ . }}
{{- end }}
{{- if $c.disableLeaderElection }}
- --disable-leader-election=true
{{- end }}
- --controller-class={{ include "fairway.class.controller" . }}
{{- with ternary .Values.kong.ingressClass $c.ingressClass .Values.kong.enabled }}
- --ingress-class={{ . }}
{{- end }}
- --configmap={{ default "$(POD_NAMESPACE)" $c.configMapNamespace }}/{{ $fullname }}
{{- range $protocol := ternary (list) (list "tcp" "udp") .Values.kong.enabled }}
{{- if index $.Values $protocol }}
- --{{ $protocol }}-services-configmap={{ default "$(POD_NAMESPACE)" (index $c $protocol).configMapNamespace }}/{{ include "fairway.fullname" $ }}-{{ $protocol }}
{{- end }}
{{- end }}
{{- if $c.scope.enabled }}
- --watch-namespace={{ default "$(POD_NAMESPACE)" $c.scope.namespace }}
{{- else if $c.scope.namespaceSelector }}
- --watch-namespace-selector={{ $c.scope.namespaceSelector }}
{{- end }}
{{- if and $c.reportNodeInternalIp $c.hostNetwork }}
- --report-node-internal-ip-address=true
{{- end }}
{{- include "fairway.args.webhook" . }}
{{- if .Values.kong.enabled }}
{{ include "fairway.args.kong" . }}
{{- else }}
{{- if $c.customTemplate.configMapName }}
- --nginx-template=/etc/nginx/template/nginx.tmpl
{{- end }}
{{- with $c.maxmindLicenseKey }}
- --maxmind-license-key={{ . }}
{{- end }}
{{- end }}
{{- if ne $c.healthCheckPath "/healthz" }}
- --health-check-path={{ $c.healthCheckPath }}
{{- end }}
{{- with $c.healthCheckHost }}
- --healthz-host={{ . }}
{{- end }}
{{- if $c.ingressClassByName }}
- --ingress-class-by-name=true
{{- end }}
{{- if $c.watchIngressWithoutClass }}
- --watch-ingress-without-class=true
{{- end }}
{{- if not $c.enableAnnotationValidations }}
- --enable-annotation-validation=false
{{- end }}
{{- if $c.enableTopologyAwareRouting }}
- --enable-topology-aware-routing=true
{{- end }}
{{- if not $c.metrics.enabled }}
- --enable-metrics=false
{{- else }}
- --enable-metrics=true
{{- end }}
{{- if not (or .Values.kong.enabled (hasKey $c.extraArgs "shutdown-grace-period")) }}
- --shutdown-grace-period=10
{{- end }}
{{- range $key, $value := $c.extraArgs }}
{{- $text := include "fairway.text" $value }}
- {{ printf "--%s%s" $key (ternary "" (printf "=%s" $text) (eq $text "")) | quote }}
{{- end }}
{{- end -}}

{{- define "fairway.args.webhook" -}}
{{- with .Values.controller.admissionWebhooks }}
{{- if .enabled }}
- --validating-webhook=:{{ include "fairway.text" .port }}
{{- if .certManager.enabled }}
- --validating-webhook-certificate={{ .certificate }}
- --validating-webhook-key={{ .key }}
{{- else }}
- --validating-webhook-self-managed=true
- --validating-webhook-service=$(POD_NAMESPACE)/{{ include "fairway.webhook.service" $ }}
- --validating-webhook-secret=$(POD_NAMESPACE)/{{ include "fairway.webhook.fullname" $ }}
- --validating-webhook-configuration={{ include "fairway.webhook.fullname" $ }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* namespace/name of the Service whose addresses Ingresses get; nothing for none. */ -}}
{{- define "fairway.publishService" -}}
{{- $c := .Values.controller -}}
{{- $own := "" -}}
{{- if and .Values.kong.enabled (or .Values.kong.proxyService (include "fairway.kong.apart" .)) }}{{ $own = .Values.kong.proxyService -}}
{{- else if $c.service.enabled }}{{ $own = printf "$(POD_NAMESPACE)/%s%s" (include "fairway.controller.fullname" .) (ternary "" "-internal" $c.service.external.enabled) }}{{ end -}}
{{- if $c.publishService.enabled }}{{ default $own $c.publishService.pathOverride }}{{ end -}}
{{- end -}}

{{- /* "true" if the controller opens a port below 1024. */ -}}
{{- define "fairway.bindsLow" -}}
{{- $args := .Values.controller.extraArgs -}}
{{- $ports := list (index $args "http-port" | default 80) (index $args "https-port" | default 443) -}}
{{- range $port, $_ := .Values.tcp }}{{ $ports = append $ports $port }}{{ end -}}
{{- range $port, $_ := .Values.udp }}{{ $ports = append $ports $port }}{{ end -}}
{{- $low := false -}}
{{- range $ports }}{{ if lt (int .) 1024 }}{{ $low = true }}{{ end }}{{ end -}}
{{- if and $low (not .Values.kong.enabled) }}true{{ end -}}
{{- end -}}
