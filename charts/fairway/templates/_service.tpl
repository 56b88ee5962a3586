{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* A Service for traffic: dict "root" $ "name" NAME "type" TYPE "values" VALUES "labels" LABELS. */ -}}
{{- define "fairway.service" -}}
{{- $root := .root -}}
{{- $s := .values -}}
{{- $type := .type -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "fairway.metadata" (dict "root" $root "name" .name "component" "controller" "labels" .labels "annotations" $s.annotations) | nindent 2 }}
spec:
  {{- include "fairway.serviceFields" (dict "type" $type "values" $s) | nindent 2 }}
  selector:
    {{- include "fairway.selectorLabels" $root | nindent 4 }}
    app.kubernetes.io/component: controller
  ports:
    {{- range $name := list "http" "https" }}
    {{- if index $root.Values.controller.service (printf "enable%s" (title $name)) }}
    - name: {{ $name }}
      port: {{ include "fairway.text" (index $s.ports $name) }}
      targetPort: {{ include "fairway.text" (index $s.targetPorts $name) }}
      protocol: TCP
      {{- if $s.appProtocol }}
      appProtocol: {{ $name }}
      {{- end }}
      {{- include "fairway.nodePort" (dict "type" $type "port" (index ($s.nodePorts | default dict) $name)) | nindent 6 }}
    {{- end }}
    {{- end }}
    {{- range $protocol := ternary (list) (list "tcp" "udp") $root.Values.kong.enabled }}
    {{- range $port, $_ := index $root.Values $protocol }}
    {{- $portName := include "fairway.streamPort" (dict "root" $root "port" $port "protocol" $protocol) }}
    - name: {{ $portName }}
      port: {{ $port }}
      targetPort: {{ $portName }}
      protocol: {{ upper $protocol }}
      {{- $nodePorts := index ($s.nodePorts | default dict) $protocol | default dict }}
      {{- include "fairway.nodePort" (dict "type" $type "port" (index $nodePorts $port)) | nindent 6 }}
    {{- end }}
    {{- end }}
{{- end -}}

{{- define "fairway.nodePort" -}}
{{- if and .port (ne .type "ClusterIP") -}}
nodePort: {{ include "fairway.text" .port }}
{{- end -}}
{{- end -}}
