package simtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// addresses is a controller that puts addresses of its own into a list of a Service that others write, too, by the Service's label: a patch of one kind or another, computed from its cache.
func addresses(ctx context.Context, config *rest.Config, how string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	wake := make(chan struct{}, 1)
	wakeUp := func(any) {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	if _, err := factory.Core().V1().Services().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: wakeUp, UpdateFunc: func(_, obj any) { wakeUp(obj) }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
		s, err := factory.Core().V1().Services().Lister().Services("default").Get("a")
		if err != nil {
			continue
		}
		list, finalizers, mine := s.Spec.ExternalIPs, s.Finalizers, "192.0.2."+s.Labels["n"]
		if s.Labels["n"] == "" || slices.Contains(list, mine) {
			continue
		}
		whole := append(slices.Clone(list), mine)
		merge := func(metadata map[string]any) any {
			return map[string]any{"metadata": metadata, "spec": map[string]any{"externalIPs": whole}}
		}
		op := func(op, path string, value any) any { return map[string]any{"op": op, "path": path, "value": value} }
		kind, body := types.MergePatchType, merge(map[string]any{})
		switch how {
		case "strategic":
			kind = types.StrategicMergePatchType
		case "merge, with a resourceVersion":
			body = merge(map[string]any{"resourceVersion": s.ResourceVersion})
		case "json":
			kind, body = types.JSONPatchType, []any{op("add", "/spec/externalIPs", whole)}
		case "json, with a test":
			kind, body = types.JSONPatchType, []any{op("test", "/spec/externalIPs", list), op("add", "/spec/externalIPs", whole)}
		case "json, one":
			kind, body = types.JSONPatchType, []any{op("add", "/spec/externalIPs/-", mine)}
		case "rules":
			body = map[string]any{"spec": map[string]any{"externalIPs": []string{mine}}}
		case "finalizer":
			own := "example.com/n" + s.Labels["n"]
			if slices.Contains(finalizers, own) {
				continue
			}
			body = map[string]any{"metadata": map[string]any{"finalizers": append(slices.Clone(finalizers), own)}}
		}
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		if _, err := client.CoreV1().Services("default").Patch(ctx, "a", kind, data, metav1.PatchOptions{}); err != nil {
			time.AfterFunc(time.Second, func() { wakeUp(nil) })
		}
	}
}

// A patch that replaces a list takes back what others have put into it since the cache was filled. One that is refused if it is late does not, nor does one that adds an
// element; and who says what all of the list is to be may.
func TestNoLostElement(t *testing.T) {
	o := simtest.Options{Properties: just(simtest.NoLostUpdate)}
	for how, list := range map[string]string{
		"merge": "spec.externalIPs", "strategic": "spec.externalIPs", "json": "spec.externalIPs", "finalizer": "metadata.finalizers",
		"merge, with a resourceVersion": "", "json, with a test": "", "json, one": "", "rules": "",
	} {
		t.Run(how, func(t *testing.T) {
			f := simtest.Find(t, o, func(env *simtest.Env) {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.ServiceSpec{
					Ports: []corev1.ServicePort{{Port: 80}}, ExternalIPs: []string{"198.51.100.1"}, Selector: map[string]string{"app": "a"}}}
				env.Create(s)
				env.Go("addresses", func(ctx context.Context) error { return addresses(ctx, env.RESTConfig("addresses"), how) })
				for n := range 12 {
					if env.Get(s) == nil {
						env.Mutate(s, func() {
							s.Labels = map[string]string{"n": fmt.Sprint(n / 2)}
							s.Spec.ExternalIPs = append(s.Spec.ExternalIPs, fmt.Sprintf("203.0.113.%d", n))
							s.Finalizers = append(s.Finalizers, fmt.Sprintf("example.com/other%d", n))
						})
					}
					env.Advance(time.Duration(env.Rand().IntN(3000)) * time.Millisecond)
				}
			})
			switch {
			case f == nil && list != "":
				t.Error("not found")
			case f != nil && list == "":
				t.Errorf("found:\n%s", f)
			case f != nil:
				wantIn(t, f.Text, "FAIL  NoLostUpdate", "takes back what workload has written: it has put ", " into the list "+list+" of services default/a, and that is not there any more",
					"has neither a resourceVersion nor a test", ", which has been told of services up to RV ", "because step ", ": workload has put ")
				t.Logf("seed %d: %s", f.Seed, f.Message)
			}
		})
	}
}

// An update without a resourceVersion replaces lists, too: also one to which it has something to add itself, so that no field is as it was before.
func TestNoLostElementOfUpdate(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none", Properties: simtest.WellBehaved()}
	for _, test := range []struct{ version, found bool }{{false, true}, {true, false}} {
		f := simtest.Find(t, o, func(env *simtest.Env) {
			env.Create(configMap("a", ""))
			env.Go("holds", func(ctx context.Context) error {
				client, err := kubernetes.NewForConfig(env.RESTConfig("holds"))
				if err != nil {
					return err
				}
				maps := client.CoreV1().ConfigMaps("default")
				for ctx.Err() == nil {
					m, err := maps.Get(ctx, "a", metav1.GetOptions{})
					if err != nil {
						return err
					}
					if slices.Contains(m.Finalizers, "example.com/mine") {
						break
					}
					m.Finalizers = append(m.Finalizers, "example.com/mine")
					if !test.version {
						m.ResourceVersion = ""
					}
					time.Sleep(2 * time.Second)
					if _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); err == nil {
						break
					}
				}
				<-ctx.Done()
				return nil
			})
			env.Advance(time.Second)
			m := configMap("a", "")
			env.Mutate(m, func() { m.Finalizers = append(m.Finalizers, "example.com/other") })
			env.Advance(time.Minute)
		})
		switch {
		case (f != nil) != test.found:
			t.Errorf("with a resourceVersion: %v; found %v", test.version, f)
		case f != nil:
			wantIn(t, f.Text, "FAIL  NoLostUpdate", `holds takes back what workload has written: it has put "example.com/other" into the list metadata.finalizers of configmaps default/a, and that is not there any more. `+
				`The update of holds replaces what it has not seen, and has no resourceVersion, with which the server would have refused it`)
		}
	}
}

// protects is a controller that lets go of ConfigMaps that are deleted: it removes its finalizer by where its cache has it in the list, some time after it has looked.
func protects(ctx context.Context, config *rest.Config, how string) error {
	const own = "example.com/own"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	work(queue, func(key string) error {
		obj, is, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !is {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		at := slices.Index(m.Finalizers, own)
		if m.DeletionTimestamp == nil || at < 0 {
			return nil
		}
		path := fmt.Sprintf("/metadata/finalizers/%d", at)
		ops := []map[string]any{{"op": "remove", "path": path}}
		switch how {
		case "with a test":
			ops = append([]map[string]any{{"op": "test", "path": path, "value": own}}, ops...)
		case "as read": // live, and at once
			live, err := client.CoreV1().ConfigMaps(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if at = slices.Index(live.Finalizers, own); at < 0 {
				return nil
			}
			ops[0]["path"] = fmt.Sprintf("/metadata/finalizers/%d", at)
		}
		data, err := json.Marshal(ops)
		if err != nil {
			return err
		}
		_, err = client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.JSONPatchType, data, metav1.PatchOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return nil
}

// An element that a JSON patch removes by its index is another one, once somebody has taken out one before it.
func TestNoLostElementByIndex(t *testing.T) {
	o := simtest.Options{Mix: "none", Seeds: 40, Properties: just(simtest.NoLostUpdate)}
	for how, want := range map[string]bool{"by index": true, "with a test": false, "as read": false} {
		t.Run(how, func(t *testing.T) {
			if how == "as read" { // what is read live is late only if somebody writes between the two requests
				o.Seeds = 8
			}
			f := simtest.Find(t, o, func(env *simtest.Env) {
				env.Go("protects", func(ctx context.Context) error { return protects(ctx, env.RESTConfig("protects"), how) })
				for n := range 6 {
					m := configMap(fmt.Sprint("m", n), "")
					m.Finalizers = []string{"example.com/first", "example.com/own", "example.com/third"}
					env.Create(m)
					env.Advance(5 * time.Second)
					env.Delete(m)
					if how == "as read" {
						env.Advance(5 * time.Second)
					}
					for _, f := range []string{"example.com/first", "example.com/third"} {
						if env.Get(m) == nil && slices.Contains(m.Finalizers, f) {
							env.Mutate(m, func() { m.Finalizers = slices.DeleteFunc(m.Finalizers, func(s string) bool { return s == f }) })
						}
						env.Advance(10 * time.Second)
					}
				}
			})
			if (f != nil) != want {
				t.Fatalf("found: %v", f)
			}
			if want {
				wantIn(t, f.Text, "FAIL  NoLostUpdate", `protects takes "example.com/third" out of the list metadata.finalizers of configmaps default/m`, "means element 1 of the list",
					`workload has taken "example.com/first" out of metadata.finalizers`, `"example.com/own"`, "neither a resourceVersion nor a test")
			}
		})
	}
}
