{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* What several kinds of objects share between controller and default backend. */ -}}

{{- /* HorizontalPodAutoscaler: dict "root" $ "name" NAME "component" COMPONENT "values" .autoscaling "more" metrics. */ -}}
{{- define "fairway.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "fairway.metadata" (dict "root" .root "name" .name "component" .component "annotations" .values.annotations) | nindent 2 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .name }}}
  minReplicas: {{ include "fairway.text" .values.minReplicas }}
  maxReplicas: {{ include "fairway.text" .values.maxReplicas }}
  metrics:
    {{- range $resource, $target := dict "cpu" .values.targetCPUUtilizationPercentage "memory" .values.targetMemoryUtilizationPercentage }}
    {{- if $target }}
    - type: Resource
      resource: {name: {{ $resource }}, target: {type: Utilization, averageUtilization: {{ include "fairway.text" $target }}}}
    {{- end }}
    {{- end }}
    {{- with .more }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .values.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- /* PodDisruptionBudget: dict "root" $ "name" NAME "component" COMPONENT "values" of the component. */ -}}
{{- define "fairway.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "fairway.metadata" (dict "root" .root "name" .name "component" .component "labels" .values.labels "annotations" .values.annotations) | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "fairway.selectorLabels" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  {{- if not (empty .values.maxUnavailable) }}
  maxUnavailable: {{ include "fairway.text" .values.maxUnavailable }}
  {{- else }}
  minAvailable: {{ include "fairway.text" .values.minAvailable }}
  {{- end }}
  {{- with .values.unhealthyPodEvictionPolicy }}
  unhealthyPodEvictionPolicy: {{ . }}
  {{- end }}
{{- end -}}

{{- /* Fields of a Service's spec that are as in the values, left out where they are empty. */ -}}
{{- define "fairway.serviceFields" -}}
{{- $fields := dict "type" .type -}}
{{- range $name := list "clusterIP" "clusterIPs" "externalIPs" "loadBalancerIP" "loadBalancerClass" "loadBalancerSourceRanges" "externalTrafficPolicy" "sessionAffinity" "trafficDistribution" "ipFamilyPolicy" "ipFamilies" -}}
{{- with get $.values $name }}{{ $_ := set $fields $name . }}{{ end -}}
{{- end -}}
{{- with .values.healthCheckNodePort }}{{ $_ := set $fields "healthCheckNodePort" (int64 .) }}{{ end -}}
{{- if and (eq .type "LoadBalancer") (kindIs "bool" .values.allocateLoadBalancerNodePorts) }}{{ $_ := set $fields "allocateLoadBalancerNodePorts" .values.allocateLoadBalancerNodePorts }}{{ end -}}
{{- toYaml $fields -}}
{{- end -}}
