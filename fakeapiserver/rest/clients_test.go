package rest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/informersim/informersim/fakeapiserver"
	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/fault"
	fakerest "github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

const widgetManifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {color: {type: string, default: grey}, size: {type: integer, minimum: 0}}}
          status: {type: object, properties: {phase: {type: string}}}
`

// everything is the registry that all servers here share. It is never changed.
var everything = sync.OnceValues(func() (*types.Registry, error) {
	definitions, err := crd.LoadManifests(strings.NewReader(widgetManifest))
	if err != nil {
		return nil, err
	}
	custom, err := crd.Compile(definitions...)
	if err != nil {
		return nil, err
	}
	reg := types.NewRegistry()
	return reg, reg.Add(append(kinds.Resources(kinds.Options{}), custom...)...)
})

// served is a fake apiserver with the built-in types and one custom resource.
type served struct {
	cluster *fakeapiserver.Cluster
	pump    *transport.Pump
	api     *fakerest.Server
}

func newServed(t testing.TB, seed uint64) *served {
	t.Helper()
	k := sim.NewKernel(sim.Options{Seed: seed, Strategy: sim.NewFIFO()})
	s := &served{cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{History: fakeapiserver.AdaptiveHistory})}
	reg, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	if s.api, err = fakerest.New(fakerest.Options{Cluster: s.cluster, Types: reg}); err != nil {
		t.Fatal(err)
	}
	s.pump = transport.NewPump(k, func(err error) { t.Error(err) })
	t.Cleanup(s.pump.Stop)
	return s
}

// overBoth runs a test over the RoundTripper and over a socket.
func overBoth(t *testing.T, test func(t *testing.T, s *served, config *rest.Config)) {
	t.Run("RoundTripper", func(t *testing.T) {
		s := newServed(t, 1)
		test(t, s, &rest.Config{Host: "http://sim", QPS: -1, Transport: &transport.RoundTripper{Driver: s.pump, API: s.api}})
	})
	t.Run("Handler", func(t *testing.T) {
		s := newServed(t, 1)
		server := httptest.NewServer(&transport.Handler{Driver: s.pump, API: s.api})
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		test(t, s, &rest.Config{Host: server.URL, QPS: -1})
	})
}

func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

var widgets = schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "widgets"}

func TestDynamicClient(t *testing.T) {
	overBoth(t, func(t *testing.T, _ *served, config *rest.Config) {
		ctx := timeout(t)
		all, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		c := all.Resource(widgets).Namespace("default")
		w, err := c.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"size": int64(3)},
		}}
		made, err := c.Create(ctx, u, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if color, _, _ := unstructured.NestedString(made.Object, "spec", "color"); color != "grey" || made.GetUID() == "" {
			t.Errorf("created %v", made)
		}
		if err := unstructured.SetNestedField(made.Object, "done", "status", "phase"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
			t.Errorf("status: %v", err)
		}
		patched, err := c.Patch(ctx, "a", apitypes.MergePatchType, []byte(`{"spec":{"color":"red"}}`), metav1.PatchOptions{})
		if err != nil || patched.GetGeneration() != 2 {
			t.Errorf("patch: %v, %v", patched, err)
		}
		applied, err := c.Apply(ctx, "b", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "b"}, "spec": map[string]any{"size": int64(1)},
		}}, metav1.ApplyOptions{FieldManager: "test"})
		if err != nil || len(applied.GetManagedFields()) != 1 {
			t.Errorf("apply: %v, %v", applied, err)
		}
		list, err := c.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Errorf("list: %v, %v", list, err)
		}
		if err := c.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete: %v", err)
		}
		wantTypes(t, w, "ADDED a", "MODIFIED a", "MODIFIED a", "ADDED b", "DELETED a")
	})
}

func wantTypes(t *testing.T, w watch.Interface, want ...string) {
	t.Helper()
	for _, line := range want {
		select {
		case e, ok := <-w.ResultChan():
			m, isObject := e.Object.(metav1.Object)
			if !ok || !isObject || fmt.Sprint(e.Type, " ", m.GetName()) != line {
				t.Fatalf("the watch sent %v %v, want %s", e.Type, e.Object, line)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the watch sent nothing, want %s", line)
		}
	}
}

func TestMetadataClient(t *testing.T) {
	overBoth(t, func(t *testing.T, _ *served, config *rest.Config) {
		ctx := timeout(t)
		typed, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		c, err := metadata.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		maps := c.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default")
		w, err := maps.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"x": "y"}}, Data: map[string]string{"k": "v"}}
		if _, err := typed.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := maps.Get(ctx, "a", metav1.GetOptions{})
		if err != nil || got.Labels["x"] != "y" {
			t.Errorf("get: %+v, %v", got, err)
		}
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "x=y"})
		if err != nil || len(list.Items) != 1 || list.ResourceVersion == "" {
			t.Errorf("list: %+v, %v", list, err)
		}
		if err := maps.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete: %v", err)
		}
		wantTypes(t, w, "ADDED a", "DELETED a")
	})
}

// A RetryWatcher delivers every event exactly once, whatever happens to its watches.
func TestRetryWatcher(t *testing.T) {
	overBoth(t, func(t *testing.T, s *served, config *rest.Config) {
		ctx := timeout(t)
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		maps := c.CoreV1().ConfigMaps("default")
		list, err := maps.List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := watchtools.NewRetryWatcher(list.ResourceVersion, &cache.ListWatch{
			WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
		})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		faults := []fault.Kind{fault.WatchEOF, fault.WatchReset, fault.WatchEOFInFrame, fault.WatchClose}
		for i := range 12 {
			name := fmt.Sprint("m", i)
			if i%3 == 1 {
				s.pump.Do(func() {
					if err := s.cluster.Inject(fault.Fault{Kind: faults[i/3], Resource: "configmaps"}); err != nil {
						t.Error(err)
					}
				})
			}
			if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			wantTypes(t, w, "ADDED "+name)
		}
	})
}

// client-go's informers sync and follow changes, with a watch-list too.
func TestSharedInformer(t *testing.T) {
	overBoth(t, func(t *testing.T, _ *served, config *rest.Config) {
		ctx := timeout(t)
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		maps := c.CoreV1().ConfigMaps("default")
		for i := range 20 {
			if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", i)}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		factory := informers.NewSharedInformerFactory(c, 0)
		informer := factory.Core().V1().ConfigMaps()
		lister := informer.Lister()
		factory.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
			t.Fatal("the informer did not sync")
		}
		if err := maps.Delete(ctx, "m3", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := lister.ConfigMaps("default").Get("m3"); err != nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatal("the informer did not see the deletion")
			}
			time.Sleep(time.Millisecond)
		}
		if n := len(informer.Informer().GetStore().ListKeys()); n != 19 {
			t.Errorf("the informer has %d objects, want 19", n)
		}
	})
}

// One of two candidates leads; when it releases the lease, the other takes over.
func TestLeaderElection(t *testing.T) {
	overBoth(t, func(t *testing.T, _ *served, config *rest.Config) {
		ctx := timeout(t)
		c, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var leaders []string
		led := make(chan string, 2)
		candidate := func(name string) context.CancelFunc {
			ctx, cancel := context.WithCancel(ctx)
			go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
				Lock: &resourcelock.LeaseLock{
					LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "leader"}, Client: c.CoordinationV1(),
					LockConfig: resourcelock.ResourceLockConfig{Identity: name},
				},
				ReleaseOnCancel: true, LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 100 * time.Millisecond,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) {
						mu.Lock()
						leaders = append(leaders, name)
						mu.Unlock()
						led <- name
					},
					OnStoppedLeading: func() {},
				},
			})
			return cancel
		}
		resign := map[string]context.CancelFunc{"a": candidate("a"), "b": candidate("b")}
		first := <-led
		resign[first]()
		select {
		case second := <-led:
			if second == first {
				t.Errorf("%s leads twice", first)
			}
			resign[second]()
		case <-ctx.Done():
			t.Fatal("no candidate took over")
		}
		mu.Lock()
		defer mu.Unlock()
		if len(leaders) != 2 {
			t.Errorf("leaders were %v", leaders)
		}
	})
}
