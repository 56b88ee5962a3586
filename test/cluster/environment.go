// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// environment is the container's environment in order: built-in defaults
// first, then envFrom, then env.
func (c *container) environment(ctx context.Context, pod *corev1.Pod) ([]corev1.EnvVar, error) {
	var list []corev1.EnvVar
	index := map[string]int{}
	values := map[string]string{}
	set := func(name, value string) {
		values[name] = value
		if i, ok := index[name]; ok {
			list[i].Value = value
			return
		}
		index[name] = len(list)
		list = append(list, corev1.EnvVar{Name: name, Value: value})
	}
	set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	set("HOME", "/root")
	set("HOSTNAME", pod.Name)
	set("KUBERNETES_SERVICE_HOST", apiServiceIP)
	set("KUBERNETES_SERVICE_PORT", "443")
	set("KUBERNETES_SERVICE_PORT_HTTPS", "443")
	set("KUBERNETES_PORT", "tcp://"+apiServiceIP+":443")
	// What echo servers report; a declared variable of the same name wins.
	set("POD_NAME", pod.Name)
	set("POD_NAMESPACE", pod.Namespace)
	set("NAMESPACE", pod.Namespace)
	set("POD_IP", c.w.ip)
	set("NODE_NAME", pod.Spec.NodeName)
	set("SERVICE_NAME", firstOf(pod.Labels["app.kubernetes.io/name"], pod.Labels["app"], pod.Name))
	var ports []string
	for _, p := range c.spec.Ports {
		ports = append(ports, fmt.Sprintf("%d/%s", p.ContainerPort, strings.ToLower(string(firstOf(p.Protocol, corev1.ProtocolTCP)))))
	}
	set("CLUSTER_PORTS", strings.Join(ports, ","))
	for k, v := range c.image.Env {
		set(k, v)
	}

	for _, from := range c.spec.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = c.w.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			data, err = c.w.secret(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			set(from.Prefix+k, v)
		}
	}
	for _, e := range c.spec.Env {
		if e.ValueFrom == nil {
			set(e.Name, expandVars(e.Value, values))
			continue
		}
		var data map[string]string
		var err error
		switch from := e.ValueFrom; {
		case from.FieldRef != nil:
			set(e.Name, c.w.field(pod, from.FieldRef.FieldPath))
		case from.ResourceFieldRef != nil:
			set(e.Name, c.resource(from.ResourceFieldRef))
		case from.ConfigMapKeyRef != nil:
			if data, err = c.w.configMap(from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Optional); err == nil {
				if v, ok := data[from.ConfigMapKeyRef.Key]; ok {
					set(e.Name, v)
				}
			}
		case from.SecretKeyRef != nil:
			if data, err = c.w.secret(from.SecretKeyRef.Name, from.SecretKeyRef.Optional); err == nil {
				if v, ok := data[from.SecretKeyRef.Key]; ok {
					set(e.Name, v)
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// field resolves a downward API path.
func (w *worker) field(pod *corev1.Pod, path string) string {
	if key, ok := cutIndex(path, "metadata.labels"); ok {
		return pod.Labels[key]
	}
	if key, ok := cutIndex(path, "metadata.annotations"); ok {
		return pod.Annotations[key]
	}
	switch path {
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "status.hostIP", "status.hostIPs":
		return w.node.ip
	case "status.podIP", "status.podIPs":
		return w.ip
	case "metadata.labels":
		return formatMap(pod.Labels)
	case "metadata.annotations":
		return formatMap(pod.Annotations)
	}
	return ""
}

func cutIndex(path, prefix string) (string, bool) {
	key, ok := strings.CutPrefix(path, prefix+"['")
	return strings.TrimSuffix(key, "']"), ok
}

func formatMap(m map[string]string) string {
	var b strings.Builder
	for k, v := range m {
		fmt.Fprintf(&b, "%s=%q\n", k, v)
	}
	return b.String()
}

// resource resolves a resourceFieldRef; without a limit it gives the share of
// this machine that the node would offer.
func (c *container) resource(ref *corev1.ResourceFieldSelector) string {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := c.spec.Resources.Limits
	if kind == "requests" {
		list = c.spec.Resources.Requests
	}
	q, ok := list[corev1.ResourceName(name)]
	if !ok {
		q = c.w.node.object.Status.Allocatable[corev1.ResourceName(name)]
	}
	value, divisor := q.MilliValue(), ref.Divisor.MilliValue()
	if divisor == 0 {
		divisor = 1000
	}
	return strconv.FormatInt((value+divisor-1)/divisor, 10)
}

// expandVars replaces $(NAME) by known variables; $$ stands for one $.
func expandVars(s string, vars map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '$' && i+1 < len(s) {
			if s[i+1] == '$' {
				b.WriteByte('$')
				i++
				continue
			}
			if s[i+1] == '(' {
				if end := strings.IndexByte(s[i:], ')'); end > 0 {
					name := s[i+2 : i+end]
					if v, ok := vars[name]; ok {
						b.WriteString(v)
					} else {
						b.WriteString(s[i : i+end+1])
					}
					i += end
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func firstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
