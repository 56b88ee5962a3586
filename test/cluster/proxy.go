// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"os/exec"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// proxier plays kube-proxy: it rewrites one nftables table of the cluster
// namespace whenever Services or EndpointSlices change.
type proxier struct {
	r        *runner
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	pods     corelisters.PodLister
	dirty    chan struct{}
	last     string
}

func newProxier(r *runner) *proxier {
	return &proxier{r: r, dirty: make(chan struct{}, 1),
		services: r.factory.Core().V1().Services().Lister(),
		slices:   r.factory.Discovery().V1().EndpointSlices().Lister(),
		pods:     r.factory.Core().V1().Pods().Lister()}
}

func (p *proxier) watch(ctx context.Context) {
	touch := func(any) {
		select {
		case p.dirty <- struct{}{}:
		default:
		}
	}
	h := cache.ResourceEventHandlerFuncs{AddFunc: touch, DeleteFunc: touch, UpdateFunc: func(_, o any) { touch(o) }}
	p.r.factory.Core().V1().Services().Informer().AddEventHandler(h)
	p.r.factory.Discovery().V1().EndpointSlices().Informer().AddEventHandler(h)
	hostPorts := func(o any) {
		if pod, ok := o.(*corev1.Pod); ok && len(hostPortsOf(pod)) > 0 {
			touch(o)
		}
	}
	p.r.factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: hostPorts, DeleteFunc: hostPorts, UpdateFunc: func(_, o any) { hostPorts(o) }})
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.dirty:
			}
			start := time.Now()
			p.sync()
			// Under constant change, spend at most half of the time here.
			pause(ctx, max(50*time.Millisecond, time.Since(start)))
		}
	}()
}

func (p *proxier) sync() {
	rules := p.rules()
	if rules == p.last {
		return
	}
	cmd := exec.Command("nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if err := run(cmd); err != nil {
		log.Printf("proxy: %v", err)
		return
	}
	p.last = rules
}

type backend struct {
	ip   string
	port int32
}

// rules is the whole ruleset: destination NAT for cluster IPs, external IPs,
// load balancer addresses, node ports and host ports.
func (p *proxier) rules() string {
	var dnat []string
	hairpin := map[string]bool{}
	add := func(match, proto string, backends []backend) {
		if len(backends) == 0 {
			return
		}
		var targets []string
		for i, b := range backends {
			targets = append(targets, fmt.Sprintf("%d : %s . %d", i, b.ip, b.port))
			hairpin[b.ip] = true
		}
		dnat = append(dnat, fmt.Sprintf("    %s meta l4proto %s dnat to numgen random mod %d map { %s }", match, proto, len(backends), strings.Join(targets, ", ")))
	}
	services, _ := p.services.List(labels.Everything())
	sort.Slice(services, func(i, j int) bool { return services[i].UID < services[j].UID })
	for _, svc := range services {
		if svc.Spec.Type == corev1.ServiceTypeExternalName || svc.Spec.ClusterIP == corev1.ClusterIPNone {
			continue
		}
		slices, _ := p.slices.EndpointSlices(svc.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: svc.Name}))
		for _, port := range svc.Spec.Ports {
			proto := strings.ToLower(string(port.Protocol))
			all := backendsOf(slices, port, "")
			at := func(ip string, n int32) string {
				return fmt.Sprintf("ip daddr %s %s dport %d", ip, proto, n)
			}
			if ip := svc.Spec.ClusterIP; ip != "" {
				add(at(ip, port.Port), proto, all)
			}
			for _, ip := range svc.Spec.ExternalIPs {
				add(at(ip, port.Port), proto, all)
			}
			for _, in := range svc.Status.LoadBalancer.Ingress {
				if in.IP != "" {
					add(at(in.IP, port.Port), proto, all)
				}
			}
			if port.NodePort != 0 {
				for _, n := range p.r.nodes {
					local := all
					if svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal {
						local = backendsOf(slices, port, n.name)
					}
					add(at(n.ip, port.NodePort), proto, local)
				}
			}
		}
	}
	pods, _ := p.pods.List(labels.Everything())
	sort.Slice(pods, func(i, j int) bool { return pods[i].UID < pods[j].UID })
	for _, pod := range pods {
		for _, port := range hostPortsOf(pod) {
			if pod.Status.PodIP != "" && pod.Status.PodIP != pod.Status.HostIP {
				proto := strings.ToLower(string(port.Protocol))
				add(fmt.Sprintf("ip daddr %s %s dport %d", pod.Status.HostIP, proto, port.HostPort), proto, []backend{{pod.Status.PodIP, port.ContainerPort}})
			}
		}
	}
	var pairs []string
	for ip := range hairpin {
		pairs = append(pairs, ip+" . "+ip)
	}
	sort.Strings(pairs)
	elements := ""
	if len(pairs) > 0 {
		elements = "elements = { " + strings.Join(pairs, ", ") + " }"
	}
	return fmt.Sprintf(`table ip services {}
delete table ip services
table ip services {
  set hairpin { type ipv4_addr . ipv4_addr; %s }
  chain translate {
%s
  }
  chain prerouting { type nat hook prerouting priority -100; jump translate; }
  chain output { type nat hook output priority -100; jump translate; }
  chain postrouting { type nat hook postrouting priority 100; ip saddr . ip daddr @hairpin masquerade; }
}
`, elements, strings.Join(dnat, "\n"))
}

// backendsOf lists the ready endpoints behind a service port, or, when none
// is ready, those that still serve while they terminate.
func backendsOf(slices []*discoveryv1.EndpointSlice, port corev1.ServicePort, node string) []backend {
	yes := func(b *bool) bool { return b == nil || *b }
	var ready, serving []backend
	for _, s := range slices {
		for _, sp := range s.Ports {
			if sp.Port == nil || (sp.Name == nil && port.Name != "") || (sp.Name != nil && *sp.Name != port.Name) {
				continue
			}
			for _, e := range s.Endpoints {
				if len(e.Addresses) == 0 || (node != "" && (e.NodeName == nil || *e.NodeName != node)) || strings.Contains(e.Addresses[0], ":") {
					continue
				}
				b := backend{e.Addresses[0], *sp.Port}
				if yes(e.Conditions.Ready) {
					ready = append(ready, b)
				} else if e.Conditions.Serving != nil && *e.Conditions.Serving {
					serving = append(serving, b)
				}
			}
		}
	}
	if len(ready) == 0 {
		ready = serving
	}
	sort.Slice(ready, func(i, j int) bool {
		return ready[i].ip < ready[j].ip || ready[i].ip == ready[j].ip && ready[i].port < ready[j].port
	})
	return ready
}

func hostPortsOf(pod *corev1.Pod) (ports []corev1.ContainerPort) {
	if pod.Spec.HostNetwork {
		return nil
	}
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.HostPort != 0 {
				ports = append(ports, p)
			}
		}
	}
	return ports
}
