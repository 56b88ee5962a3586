// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	netv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// stand is a reporter whose Events a test sees.
type stand struct {
	*Reporter
	mu     sync.Mutex // guards below
	sent   []string   // "KIND NAME: TYPE REASON MESSAGE"
	speaks bool
}

// said gives what was sent since the last time, sorted.
func (s *stand) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := s.sent
	s.sent = nil
	slices.Sort(sent)
	return sent
}

func (s *stand) speak(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.speaks = yes
}

// reporting runs a test beside a reporter, in a bubble of fake time.
func reporting(t *testing.T, options Options, test func(t *testing.T, s *stand)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stand{speaks: true}
		client := fake.NewClientset()
		client.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
			e := action.(clienttesting.CreateAction).GetObject().(*corev1.Event)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sent = append(s.sent, fmt.Sprintf("%s %s: %s %s %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Type, e.Reason, e.Message))
			return true, e, nil
		})
		client.PrependReactor("patch", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.sent = append(s.sent, "again")
			return true, &corev1.Event{}, nil
		})
		options.Client = client
		options.Speaks = func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.speaks
		}
		options.Refer = func(ref model.Ref) *corev1.ObjectReference {
			if ref.Kind == "File" {
				return nil
			}
			return &corev1.ObjectReference{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
		}
		s.Reporter = New(options)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		test(t, s)
		cancel()
		<-ended
	})
}

func problem(name, field, message string) model.Problem {
	return model.Problem{Object: model.Ref{Kind: "Ingress", Namespace: "ns", Name: name}, Field: field, Reason: model.ReasonMissingService, Message: message}
}

func problems(since time.Time, list ...model.Problem) func(func(model.Problem, time.Time) bool) {
	return func(yield func(model.Problem, time.Time) bool) {
		for _, p := range list {
			if !yield(p, since) {
				return
			}
		}
	}
}

func expect(t *testing.T, s *stand, when string, want ...string) {
	t.Helper()
	if got := s.said(); !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOneEventPerProblem(t *testing.T) {
	reporting(t, Options{}, func(t *testing.T, s *stand) {
		p := problem("web", "spec.rules[0]", "there is no Service web")
		denied := model.Problem{Object: p.Object, Field: "metadata.annotations[x]", Reason: model.ReasonInvalidAnnotation, Message: "bad"}
		file := model.Problem{Object: model.Ref{Kind: "File", Name: "a.yaml"}, Reason: model.ReasonUnreadableManifest, Message: "bad"}
		begin := time.Now()
		s.Report(&Round{Problems: problems(begin, p, denied, file)})
		time.Sleep(settle - time.Second)
		expect(t, s, "too young")
		time.Sleep(5 * time.Second)
		expect(t, s, "settled",
			"Ingress web: Warning AnnotationParsingFailed metadata.annotations[x]: bad",
			"Ingress web: Warning MissingService spec.rules[0]: there is no Service web")
		for range 10 {
			s.Report(&Round{Problems: problems(begin, p, denied, file)})
			time.Sleep(time.Minute)
		}
		expect(t, s, "the same, round after round")
		time.Sleep(repeat)
		expect(t, s, "before the Events expire", "again", "again")
		s.Report(&Round{Problems: problems(begin)})
		time.Sleep(time.Minute)
		s.Report(&Round{Problems: problems(time.Now(), p)})
		time.Sleep(time.Minute)
		expect(t, s, "back after it was gone", "again")
	})
}

func TestPassingProblemsAreNotTold(t *testing.T) {
	reporting(t, Options{}, func(t *testing.T, s *stand) {
		s.Report(&Round{Problems: problems(time.Now(), problem("web", "", "no endpoints"))})
		time.Sleep(2 * time.Second)
		s.Report(&Round{Problems: problems(time.Now())})
		time.Sleep(time.Minute)
		expect(t, s, "over within a moment")
	})
}

func TestOnlyTheSpeakerTells(t *testing.T) {
	pod := &corev1.ObjectReference{Kind: "Pod", Namespace: "fairway", Name: "fairway-0"}
	reporting(t, Options{Pod: pod}, func(t *testing.T, s *stand) {
		s.speak(false)
		s.Report(&Round{Problems: problems(time.Now(), problem("web", "", "no endpoints"))})
		s.Reloaded([]string{"Shape"}, nil)
		s.Reloaded(nil, errors.New("nginx refuses the configuration"))
		time.Sleep(time.Hour)
		expect(t, s, "a follower",
			"Pod fairway-0: Normal RELOAD nginx was reloaded, because of: Shape",
			"Pod fairway-0: Warning RELOAD nginx was not reloaded, and the last good state keeps serving: nginx refuses the configuration")
		s.speak(true)
		time.Sleep(2 * lookAgain)
		expect(t, s, "the follower is elected", "Ingress web: Warning MissingService no endpoints")
	})
}

func TestPushes(t *testing.T) {
	pod := &corev1.ObjectReference{Kind: "Pod", Namespace: "fairway", Name: "fairway-0"}
	reporting(t, Options{Pod: pod}, func(t *testing.T, s *stand) {
		s.Pushed("http://a", false, nil)
		s.Pushed("http://a", false, errors.New("refused"))
		s.Pushed("http://a", true, nil)
		s.Pushed("http://a", true, errors.New("too large"))
		time.Sleep(time.Minute)
		expect(t, s, "pushes to a gateway", "Pod fairway-0: Normal FallbackKongConfigurationSucceeded http://a holds what is wanted, without what it refuses",
			"Pod fairway-0: Normal KongConfigurationSucceeded http://a holds all that is wanted",
			"Pod fairway-0: Warning FallbackKongConfigurationApplyFailed http://a does not take what is wanted: too large",
			"Pod fairway-0: Warning KongConfigurationApplyFailed http://a does not take what is wanted: refused")
	})
}

func TestSync(t *testing.T) {
	made := func(name string) *netv1.Ingress {
		return &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.Unix(int64(name[0]), 0)}}
	}
	reporting(t, Options{}, func(t *testing.T, s *stand) {
		a, b, c := made("a"), made("b"), made("c")
		none := problems(time.Now())
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "fairway", Name: "settings"}}
		s.Report(&Round{Accepted: []*netv1.Ingress{a}, Problems: none})
		time.Sleep(time.Minute)
		expect(t, s, "what was there at the start")
		s.Report(&Round{Accepted: []*netv1.Ingress{a, b, c}, Problems: none, Settings: settings})
		time.Sleep(time.Minute)
		expect(t, s, "two come",
			"ConfigMap settings: Normal CREATE ConfigMap fairway/settings",
			"Ingress b: Normal Sync The Ingress is in force as it is now", "Ingress c: Normal Sync The Ingress is in force as it is now")
		s.Report(&Round{Accepted: []*netv1.Ingress{a, made("b")}, Problems: none, Settings: settings.DeepCopy()})
		time.Sleep(time.Minute)
		expect(t, s, "one changes, one goes", "ConfigMap settings: Normal UPDATE ConfigMap fairway/settings", "again")
	})
}

func TestQuiet(t *testing.T) {
	reporting(t, Options{Quiet: true, Pod: &corev1.ObjectReference{Kind: "Pod", Namespace: "fairway", Name: "fairway-0"}}, func(t *testing.T, s *stand) {
		s.Report(&Round{Problems: problems(time.Now(), problem("web", "", "no endpoints"))})
		s.Reloaded([]string{"Setting"}, nil)
		time.Sleep(time.Minute)
		expect(t, s, "only reloads", "Pod fairway-0: Normal RELOAD nginx was reloaded, because of: Setting")
	})
}

// A cluster full of Problems is told at a bounded rate, and in the end entirely.
func TestRateIsBounded(t *testing.T) {
	reporting(t, Options{}, func(t *testing.T, s *stand) {
		var list []model.Problem
		for n := range 1000 {
			list = append(list, problem(fmt.Sprintf("web-%d", n), "", "no endpoints"))
		}
		s.Report(&Round{Problems: problems(time.Now(), list...)})
		time.Sleep(settle + 20*time.Second)
		if got := len(s.said()); got > burst+25*perSecond || got < 100 {
			t.Errorf("%d Events in 20 s", got)
		}
		time.Sleep(3 * time.Minute)
		s.said()
		time.Sleep(time.Minute)
		expect(t, s, "all told")
	})
}

func TestLongMessagesAreCut(t *testing.T) {
	if got := cut(strings.Repeat("ä", longest)); len(got) > longest+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes, ending %q", len(got), got[len(got)-8:])
	}
}
