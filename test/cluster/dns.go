// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strings"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

const clusterDomain = "cluster.local."

// dnsServer answers names of Services on dnsServiceIP. Nothing is forwarded;
// other names do not exist.
type dnsServer struct {
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
}

// newDNS registers the informers and returns the function that starts serving.
func newDNS(r *runner) func() error {
	d := &dnsServer{r.factory.Core().V1().Services().Lister(), r.factory.Discovery().V1().EndpointSlices().Lister()}
	return func() error {
		pc, err := net.ListenPacket("udp", dnsServiceIP+":53")
		if err != nil {
			return err
		}
		ln, err := net.Listen("tcp", dnsServiceIP+":53")
		if err != nil {
			return err
		}
		go (&dns.Server{PacketConn: pc, Handler: d}).ActivateAndServe()
		go (&dns.Server{Listener: ln, Handler: d}).ActivateAndServe()
		return nil
	}
}

func (d *dnsServer) ServeDNS(w dns.ResponseWriter, req *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(req)
	m.Authoritative = true
	if len(req.Question) == 1 {
		q := req.Question[0]
		answers, exists := d.answer(q)
		m.Answer = answers
		if !exists {
			m.Rcode = dns.RcodeNameError
		}
	}
	w.WriteMsg(m)
}

// answer resolves SERVICE.NAMESPACE.svc, HOST.SERVICE.NAMESPACE.svc and
// _PORT._PROTOCOL.SERVICE.NAMESPACE.svc.
func (d *dnsServer) answer(q dns.Question) (rrs []dns.RR, exists bool) {
	name := strings.ToLower(q.Name)
	rest, ok := strings.CutSuffix(name, ".svc."+clusterDomain)
	if !ok {
		return nil, name == clusterDomain || name == "svc."+clusterDomain
	}
	parts := strings.Split(rest, ".")
	if len(parts) < 2 || len(parts) > 4 {
		return nil, false
	}
	sub, service, namespace := parts[:len(parts)-2], parts[len(parts)-2], parts[len(parts)-1]
	svc, err := d.services.Services(namespace).Get(service)
	if err != nil {
		return nil, false
	}
	header := func(owner string, t uint16) dns.RR_Header {
		return dns.RR_Header{Name: owner, Rrtype: t, Class: dns.ClassINET, Ttl: 1}
	}
	address := func(ip string) {
		if a := net.ParseIP(ip).To4(); a != nil && (q.Qtype == dns.TypeA || q.Qtype == dns.TypeANY) {
			rrs = append(rrs, &dns.A{Hdr: header(q.Name, dns.TypeA), A: a})
		}
	}
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		rrs = append(rrs, &dns.CNAME{Hdr: header(q.Name, dns.TypeCNAME), Target: dns.Fqdn(svc.Spec.ExternalName)})
		if strings.HasSuffix(dns.Fqdn(svc.Spec.ExternalName), clusterDomain) {
			more, _ := d.answer(dns.Question{Name: dns.Fqdn(svc.Spec.ExternalName), Qtype: q.Qtype, Qclass: q.Qclass})
			rrs = append(rrs, more...)
		}
		return rrs, true
	}
	headless := svc.Spec.ClusterIP == corev1.ClusterIPNone
	slices, _ := d.slices.EndpointSlices(namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service}))
	each := func(fn func(e *discoveryv1.Endpoint, host string)) {
		for _, s := range slices {
			for i := range s.Endpoints {
				e := &s.Endpoints[i]
				if (e.Conditions.Ready == nil || *e.Conditions.Ready) && len(e.Addresses) > 0 {
					host := strings.ReplaceAll(e.Addresses[0], ".", "-")
					if e.Hostname != nil {
						host = *e.Hostname
					}
					fn(e, host)
				}
			}
		}
	}
	if len(sub) == 2 && strings.HasPrefix(sub[0], "_") {
		for _, p := range svc.Spec.Ports {
			if "_"+p.Name != sub[0] || "_"+strings.ToLower(string(p.Protocol)) != sub[1] {
				continue
			}
			exists = true
			base := service + "." + namespace + ".svc." + clusterDomain
			if headless {
				each(func(_ *discoveryv1.Endpoint, host string) {
					rrs = append(rrs, &dns.SRV{Hdr: header(q.Name, dns.TypeSRV), Priority: 0, Weight: 1, Port: uint16(p.Port), Target: host + "." + base})
				})
			} else {
				rrs = append(rrs, &dns.SRV{Hdr: header(q.Name, dns.TypeSRV), Priority: 0, Weight: 1, Port: uint16(p.Port), Target: base})
			}
		}
		return rrs, exists
	}
	switch {
	case len(sub) == 0 && !headless:
		address(svc.Spec.ClusterIP)
		return rrs, true
	case len(sub) == 0:
		each(func(e *discoveryv1.Endpoint, _ string) { address(e.Addresses[0]); exists = true })
		return rrs, exists
	case len(sub) == 1:
		each(func(e *discoveryv1.Endpoint, host string) {
			if host == sub[0] {
				address(e.Addresses[0])
				exists = true
			}
		})
	}
	return rrs, exists
}
