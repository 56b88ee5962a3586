// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"

	"github.com/fairway-ingress/fairway/internal/ingress"
	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
)

func expect(t *testing.T, got, want []applied) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(applied{})); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

func TestNothingBeforeSynced(t *testing.T) {
	run(t, func(t *testing.T, s *stand) {
		s.objects.hold("a.example")
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, s.plane.applies(), nil)
		if s.State().Ready {
			t.Error("ready before the source is synced")
		}
		close(s.objects.synced)
		synctest.Wait()
		if calls := s.plane.applies(); len(calls) == 0 || calls[0] != (applied{time.Minute, "a.example"}) {
			t.Errorf("applied %v", calls)
		}
		if !s.State().Ready {
			t.Error("not ready although everything is in force")
		}
	})
}

func TestNotReadyBeforeApplied(t *testing.T) {
	run(t, func(t *testing.T, s *stand) {
		s.plane.will(0, 2)
		close(s.objects.synced)
		synctest.Wait()
		if state := s.State(); state.Ready || state.Err == nil || state.InForce != nil {
			t.Errorf("after a refused first round: %+v", state)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if state := s.State(); !state.Ready || state.Err != nil || state.InForce == nil {
			t.Errorf("after the repetition: %+v", state)
		}
	})
}

func TestIdleLoopAppliesAtOnce(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.objects.hold("b.example")
		synctest.Wait()
		expect(t, s.plane.applies(), []applied{{0, "b.example"}})
	})
}

func TestChangesDuringApplyAreOneRound(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.plane.will(10*time.Millisecond, 0)
		s.objects.hold("b.example")
		time.Sleep(time.Millisecond)
		s.objects.hold("c.example")
		time.Sleep(time.Millisecond)
		s.objects.hold("d.example")
		time.Sleep(time.Second)
		synctest.Wait()
		// The rest after a round is as long as the round.
		expect(t, s.plane.applies(), []applied{{0, "b.example"}, {20 * time.Millisecond, "d.example"}})
	})
}

func TestStormLeavesTimeToOthers(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.plane.will(10*time.Millisecond, 0)
		for i := range 1000 {
			s.objects.hold(strings.Repeat("x", i%50+1) + ".example")
			time.Sleep(time.Millisecond)
		}
		s.objects.hold("last.example")
		time.Sleep(time.Second)
		synctest.Wait()
		calls := s.plane.applies()
		if len(calls) < 40 || len(calls) > 55 {
			t.Errorf("%d rounds in a second of changes, want one per 20 ms", len(calls))
		}
		if last := calls[len(calls)-1]; last.hosts != "last.example" || last.at > 1040*time.Millisecond {
			t.Errorf("last round %v", last)
		}
	})
}

func TestSlowRoundDoesNotDelayTheNextForLong(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.plane.will(time.Second, 0) // a reload
		s.objects.hold("b.example")
		time.Sleep(time.Second + time.Millisecond)
		s.objects.hold("c.example")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		expect(t, s.plane.applies(), []applied{{0, "b.example"}, {time.Second + restMax, "c.example"}})
	})
}

func TestFailedRoundIsRepeated(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		good := s.State()
		s.plane.will(0, 3)
		s.objects.hold("b.example")
		synctest.Wait()
		if state := s.State(); state.Err == nil || state.InForce != good.InForce || state.Result == good.Result || !state.Ready {
			t.Errorf("after a failure: %+v", state)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		expect(t, s.plane.applies(), []applied{
			{0, "b.example"}, {100 * time.Millisecond, "b.example"}, {300 * time.Millisecond, "b.example"}, {700 * time.Millisecond, "b.example"},
		})
		if state := s.State(); state.Err != nil || state.InForce != state.Result || state.Change.Generation != 2 {
			t.Errorf("after the repetitions: %+v", state)
		}
	})
}

func TestChangeAfterFailureDoesNotWaitForTheRetry(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.plane.will(0, 5)
		s.objects.hold("bad.example")
		time.Sleep(2 * time.Second) // the next retry is at 3.1 s
		s.plane.applies()
		s.objects.hold("good.example")
		synctest.Wait()
		expect(t, s.plane.applies(), []applied{{2 * time.Second, "good.example"}})
	})
}

func TestPlaneThatHangs(t *testing.T) {
	run(t, func(t *testing.T, s *stand) {
		s.objects.hold("a.example")
		s.plane.will(time.Hour, 0)
		close(s.objects.synced)
		time.Sleep(applyPatience)
		synctest.Wait()
		if state := s.State(); state.Ready || !errors.Is(state.Err, context.DeadlineExceeded) {
			t.Errorf("while it hangs: %+v", state)
		}
		s.plane.will(0, 0)
		s.objects.hold("b.example")
		time.Sleep(time.Second)
		synctest.Wait()
		if calls := s.plane.applies(); !s.State().Ready || calls[len(calls)-1].hosts != "b.example" {
			t.Errorf("after it recovered: %v", calls)
		}
	})
}

func TestRestartedPlaneIsToldAgain(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		wake(s.plane.restarted)
		synctest.Wait()
		expect(t, s.plane.applies(), []applied{{0, "a.example"}})
	})
}

func TestLooksAgain(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		time.Sleep(lookAgain)
		synctest.Wait()
		if calls := s.plane.applies(); len(calls) != 1 {
			t.Errorf("%d rounds without a change, want one", len(calls))
		}
	})
}

func TestFirstRoundWaitsForNames(t *testing.T) {
	for _, c := range []struct {
		title          string
		answered, want time.Duration
	}{
		{"an answer", time.Second, time.Second},
		{"no answer", time.Hour, firstNames},
	} {
		t.Run(c.title, func(t *testing.T) {
			run(t, func(t *testing.T, s *stand) {
				s.objects.set(external("a.example"))
				close(s.objects.synced)
				time.AfterFunc(c.answered, func() { s.names.answer("elsewhere.example", "198.51.100.1") })
				time.Sleep(time.Minute)
				synctest.Wait()
				if calls := s.plane.applies(); len(calls) == 0 || calls[0].at != c.want {
					t.Errorf("applied %v, want the first at %s", calls, c.want)
				}
			})
		})
	}
}

func TestAnswerOfDNSIsAChange(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.objects.set(external("b.example"))
		synctest.Wait()
		if b := s.State().InForce.Model.Backends[0]; len(b.Endpoints) != 0 {
			t.Errorf("endpoints %v before DNS answered", b.Endpoints)
		}
		s.names.answer("elsewhere.example", "198.51.100.1")
		time.Sleep(restMax)
		synctest.Wait()
		if b := s.State().InForce.Model.Backends[0]; len(b.Endpoints) != 1 {
			t.Errorf("endpoints %v after DNS answered", b.Endpoints)
		}
	})
}

func TestProblemsKeepTheirAge(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		begin := s.State().Problems[0].Since // there is no Service
		time.Sleep(time.Hour)
		s.objects.hold("a.example", "b.example")
		synctest.Wait()
		ages := map[string]time.Duration{}
		for _, p := range s.State().Problems {
			ages[p.Object.Name] = p.Since.Sub(begin)
		}
		if ages["a.example"] != 0 || ages["b.example"] < time.Hour {
			t.Errorf("ages %v", ages)
		}
		s.objects.hold("b.example")
		time.Sleep(time.Second)
		s.objects.hold("a.example")
		time.Sleep(time.Second)
		synctest.Wait()
		if since := s.State().Problems[0].Since.Sub(begin); since < time.Hour {
			t.Error("a problem that came back has its old age")
		}
	})
}

func TestFaultsAreProblems(t *testing.T) {
	started(t, func(t *testing.T, s *stand) {
		s.objects.set(&source.Snapshot{Faults: []source.Fault{{File: "a.yaml", Line: 3, Message: "not YAML"}}})
		synctest.Wait()
		if p := s.State().Problems; len(p) != 1 || !strings.HasPrefix(p[0].String(), "File a.yaml line 3: UnreadableManifest: not YAML (since ") {
			t.Errorf("problems %v", p)
		}
	})
}

// broken is a source that gives up.
type broken struct{ *objects }

func (broken) Run(context.Context) error { return errors.New("forbidden") }

func TestRunEndsWhenAPartGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand()
		s.Source = broken{s.objects}
		if err := s.Run(t.Context()); err == nil || err.Error() != "source: forbidden" {
			t.Errorf("Run: %v", err)
		}
	})
}

// A snippet that the driver does not take closes its own route; the rest of the model is in force in the same round.
func TestRefusedSnippet(t *testing.T) {
	run(t, func(t *testing.T, s *stand) {
		key := source.Key{Namespace: "default", Name: "settings"}
		s.Loop.Builder = ingress.NewBuilder(ingress.Options{WatchWithoutClass: true, ConfigMap: key})
		settings := &corev1.ConfigMap{Data: map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}}
		settings.Namespace, settings.Name = key.Namespace, key.Name
		bad := anIngress("bad.example")
		bad.Annotations = map[string]string{"nginx.ingress.kubernetes.io/configuration-snippet": "bad;"}
		s.plane.hates = "bad;\n"
		s.objects.set(&source.Snapshot{
			Ingresses: []*netv1.Ingress{bad, anIngress("good.example")}, ConfigMaps: map[source.Key]*corev1.ConfigMap{key: settings},
		})
		close(s.objects.synced)
		synctest.Wait()
		state := s.State()
		if !state.Ready || state.Err != nil {
			t.Fatalf("not in force: %v", state.Err)
		}
		_, match := state.InForce.Model.Find("bad.example", "/")
		if match == nil || match.Route.Closed == "" || match.Route.Policy.Snippet != "" {
			t.Errorf("the route of the snippet: %+v", match)
		}
		if _, match := state.InForce.Model.Find("good.example", "/"); match == nil || match.Route.Closed != "" {
			t.Errorf("the neighbour: %+v", match)
		}
		for _, p := range state.Problems {
			if p.Reason == model.ReasonInvalidSnippet && strings.Contains(p.Message, "bad taste") {
				return
			}
		}
		t.Errorf("no problem tells it: %v", state.Problems)
	})
}
