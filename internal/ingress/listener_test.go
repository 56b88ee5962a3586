// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package ingress

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

// FuzzListenerEntry puts whatever it likes into a ConfigMap of TCP services, beside a good entry, which must stay what it is alone.
func FuzzListenerEntry(f *testing.F) {
	for _, seed := range [][2]string{
		{"5432", "default/a:80"}, {"5432", "default/a:80:PROXY:PROXY"}, {"5432", "default/a:80::proxyV2"}, {"05432", "a/b:c"}, {"-1", "::::"},
		{"65536", "default/a:http:"}, {"0", "/:"}, {"1", "default/a/b:80"}, {"9000x", "\x00/\xff:1"}, {"80", "default/a:80"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		if key == "9000" {
			t.Skip("the key of the good entry")
		}
		snapshot := fuzzCluster(t)
		object := &corev1.ConfigMap{Data: map[string]string{key: value, "9000": "default/a:80:PROXY:PROXY"}}
		name := source.Key{Namespace: "fairway", Name: "tcp"}
		object.Namespace, object.Name = name.Namespace, name.Name
		snapshot.ConfigMaps = map[source.Key]*corev1.ConfigMap{name: object}
		m := NewBuilder(Options{TCPServices: name, ReservedPorts: map[uint16]string{80: "--http-port"}}).Build(snapshot).Model
		good := 0
		for _, l := range m.Listeners {
			switch {
			case l.Port == 9000:
				good++
				if !l.AcceptProxy || l.SendProxy != 1 || len(l.Backend.Endpoints) != 1 {
					t.Errorf("the good entry became %+v", l)
				}
			case l.Port == 80 || l.Field != "data["+key+"]":
				t.Errorf("%q: %q became %+v", key, value, l)
			}
		}
		refused := false
		for _, p := range m.Problems {
			if strings.Contains(p.Field, "9000]") && p.Field != "data["+key+"]" {
				t.Errorf("the good entry has the problem %v", p)
			}
			refused = refused || p.Field == "data["+key+"]" && p.Reason == model.ReasonInvalidListener
		}
		if good != 1 || len(m.Listeners) == 1 != refused {
			t.Errorf("%q: %q gave %d listeners, refused: %v", key, value, len(m.Listeners), refused)
		}
	})
}

// TestListenersAreRemembered demands that what did not change is the same pointer, by which drivers know it.
func TestListenersAreRemembered(t *testing.T) {
	snapshot := fuzzCluster(t)
	object := &corev1.ConfigMap{Data: map[string]string{"9000": "default/a:80", "9001": "default/a:80"}}
	name := source.Key{Namespace: "fairway", Name: "tcp"}
	object.Namespace, object.Name = name.Namespace, name.Name
	snapshot.ConfigMaps = map[source.Key]*corev1.ConfigMap{name: object}
	b := NewBuilder(Options{TCPServices: name, WatchWithoutClass: true})
	before := b.Build(snapshot).Model
	if before.Listeners[0].Backend != before.Listeners[1].Backend {
		t.Error("two listeners of one port of a Service have two backends")
	}
	if len(before.Backends) != 1 || before.Backends[0].ID.Transport != 0 {
		t.Errorf("nginx gets the backends %v", before.Backends)
	}
	if after := b.Build(snapshot).Model; after.Listeners[0] != before.Listeners[0] {
		t.Error("a listener is built anew although nothing changed")
	}
	edited := object.DeepCopy()
	edited.Data["9001"] = "default/a:81"
	snapshot.ConfigMaps = map[source.Key]*corev1.ConfigMap{name: edited}
	after := b.Build(snapshot).Model
	if after.Listeners[0].Backend != before.Listeners[0].Backend {
		t.Error("a backend is built anew although nothing of it changed")
	}
	if len(after.Listeners[1].Backend.Endpoints) != 0 {
		t.Error("a port that the Service does not have leads somewhere")
	}
}
