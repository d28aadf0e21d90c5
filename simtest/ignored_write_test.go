package simtest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// gauges have a status of their own.
const gauges = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Gauge, listKind: GaugeList, plural: gauges, singular: gauge}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {size: {type: integer}, paused: {type: boolean}}},
      status: {type: object, properties: {size: {type: integer}, observedGeneration: {type: integer}, phase: {type: string}, message: {type: string}, conditions: {type: array, items: {type: object, properties: {
        type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}, observedGeneration: {type: integer}}}}}}}}}
`

func gauge(size int64) *unstructured.Unstructured {
	return gaugeNamed("g", map[string]any{"size": size})
}

func gaugeNamed(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Gauge", "metadata": map[string]any{"namespace": "default", "name": name}, "spec": spec,
	}}
}

// measures is a controller of Gauges. write gets a copy of what is in its cache, and the size that its status should have.
func measures(env *simtest.Env, write func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error) {
	env.Go("measures", func(ctx context.Context) error {
		return eachOf(ctx, env, "measures", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
			size, _, _ := unstructured.NestedInt64(g.Object, "spec", "size")
			if has, _, _ := unstructured.NestedInt64(g.Object, "status", "size"); has == size {
				return nil
			}
			return write(ctx, gauges, g, size)
		})
	})
	env.Create(gauge(1))
	env.Advance(10 * time.Second)
	env.Update(gauge(2))
	env.Advance(10 * time.Second)
}

// eachOf reconciles the objects of a resource of example.dev, of each of which it gives a copy of what is in its cache.
func eachOf(ctx context.Context, env *simtest.Env, name, plural string, reconcile func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured) error) error {
	client := dynamic.NewForConfigOrDie(env.RESTConfig(name))
	gvr := schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: plural}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	return workOn(ctx, factory.ForResource(gvr).Informer(), factory.Start, func(obj any) error {
		return reconcile(ctx, client.Resource(gvr).Namespace("default"), obj.(*unstructured.Unstructured).DeepCopy())
	})
}

// set returns an object with a field set.
func set(g *unstructured.Unstructured, value any, path ...string) *unstructured.Unstructured {
	if err := unstructured.SetNestedField(g.Object, value, path...); err != nil {
		panic(err)
	}
	return g
}

// A write that the server accepts and ignores is found, whoever waits for what it was to change; and so is one that it refuses for ever, since it has no resourceVersion.
func TestNoIgnoredWrite(t *testing.T) {
	type writing = func(context.Context, dynamic.ResourceInterface, *unstructured.Unstructured, int64) error
	update := func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, subresources ...string) error {
		_, err := gauges.Update(ctx, g, metav1.UpdateOptions{}, subresources...)
		return err
	}
	patch := func(ctx context.Context, gauges dynamic.ResourceInterface, fields map[string]any, subresources ...string) error {
		body, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		_, err = gauges.Patch(ctx, "g", types.MergePatchType, body, metav1.PatchOptions{}, subresources...)
		return err
	}
	status := func(fields map[string]any) map[string]any { return map[string]any{"status": fields} }
	right := func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
		return update(ctx, gauges, set(g, size, "status", "size"), "status")
	}
	o := simtest.Options{Seeds: 6, CRDs: []string{gauges}, Properties: simtest.WellBehaved()}
	for name, c := range map[string]struct {
		property string
		parts    []string
		write    writing
	}{
		"the status through the resource": {simtest.NoIgnoredWrite, []string{"measures writes status.size of gauges default/g, and the server accepts that and ignores it, ", "it is to be 2, and is unset",
			"leaves the status as it is: send that to /status", "measures sends PUT /apis/example.dev/v1/namespaces/default/gauges/g with status.size = "},
			func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
				return update(ctx, gauges, set(g, size, "status", "size"))
			}},
		"a patch of the status, too": {simtest.NoIgnoredWrite, []string{"measures writes status.size of gauges default/g", "send that to /status", "measures sends PATCH "},
			func(ctx context.Context, gauges dynamic.ResourceInterface, _ *unstructured.Unstructured, size int64) error {
				return patch(ctx, gauges, status(map[string]any{"size": size}))
			}},
		"a label through the status": {simtest.NoIgnoredWrite, []string{`measures writes metadata.labels.measured of gauges default/g`, `it is to be "yes", and is unset`, "A write to /status changes the status only"},
			func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
				return update(ctx, gauges, set(set(g, size-1, "status", "size"), "yes", "metadata", "labels", "measured"), "status")
			}},
		"a field that the schema does not have": {simtest.NoIgnoredWrite, []string{"measures writes status.sizes of gauges default/g", "The schema of its CustomResourceDefinition does not have the field"},
			func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
				return update(ctx, gauges, set(g, size, "status", "sizes"), "status")
			}},
		"no resourceVersion": {simtest.NoEndlessError, []string{"measures writes gauges default/g/status without a resourceVersion, again and again: ", "No retry changes that", "must be specified for an update"},
			func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
				g.SetResourceVersion("")
				return right(ctx, gauges, g, size)
			}},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, o, func(env *simtest.Env) { measures(env, c.write) })
			if found == nil || found.Property != c.property || found.Seed != 1 {
				t.Fatalf("found %v", found)
			}
			wantIn(t, found.Text, append(c.parts, "because")...)
			e := simtest.Exception{Property: c.property, Client: "measures", Object: "gauges", Why: "the definition is of an older release"}
			o := o
			o.Seeds, o.Properties = 1, simtest.WellBehaved(e)
			if found := simtest.Find(t, o, func(env *simtest.Env) { measures(env, c.write) }); found != nil && found.Property == c.property {
				t.Errorf("found %v", found)
			}
		})
	}
	for name, write := range map[string]writing{
		"an update": right,
		"a patch": func(ctx context.Context, gauges dynamic.ResourceInterface, _ *unstructured.Unstructured, size int64) error {
			return patch(ctx, gauges, status(map[string]any{"size": size}), "status")
		},
		"what is only at hand is written later": func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured, size int64) error {
			if g.GetLabels()["measured"] != "yes" {
				return update(ctx, gauges, set(set(g, "yes", "metadata", "labels", "measured"), size, "status", "size"))
			}
			return right(ctx, gauges, set(g, int64(7), "spec", "size"), size)
		},
	} {
		t.Run("right: "+name, func(t *testing.T) {
			o := o
			o.Seeds = seeds(12)
			simtest.Run(t, o, func(env *simtest.Env) { measures(env, write) })
		})
	}
}

// accepts is a controller that says of each Service that it has seen it, in its status, which it sends to the resource itself or where it belongs.
func accepts(env *simtest.Env, protobuf bool, update func(services corev1client.ServiceInterface, s *corev1.Service) error) {
	env.Go("accepts", func(ctx context.Context) error {
		config := env.RESTConfig("accepts")
		if protobuf {
			config.ContentType = "application/vnd.kubernetes.protobuf"
		}
		queue, shutDown, err := newMapQueue(ctx, config, false)
		if err != nil {
			return err
		}
		defer shutDown()
		services := queue.factory.Core().V1().Services().Informer()
		add := func(obj any) {
			if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
				queue.Add(key)
			}
		}
		if _, err := services.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
			return err
		}
		queue.factory.Start(ctx.Done())
		queue.factory.WaitForCacheSync(ctx.Done())
		work(queue, func(key string) error {
			obj, exists, err := services.GetIndexer().GetByKey(key)
			if err != nil || !exists || len(obj.(*corev1.Service).Status.Conditions) > 0 {
				return err
			}
			s := obj.(*corev1.Service).DeepCopy()
			s.Status.Conditions = []metav1.Condition{{Type: "Seen", Status: metav1.ConditionTrue, Reason: "Seen", LastTransitionTime: metav1.Now().Rfc3339Copy()}}
			return update(queue.client.CoreV1().Services(s.Namespace), s)
		})
		return nil
	})
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	env.Create(s)
	env.Advance(10 * time.Second)
	for port := int32(81); port < 83; port++ {
		if env.Get(s) == nil {
			env.Mutate(s, func() { s.Spec.Ports[0].Port = port })
		}
		env.Advance(10 * time.Second)
	}
}

// The status of a built-in kind is ignored in the same way.
func TestNoIgnoredWriteOfStatus(t *testing.T) {
	ctx, o := context.Background(), simtest.Options{Seeds: 6, Properties: simtest.WellBehaved()}
	for _, protobuf := range []bool{false, true} {
		found := simtest.Find(t, o, func(env *simtest.Env) {
			accepts(env, protobuf, func(services corev1client.ServiceInterface, s *corev1.Service) error {
				_, err := services.Update(ctx, s, metav1.UpdateOptions{})
				return err
			})
		})
		if found == nil || found.Property != simtest.NoIgnoredWrite {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "accepts writes status.conditions of services default/s, and the server accepts that and ignores it, ", "leaves the status as it is: send that to /status", "accepts sends PUT /api/v1/namespaces/default/services/s with status.conditions = ", "because")
		o := o
		o.Seeds = seeds(12)
		simtest.Run(t, o, func(env *simtest.Env) {
			accepts(env, protobuf, func(services corev1client.ServiceInterface, s *corev1.Service) error {
				if s.Labels["seen"] == "" { // the status is only at hand
					s.Labels = map[string]string{"seen": "yes"}
					_, err := services.Update(ctx, s, metav1.UpdateOptions{})
					return err
				}
				_, err := services.UpdateStatus(ctx, s, metav1.UpdateOptions{})
				return err
			})
		})
	}
}
