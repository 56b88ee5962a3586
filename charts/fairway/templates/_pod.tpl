{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* The pod of the controller, for Deployment and DaemonSet. */ -}}
{{- define "fairway.pod" -}}
{{- $c := .Values.controller -}}
metadata:
  labels:
    {{- include "fairway.podLabels" (dict "root" . "component" "controller" "labels" $c.podLabels) | nindent 4 }}
  {{- with $c.podAnnotations }}
  annotations:
    {{- range $key, $value := . }}
    {{ $key }}: {{ toString $value | quote }}
    {{- end }}
  {{- end }}
spec:
  serviceAccountName: {{ include "fairway.serviceAccount" . }}
  automountServiceAccountToken: {{ .Values.serviceAccount.automountServiceAccountToken }}
  terminationGracePeriodSeconds: {{ include "fairway.text" $c.terminationGracePeriodSeconds }}
  dnsPolicy: {{ $c.dnsPolicy }}
  {{- if $c.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- if $c.shareProcessNamespace }}
  shareProcessNamespace: true
  {{- end }}
  {{- include "fairway.podFields" (dict "dnsConfig" $c.dnsConfig "hostAliases" $c.hostAliases "imagePullSecrets" .Values.imagePullSecrets
      "priorityClassName" $c.priorityClassName "runtimeClassName" $c.runtimeClassName "nodeSelector" $c.nodeSelector "tolerations" $c.tolerations) | nindent 2 }}
  {{- with $c.hostname }}
  hostname: {{ toYaml . | nindent 4 | trim }}
  {{- end }}
  {{- with $c.affinity }}
  affinity:
    {{- tpl (toYaml .) $ | nindent 4 }}
  {{- end }}
  {{- with $c.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- tpl (toYaml .) $ | nindent 4 }}
  {{- end }}
  {{- if or $c.podSecurityContext $c.sysctls }}
  securityContext:
    {{- with $c.podSecurityContext }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with $c.sysctls }}
    sysctls:
      {{- range $name, $value := . }}
      - name: {{ $name }}
        value: {{ include "fairway.text" $value | quote }}
      {{- end }}
    {{- end }}
  {{- end }}
  {{- with $c.extraInitContainers }}
  initContainers:
    {{- tpl (toYaml .) $ | nindent 4 }}
  {{- end }}
  containers:
    - {{- include "fairway.container" . | nindent 6 }}
    {{- with $c.extraContainers }}
    {{- tpl (toYaml .) $ | nindent 4 }}
    {{- end }}
  volumes:
    # nginx.conf, sockets and bodies of requests that are larger than a buffer.
    - name: run
      emptyDir: {}
    - name: tmp
      emptyDir: {}
    {{- include "fairway.webhook.volumes" . | nindent 4 }}
    {{- include "fairway.kong.volumes" . | nindent 4 }}
    {{- if include "fairway.downloads" . }}
    - name: geoip
      emptyDir: {}
    {{- end }}
    {{- with ternary "" $c.customTemplate.configMapName .Values.kong.enabled }}
    - name: nginx-template
      configMap:
        name: {{ . }}
        items:
          - {key: {{ $c.customTemplate.configMapKey }}, path: nginx.tmpl}
    {{- end }}
    {{- with $c.extraVolumes }}
    {{- tpl (toYaml .) $ | nindent 4 }}
    {{- end }}
{{- end -}}

{{- define "fairway.container" -}}
{{- $c := .Values.controller -}}
name: {{ $c.containerName }}
image: {{ include "fairway.controller.image" . }}
imagePullPolicy: {{ $c.image.pullPolicy }}
args:
  {{- include "fairway.args" . | trim | nindent 2 }}
env:
  - name: POD_NAME
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  - name: POD_NAMESPACE
    valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
  {{- with $c.extraEnvs }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with include "fairway.containerPorts" . | trim }}
ports:
  {{- . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "fairway.securityContext" (dict "image" $c.image "override" $c.containerSecurityContext "bindsLow" (include "fairway.bindsLow" .)) | nindent 2 }}
{{- range $probe := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- with index $c $probe }}
{{ $probe }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $c.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $c.resizePolicy }}
resizePolicy:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - {name: run, mountPath: /run/fairway}
  - {name: tmp, mountPath: /tmp}
  {{- include "fairway.webhook.mounts" . | nindent 2 }}
  {{- include "fairway.kong.mounts" . | nindent 2 }}
  {{- if include "fairway.downloads" . }}
  - {name: geoip, mountPath: {{ index $c.extraArgs "geoip2-dir" | default "/etc/ingress-controller/geoip" }}}
  {{- end }}
  {{- if and $c.customTemplate.configMapName (not .Values.kong.enabled) }}
  - {name: nginx-template, mountPath: /etc/nginx/template, readOnly: true}
  {{- end }}
  {{- with $c.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "fairway.containerPorts" -}}
{{- $c := .Values.controller -}}
{{- range $name, $port := ternary (dict) $c.containerPort .Values.kong.enabled }}
- name: {{ $name }}
  containerPort: {{ include "fairway.text" $port }}
  protocol: TCP
  {{- if $c.hostPort.enabled }}
  hostPort: {{ include "fairway.text" (default $port (index $c.hostPort.ports $name)) }}
  {{- end }}
{{- end }}
{{- if $c.metrics.enabled }}
- name: {{ $c.metrics.portName }}
  containerPort: {{ include "fairway.text" $c.metrics.port }}
  protocol: TCP
{{- end }}
{{- if $c.admissionWebhooks.enabled }}
- name: webhook
  containerPort: {{ include "fairway.text" $c.admissionWebhooks.port }}
  protocol: TCP
{{- end }}
{{- range $protocol := ternary (list) (list "tcp" "udp") .Values.kong.enabled }}
{{- range $port, $_ := index $.Values $protocol }}
- name: {{ include "fairway.streamPort" (dict "root" $ "port" $port "protocol" $protocol) }}
  containerPort: {{ $port }}
  protocol: {{ upper $protocol }}
  {{- if $c.hostPort.enabled }}
  hostPort: {{ $port }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Name of the port of a TCP or UDP service: dict "root" $ "port" PORT "protocol" tcp or udp. */ -}}
{{- define "fairway.streamPort" -}}
{{- with .root.Values.portNamePrefix }}{{ . }}-{{ end }}{{ .port }}-{{ .protocol }}
{{- end -}}

{{- define "fairway.podLabels" -}}
{{- $labels := include "fairway.labels" .root | fromYaml -}}
{{- $_ := set $labels "app.kubernetes.io/component" .component -}}
{{- toYaml (merge (dict) (.labels | default dict) $labels) -}}
{{- end -}}

{{- /* Fields of a pod's spec that are as in the values, left out where empty. */ -}}
{{- define "fairway.podFields" -}}
{{- $fields := dict -}}
{{- range $name, $value := . }}{{ if $value }}{{ $_ := set $fields $name $value }}{{ end }}{{ end -}}
{{- if $fields }}{{ toYaml $fields }}{{ end -}}
{{- end -}}

{{- define "fairway.webhook.volumes" -}}
{{- $w := .Values.controller.admissionWebhooks }}
{{- if and $w.enabled $w.certManager.enabled }}
- name: webhook-cert
  secret:
    secretName: {{ include "fairway.webhook.fullname" . }}
    items:
      - {key: tls.crt, path: {{ base $w.certificate }}}
      - {key: tls.key, path: {{ base $w.key }}}
{{- end }}
{{- end -}}

{{- define "fairway.webhook.mounts" -}}
{{- $w := .Values.controller.admissionWebhooks }}
{{- if and $w.enabled $w.certManager.enabled }}
- {name: webhook-cert, mountPath: {{ dir $w.certificate }}, readOnly: true}
{{- end }}
{{- end -}}

{{- /* "true" if the controller downloads databases for GeoIP, into a folder that nobody else mounts. */ -}}
{{- define "fairway.downloads" -}}
{{- $c := .Values.controller -}}
{{- $dir := index $c.extraArgs "geoip2-dir" | default "/etc/ingress-controller/geoip" -}}
{{- $mounted := false -}}
{{- range $c.extraVolumeMounts }}{{ if eq .mountPath $dir }}{{ $mounted = true }}{{ end }}{{ end -}}
{{- if and (or $c.maxmindLicenseKey (index $c.extraArgs "maxmind-license-key") (index $c.extraArgs "maxmind-mirror")) (not $mounted) (not .Values.kong.enabled) }}true{{ end -}}
{{- end -}}
