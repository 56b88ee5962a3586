// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// mostFailures is as far as Kong counts.
const mostFailures = 255

// judge gives an upstream the checks that annotations ask for. Kong asks the targets itself, and counts the failures of requests.
func (t *translation) judge(e *entity.Upstream, s *model.KongService, targets []model.KongTarget) {
	if s.SlowStart > 0 {
		t.cannotJudge(s, "slow start", "a new endpoint has its full share at once")
	}
	h := s.Health
	if h == nil || h.IsZero() {
		return
	}
	if e.Healthchecks != nil {
		t.problem(s.Origin.Ref, "metadata.annotations", model.ReasonDuplicate,
			"%s has healthchecks as well, which are in force instead of Fairway's own annotations", s.Upstream.Origin.Ref)
		return
	}
	checks := &entity.Healthchecks{}
	if h.Check != nil {
		checks.Active = t.activeCheck(h.Check, s)
	}
	// Of one endpoint none is ever taken away, which Kong would do.
	if h.Outlier != nil && t.countable(h.Outlier, s) && len(serving(targets)) > 1 {
		checks.Passive = passiveCheck(h.Outlier)
		if checks.Active == nil {
			checks.Active = returning(h.Outlier.Base)
		}
	}
	if checks.Active != nil || checks.Passive != nil {
		e.Healthchecks = checks
	}
}

// cannotJudge reports what Kong has nothing for.
func (t *translation) cannotJudge(s *model.KongService, what, now string) {
	t.problem(s.Origin.Ref, "metadata.annotations", model.ReasonUnsupported, "the Kong data plane has nothing for: %s; %s", what, now)
}

// activeCheck asks the targets. Nil where Kong would ask for something else than what was meant, as it would take away those that are well.
func (t *translation) activeCheck(c *model.HealthCheck, s *model.KongService) *entity.ActiveHealthcheck {
	for _, x := range []struct {
		asked bool
		what  string
	}{
		{c.Port != 0, "a port of its own for checks"},
		{c.TLS != nil && c.TLS.Certificate != nil, "a certificate that checks show"},
		{c.Protocol == model.CheckHTTP && !isPath(c.Path), "a query in the path of checks"},
	} {
		if x.asked {
			t.cannotJudge(s, x.what, "endpoints are not checked")
			return nil
		}
	}
	t.tellCheck(c, s)
	a := &entity.ActiveHealthcheck{
		Type: checkType(c), Timeout: seconds(c.Timeout),
		Healthy:   &entity.Healthy{Interval: seconds(c.Interval), Successes: &c.Healthy},
		Unhealthy: &entity.Unhealthy{Interval: seconds(c.Interval), TCPFailures: &c.Unhealthy, Timeouts: &c.Unhealthy},
	}
	if c.Protocol == model.CheckHTTP {
		a.HTTPPath, a.Unhealthy.HTTPFailures = c.Path, &c.Unhealthy
		a.Healthy.HTTPStatuses, a.Unhealthy.HTTPStatuses = partStatuses(c.Statuses)
	}
	if c.TLS != nil {
		a.HTTPSVerifyCertificate, a.HTTPSSNI = ptr(false), c.TLS.Name
		if name, _, _ := strings.Cut(c.Host, ":"); a.HTTPSSNI == "" {
			a.HTTPSSNI = name
		}
		if _, err := netip.ParseAddr(a.HTTPSSNI); err == nil {
			a.HTTPSSNI = ""
		}
	}
	return a
}

// tellCheck reports what checks go without.
func (t *translation) tellCheck(c *model.HealthCheck, s *model.KongService) {
	for _, x := range []struct {
		asked     bool
		what, now string
	}{
		{c.TLS != nil && c.TLS.Verify, "verifying certificates in checks", "checks verify none"},
		{c.Host != "" && c.TLS == nil, "a Host of checks", "Kong sends one of its own"},
		{c.Service != "", "a service that checks by gRPC ask about", "they ask about the server as a whole"},
		{c.Panic > 0, "a panic threshold", "while no endpoint is well requests are answered with 503"},
	} {
		if x.asked {
			t.cannotJudge(s, x.what, x.now)
		}
	}
}

func checkType(c *model.HealthCheck) string {
	name := map[model.CheckProtocol]string{model.CheckHTTP: "http", model.CheckGRPC: "grpc", model.CheckTCP: "tcp"}[c.Protocol]
	if c.TLS != nil && c.Protocol != model.CheckTCP {
		name += "s"
	}
	return name
}

// registered are the statuses that mean something (RFC 9110 and its successors in IANA's registry).
var registered = []model.StatusRange{
	{First: 200, Last: 208}, {First: 226, Last: 226}, {First: 300, Last: 308}, {First: 400, Last: 418}, {First: 421, Last: 426}, {First: 428, Last: 429},
	{First: 431, Last: 431}, {First: 451, Last: 451}, {First: 500, Last: 508}, {First: 510, Last: 511},
}

// partStatuses lists the statuses that are well and those that are not. What Kong finds in neither list says nothing to it, so both have to be told;
// there are the registered statuses and those that are named one by one.
func partStatuses(ranges []model.StatusRange) (well, unwell []int) {
	for status := 200; status < 600; status++ {
		in := func(r model.StatusRange) bool { return status >= r.First && status <= r.Last }
		one := model.StatusRange{First: status, Last: status}
		switch isKnown := slices.ContainsFunc(registered, in); {
		case slices.Contains(ranges, one), isKnown && slices.ContainsFunc(ranges, in):
			well = append(well, status)
		case isKnown:
			unwell = append(unwell, status)
		}
	}
	return well, unwell
}

// countable tells whether Kong can find outliers as they are meant, and reports what it does otherwise.
func (t *translation) countable(o *model.Outlier, s *model.KongService) bool {
	now := "endpoints are ejected by failures in a row alone"
	if o.Consecutive == 0 {
		now = "no endpoint is ejected"
	}
	for _, x := range []struct {
		asked     bool
		what, now string
	}{
		{o.Rate > 0, "a share of failures that ejects endpoints", now},
		{o.MostPercent != 50, "a bound on the endpoints that are ejected at once", "all may be, and requests are then answered with 503"},
		{o.Longest != max(o.Base, 5*time.Minute), "ejections that get longer", "each lasts until the endpoint takes connections again"},
		{o.Panic > 0, "a panic threshold", "while no endpoint is left requests are answered with 503"},
		{o.Consecutive > mostFailures, "so many failures in a row", "255 eject an endpoint"},
	} {
		if x.asked {
			t.cannotJudge(s, x.what, x.now)
		}
	}
	return o.Consecutive > 0
}

// passiveCheck counts failures in a row: a success begins anew.
func passiveCheck(o *model.Outlier) *entity.PassiveHealthcheck {
	failures := min(o.Consecutive, mostFailures)
	well, unwell := partStatuses([]model.StatusRange{{First: 200, Last: 499}})
	return &entity.PassiveHealthcheck{
		Healthy:   &entity.Healthy{Successes: ptr(1), HTTPStatuses: well},
		Unhealthy: &entity.Unhealthy{HTTPFailures: &failures, TCPFailures: &failures, Timeouts: &failures, HTTPStatuses: unwell},
	}
}

// returning gives endpoints that were ejected back: what Kong has found out by requests alone, requests do not undo.
func returning(after time.Duration) *entity.ActiveHealthcheck {
	return &entity.ActiveHealthcheck{
		Type: "tcp", Healthy: &entity.Healthy{Successes: ptr(1)}, Unhealthy: &entity.Unhealthy{Interval: seconds(after)},
	}
}

func seconds(d time.Duration) *float64 { return ptr(d.Seconds()) }
