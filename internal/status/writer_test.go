// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"errors"
	"fmt"
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

// stand is a writer on client-go's fake API, whose objects are known to it at once.
type stand struct {
	*Writer
	client *fake.Clientset
	list   []*netv1.Ingress

	mu       sync.Mutex // guards below
	gets     int
	puts     int
	fails    int // so many writes from now on
	problems []model.Problem
}

func newStand(ingresses int) *stand {
	s := &stand{client: fake.NewClientset()}
	for n := range ingresses {
		i := &netv1.Ingress{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: fmt.Sprintf("web-%05d", n), CreationTimestamp: metav1.Unix(int64(n), 0), Annotations: map[string]string{"kept": "yes"},
		}}
		s.list = append(s.list, i)
		_ = s.client.Tracker().Add(i.DeepCopy()) // objects of a known type are always taken
	}
	s.client.PrependReactor("get", "ingresses", func(clienttesting.Action) (bool, runtime.Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gets++
		return false, nil, nil
	})
	s.client.PrependReactor("update", "ingresses", func(clienttesting.Action) (bool, runtime.Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.puts++
		if s.fails > 0 {
			s.fails--
			return true, nil, errors.New("the API server is on strike")
		}
		return false, nil, nil
	})
	s.Writer = New(Options{Client: s.client, Latest: s.says, Contested: func(p model.Problem) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.problems = append(s.problems, p)
	}})
	return s
}

func (s *stand) latest(ref model.Ref) *netv1.Ingress {
	object, err := s.client.Tracker().Get(netv1.SchemeGroupVersion.WithResource("ingresses"), ref.Namespace, ref.Name)
	if err != nil {
		return nil
	}
	return object.(*netv1.Ingress)
}

func (s *stand) says(ref model.Ref) *netv1.IngressLoadBalancerStatus {
	if i := s.latest(ref); i != nil {
		return &i.Status.LoadBalancer
	}
	return nil
}

// calls gives how often the API was read and written since the last time.
func (s *stand) calls() (gets, puts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gets, puts = s.gets, s.puts
	s.gets, s.puts = 0, 0
	return gets, puts
}

// set plays somebody else who writes addresses.
func (s *stand) set(t *testing.T, i *netv1.Ingress, addresses string) {
	t.Helper()
	other := s.latest(refOf(i)).DeepCopy()
	other.Status.LoadBalancer.Ingress = Parse(addresses)
	other.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "elsewhere", Subresource: "status", Time: new(metav1.Now())}}
	if err := s.client.Tracker().Update(netv1.SchemeGroupVersion.WithResource("ingresses"), other, i.Namespace); err != nil {
		t.Fatal(err)
	}
	s.Observe(refOf(i))
}

func (s *stand) shows(t *testing.T, i *netv1.Ingress, want string) {
	t.Helper()
	if got := Addresses(s.latest(refOf(i)).Status.LoadBalancer.Ingress).String(); got != want {
		t.Errorf("%s says %s, want %s", i.Name, got, want)
	}
}

// leading runs a test beside a writer that leads, in a bubble of fake time.
func leading(t *testing.T, ingresses int, test func(t *testing.T, s *stand)) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(ingresses)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Lead(ctx) }()
		synctest.Wait()
		test(t, s)
		cancel()
		<-ended
	})
}

func TestWritesOnlyWhatDiffers(t *testing.T) {
	leading(t, 3, func(t *testing.T, s *stand) {
		s.set(t, s.list[1], "192.0.2.1")
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		time.Sleep(time.Second)
		for _, i := range s.list {
			s.shows(t, i, "192.0.2.1")
		}
		if s.latest(refOf(s.list[0])).Annotations["kept"] != "yes" {
			t.Error("the write dropped an annotation")
		}
		if gets, puts := s.calls(); gets != 2 || puts != 2 {
			t.Errorf("%d reads and %d writes, want 2 each", gets, puts)
		}
		time.Sleep(time.Hour) // of resyncs
		s.Serve(s.list)
		s.Publish(Parse("192.0.2.1"))
		time.Sleep(time.Second)
		if gets, puts := s.calls(); gets+puts != 0 {
			t.Errorf("without a change: %d reads, %d writes", gets, puts)
		}
		s.Publish(Parse("192.0.2.2"))
		time.Sleep(time.Second)
		if _, puts := s.calls(); puts != 3 {
			t.Errorf("another address: %d writes", puts)
		}
	})
}

func TestOnlyTheLeaderWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(2)
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		time.Sleep(time.Hour)
		if gets, puts := s.calls(); gets+puts != 0 {
			t.Errorf("%d reads and %d writes without leading", gets, puts)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Lead(ctx)
		if _, puts := s.calls(); puts != 2 {
			t.Errorf("%d writes of the new leader", puts)
		}
		s.Publish(Parse("192.0.2.2"))
		time.Sleep(time.Hour)
		if _, puts := s.calls(); puts != 0 {
			t.Errorf("%d writes after the end of leading", puts)
		}
	})
}

func TestWhatIsNotServedIsLeftAlone(t *testing.T) {
	leading(t, 2, func(t *testing.T, s *stand) {
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list[:1])
		time.Sleep(time.Second)
		s.shows(t, s.list[0], "192.0.2.1")
		s.shows(t, s.list[1], "none")
		s.Serve(nil)
		s.set(t, s.list[0], "192.0.2.99")
		time.Sleep(time.Hour)
		s.shows(t, s.list[0], "192.0.2.99")
	})
}

func TestFailedWritesAreRepeated(t *testing.T) {
	leading(t, 5, func(t *testing.T, s *stand) {
		s.mu.Lock()
		s.fails = 12
		s.mu.Unlock()
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		time.Sleep(time.Minute)
		for _, i := range s.list {
			s.shows(t, i, "192.0.2.1")
		}
		if _, puts := s.calls(); puts != 12+5 {
			t.Errorf("%d writes", puts)
		}
	})
}

func TestRateIsBounded(t *testing.T) {
	leading(t, 600, func(t *testing.T, s *stand) {
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		time.Sleep(10 * time.Second)
		if _, puts := s.calls(); puts > 11*writesPerSecond || puts < 9*writesPerSecond {
			t.Errorf("%d writes in 10 s", puts)
		}
		time.Sleep(time.Minute)
		s.shows(t, s.list[599], "192.0.2.1")
	})
}

// fight overwrites whatever the writer writes to an Ingress for some time, and tells how often that was.
func (s *stand) fight(t *testing.T, i *netv1.Ingress, lasts time.Duration) int {
	overwritten := 0
	for begin := time.Now(); time.Since(begin) < lasts; {
		time.Sleep(5 * time.Second)
		if Addresses(s.latest(refOf(i)).Status.LoadBalancer.Ingress).String() == "192.0.2.1" {
			overwritten++
			s.set(t, i, "192.0.2.66")
		}
	}
	return overwritten
}

func TestGivesWay(t *testing.T) {
	leading(t, 10, func(t *testing.T, s *stand) {
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		if n := s.fight(t, s.list[0], 10*time.Minute); n != patience {
			t.Errorf("%d writes against another controller in ten minutes, want %d", n, patience)
		}
		s.shows(t, s.list[0], "192.0.2.66")
		s.shows(t, s.list[1], "192.0.2.1")
		if len(s.problems) != 1 || s.problems[0].Object.Name != "web-00000" || s.Contests() != 1 {
			t.Fatalf("problems %v, %d contests", s.problems, s.Contests())
		}
		t.Log(s.problems[0].Message)
		if n := s.fight(t, s.list[0], 2*time.Hour); n > 2 {
			t.Errorf("%d more writes in two hours", n)
		}
		// The other one is gone: the next try settles it.
		time.Sleep(2*tryAgain + time.Minute)
		s.shows(t, s.list[0], "192.0.2.1")
		if s.Contests() != 0 {
			t.Errorf("%d contests after the peace", s.Contests())
		}
	})
}

// When somebody overwrites all, the many are not fought about one by one.
func TestGivesWayOnAll(t *testing.T) {
	leading(t, 200, func(t *testing.T, s *stand) {
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		for range 100 {
			time.Sleep(time.Second)
			for _, i := range s.list {
				if Addresses(s.latest(refOf(i)).Status.LoadBalancer.Ingress).String() == "192.0.2.1" {
					s.set(t, i, "192.0.2.66")
				}
			}
		}
		if _, puts := s.calls(); puts > 2*len(s.list)+manyContested {
			t.Errorf("%d writes for %d Ingresses", puts, len(s.list))
		}
		if s.Contests() != len(s.list) {
			t.Errorf("%d contests", s.Contests())
		}
		// A change of an Ingress may be the end of its contest, so it is tried anew.
		changed := s.list[5].DeepCopy()
		list := append([]*netv1.Ingress(nil), s.list...)
		list[5] = changed
		s.Serve(list)
		time.Sleep(time.Second)
		s.shows(t, changed, "192.0.2.1")
	})
}

// A predecessor that fought and then stops empties what it wrote: that is the end of the contest.
func TestTakesUpWhatWasEmptied(t *testing.T) {
	leading(t, 1, func(t *testing.T, s *stand) {
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		s.fight(t, s.list[0], time.Minute)
		s.set(t, s.list[0], "")
		time.Sleep(time.Minute)
		s.shows(t, s.list[0], "192.0.2.1")
		s.calls()
		for range 600 { // but not without end
			time.Sleep(time.Second)
			s.set(t, s.list[0], "")
		}
		if _, puts := s.calls(); puts > (patience+1)*(patience+1) {
			t.Errorf("%d writes against somebody who empties the status", puts)
		}
	})
}

func TestClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(120)
		s.Publish(Parse("192.0.2.1"))
		s.Serve(s.list)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s.Lead(ctx)
		s.set(t, s.list[7], "192.0.2.66")
		if err := s.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.shows(t, s.list[0], "none")
		s.shows(t, s.list[119], "none")
		s.shows(t, s.list[7], "192.0.2.66")
	})
}

func pod(name, node string, ready bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "fairway", Name: name, Labels: map[string]string{"app": "fairway", "pod-template-hash": name, corev1.LabelTopologyZone: "zone of " + name},
	}}
	p.Spec.NodeName = node
	p.Status.Phase = corev1.PodRunning
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func TestOthers(t *testing.T) {
	leaving, ended, stranger := pod("leaving", "one", true), pod("ended", "one", false), pod("stranger", "one", true)
	leaving.DeletionTimestamp = new(metav1.Now())
	leaving.Finalizers = []string{"example.test/wait"}
	ended.Status.Phase = corev1.PodSucceeded
	stranger.Labels["app"] = "other"
	for _, c := range []struct {
		title string
		pods  []runtime.Object
		want  bool
	}{
		{"alone", []runtime.Object{pod("fairway-0", "one", true)}, false},
		{"only some that leave, or are none of ours", []runtime.Object{pod("fairway-0", "one", true), leaving, ended, stranger}, false},
		{"one that is not ready yet", []runtime.Object{pod("fairway-0", "one", true), pod("fairway-1", "", false)}, true},
	} {
		r := Replicas{Client: fake.NewClientset(c.pods...), Namespace: "fairway", Name: "fairway-0"}
		if got, err := r.Others(t.Context()); err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.title, got, err)
		}
	}
	if _, err := (Replicas{Client: fake.NewClientset(), Namespace: "fairway", Name: "fairway-0"}).Others(t.Context()); err == nil {
		t.Error("no error without an own pod")
	}
}

func TestNodes(t *testing.T) {
	node := func(name, address string) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
		return n
	}
	client := fake.NewClientset(pod("fairway-0", "one", true), pod("fairway-1", "two", false), node("one", "10.0.0.1"), node("two", "10.0.0.2"))
	ctx, cancel := context.WithCancel(t.Context())
	published := make(chan string)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n := Nodes{Replicas: Replicas{Client: client, Namespace: "fairway", Name: "fairway-0"}, Interval: time.Hour}
		n.Run(ctx, func(a Addresses) {
			select {
			case published <- a.String():
			case <-ctx.Done():
			}
		}, func(err error) { t.Error(err) })
	}()
	if got := <-published; got != "10.0.0.1" {
		t.Errorf("published %s", got)
	}
	if _, err := client.CoreV1().Pods("fairway").Update(ctx, pod("fairway-1", "two", true), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-published; got != "10.0.0.1, 10.0.0.2" {
		t.Errorf("published after a pod became ready: %s", got)
	}
	cancel()
	<-ended
}

// What one changed Ingress among ten thousand costs the writer: a pass over two lists of pointers.
func BenchmarkServe(b *testing.B) {
	s := newStand(10000)
	s.Publish(Parse("192.0.2.1"))
	s.Serve(s.list)
	lists := [2][]*netv1.Ingress{s.list, append([]*netv1.Ingress(nil), s.list...)}
	lists[1][5000] = s.list[5000].DeepCopy()
	for n := 0; b.Loop(); n++ {
		s.Serve(lists[n%2])
	}
}
