{{- /*
SPDX-FileCopyrightText: The Fairway Authors
SPDX-License-Identifier: Apache-2.0
*/ -}}
{{- /* What the notes say about values that have no effect, one line each. */ -}}
{{- define "fairway.remarks" -}}
{{- $c := .Values.controller -}}
{{- if include "fairway.image.isPredecessors" . }}
* controller.image names an image of ingress-nginx: its name, tag and digest have no effect, its registry does.
{{- end }}
{{- range $path, $why := include "fairway.unused" . | fromYaml }}
{{- $value := dict "at" $.Values }}
{{- range splitList "." $path }}
{{- if kindIs "map" $value.at }}{{ $_ := set $value "at" (get $value.at .) }}{{ else }}{{ $_ := set $value "at" "" }}{{ end }}
{{- end }}
{{- if $value.at }}
* {{ $path }} has no effect: {{ $why }}.
{{- end }}
{{- end }}
{{- $known := include "fairway.known" . | fromYaml }}
{{- range $path, $names := $known }}
{{- $at := ternary $.Values (get $.Values $path) (eq $path "top") }}
{{- range $key, $_ := $at }}
{{- if not (has $key $names) }}
* {{ ternary $key (printf "%s.%s" $path $key) (eq $path "top") }} is not known, and has no effect.
{{- end }}
{{- end }}
{{- end }}
{{- if $c.customTemplate.configMapName }}
* controller.customTemplate must be a template for Fairway (docs/template.md). One for ingress-nginx is refused, and the built-in one stays.
{{- end }}
{{- if .Values.kong.enabled }}
{{- range $path, $why := include "fairway.unused.kong" . | fromYaml }}
{{- $value := dict "at" $.Values }}
{{- range splitList "." $path }}{{ $_ := set $value "at" (get $value.at .) }}{{ end }}
{{- if $value.at }}
* {{ $path }} has no effect with kong.enabled: {{ $why }}.
{{- end }}
{{- end }}
{{- end }}
{{- if and $c.service.internal.enabled (not $c.service.internal.annotations) }}
* controller.service.internal.enabled has no effect without controller.service.internal.annotations.
{{- end }}
{{- if and (ne $c.kind "Deployment") (or $c.autoscaling.enabled $c.keda.enabled) }}
* controller.autoscaling and controller.keda have no effect on a DaemonSet.
{{- end }}
{{- if and (or $c.metrics.serviceMonitor.enabled $c.metrics.prometheusRule.enabled) (not $c.metrics.enabled) }}
* controller.metrics.serviceMonitor and prometheusRule have no effect without controller.metrics.enabled.
{{- end }}
{{- end -}}

{{- /* Values of the predecessor that mean nothing here, and why. */ -}}
{{- define "fairway.unused" -}}
podSecurityPolicy: Kubernetes has no PodSecurityPolicy any more
controller.existingPsp: Kubernetes has no PodSecurityPolicy any more
controller.image.chroot: there is one image; no text of tenants becomes configuration of nginx, which the chroot was to contain
controller.image.digestChroot: there is no such image
controller.enableMimalloc: the image has the allocator of Debian
controller.extraModules: the image has the modules that the controller uses, and their versions must fit nginx
controller.opentelemetry: the image has the modules that the controller uses
controller.admissionWebhooks.patch: the controller makes its certificate itself, so there are no Jobs
controller.admissionWebhooks.createSecretJob: the controller makes its certificate itself, so there are no Jobs
controller.admissionWebhooks.patchWebhookJob: the controller makes its certificate itself, so there are no Jobs
controller.admissionWebhooks.extraEnvs: there are no Jobs
controller.admissionWebhooks.networkPolicyEnabled: there are no Jobs
controller.admissionWebhooks.existingPsp: Kubernetes has no PodSecurityPolicy any more
defaultBackend.existingPsp: Kubernetes has no PodSecurityPolicy any more
{{- end -}}

{{- /* Values that mean nothing where Kong Gateways carry the traffic, and why. */ -}}
{{- define "fairway.unused.kong" -}}
tcp: TCPIngresses say what the gateways send where
udp: UDPIngresses say what the gateways send where
dhParam: the gateways' own configuration has such a setting
controller.addHeaders: a KongClusterPlugin of the plugin response-transformer replaces it
controller.proxySetHeaders: a KongClusterPlugin of the plugin request-transformer replaces it
controller.customTemplate.configMapName: there is no nginx.conf
controller.maxmindLicenseKey: there is no GeoIP
controller.hostPort.enabled: the gateways take the requests
{{- end -}}

{{- /* All names that values may have at the top and in controller; a test compares them with values.yaml. */ -}}
{{- define "fairway.known" -}}
top: [commonLabels, controller, defaultBackend, dhParam, fullnameOverride, global, imagePullSecrets, kong, nameOverride, namespaceOverride, podSecurityPolicy,
  portNamePrefix, rbac, revisionHistoryLimit, serviceAccount, tcp, udp]
controller: [addHeaders, admissionWebhooks, affinity, allowSnippetAnnotations, annotations, autoscaling, autoscalingTemplate, config, configAnnotations,
  configMapNamespace, containerName, containerPort, containerSecurityContext, customTemplate, disableLeaderElection, dnsConfig, dnsPolicy, electionID,
  electionTTL, enableAnnotationValidations, enableMimalloc, enableTopologyAwareRouting, existingPsp, extraArgs, extraContainers, extraEnvs,
  extraInitContainers, extraModules, extraVolumeMounts, extraVolumes, healthCheckHost, healthCheckPath, hostAliases, hostNetwork, hostPort, hostname,
  image, ingressClass, ingressClassByName, ingressClassResource, keda, kind, labels, lifecycle, livenessProbe, maxUnavailable, maxmindLicenseKey,
  metrics, minAvailable, minReadySeconds, name, networkPolicy, nodeSelector, opentelemetry, podAnnotations, podLabels, podSecurityContext,
  priorityClassName, progressDeadlineSeconds, proxySetHeaders, publishService, readinessProbe, replicaCount, reportNodeInternalIp, resizePolicy,
  resources, runtimeClassName, scope, service, shareProcessNamespace, startupProbe, sysctls, tcp, terminationGracePeriodSeconds, tolerations,
  topologySpreadConstraints, udp, unhealthyPodEvictionPolicy, updateStrategy, watchIngressWithoutClass]
{{- end -}}
