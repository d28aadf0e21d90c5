package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

var (
	definitions     = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	gizmoDefinition = strings.NewReplacer("gadget", "gizmo", "Gadget", "Gizmo").Replace(gadgets)
	gizmos          = schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "gizmos"}
)

// established reports whether a CustomResourceDefinition is served.
func established(d *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(d.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Established" && m["status"] == "True"
	})
}

func gizmo(name string, size any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Gizmo", "metadata": map[string]any{"namespace": "default", "name": name}, "spec": map[string]any{"size": size},
	}}
}

// The definitions of the options are objects, and established. One that the program creates is served once it is established, to watches and the
// helpers, too, by its schema; when that changes, by the new one. When it is deleted, its objects are gone.
func TestServeCRDs(t *testing.T) {
	o := simtest.Options{Seeds: 10, Mix: "none", Replicas: 2, Verify: true, CRDs: []string{gadgets}, ServeCRDs: true}
	simtest.Run(t, o, func(env *simtest.Env) {
		ctx, config := env.Context(), env.RESTConfig("me")
		c := dynamic.NewForConfigOrDie(config)
		eventually := func(what string, check func() error) { env.Eventually(what, 10*time.Minute, check) }
		served := func(gvr schema.GroupVersionResource) bool {
			all, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerResourcesForGroupVersion(gvr.GroupVersion().String())
			return err == nil && slices.ContainsFunc(all.APIResources, func(r metav1.APIResource) bool { return r.Name == gvr.Resource })
		}
		list, err := c.Resource(definitions).List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 || list.Items[0].GetName() != "gadgets.example.dev" || !established(&list.Items[0]) {
			t.Errorf("at the start: %v, %v", list, err)
		}
		if _, err := c.Resource(gizmos).Namespace("default").Create(ctx, gizmo("g", int64(1)), metav1.CreateOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("of a kind without a definition: %v", err)
		}

		env.Apply(gizmoDefinition)
		eventually("it is established", func() error {
			d, err := c.Resource(definitions).Get(ctx, "gizmos.example.dev", metav1.GetOptions{})
			if err == nil && !established(d) {
				err = errors.New("it is not")
			}
			return err
		})
		if !served(gizmos) {
			t.Error("discovery does not have the new kind")
		}
		if _, err := c.Resource(gizmos).Namespace("default").Create(ctx, gizmo("g", int64(1)), metav1.CreateOptions{}); err != nil {
			t.Errorf("of the new kind: %v", err)
		}
		if _, err := c.Resource(gizmos).Namespace("default").Create(ctx, gizmo("bad", "big"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("against the schema: %v", err)
		}
		if err := env.Get(gizmo("g", nil)); err != nil {
			t.Error(err)
		}

		env.Apply(strings.Replace(gizmoDefinition, "size: {type: integer}", "size: {type: string}", 1))
		eventually("the new schema holds", func() error {
			_, err := c.Resource(gizmos).Namespace("default").Create(ctx, gizmo("s", "big"), metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				err = nil
			}
			return err
		})
		if got := gizmo("s", nil); env.Get(got) != nil || fmt.Sprint(got.Object["spec"]) != "map[size:big]" {
			t.Errorf("by the new schema: %v", got)
		}

		if err := c.Resource(definitions).Delete(ctx, "gizmos.example.dev", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		eventually("its kind is gone", func() error {
			if _, err := c.Resource(gizmos).List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("the list answers %v", err)
			}
			return nil
		})
		if served(gizmos) {
			t.Error("discovery still has the kind")
		}
		if err := env.Get(gizmo("g", nil)); err == nil {
			t.Error("an object of a kind that is gone is there")
		}
	})
}

// An informer of a kind whose definition comes later has its objects in the end, whatever faults there are.
func TestInformerBeforeItsDefinition(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, ServeCRDs: true}, func(env *simtest.Env) {
		var cached cache.Store
		env.Go("informer", func(ctx context.Context) error {
			factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(env.RESTConfig("informer")), 0)
			informer := factory.ForResource(gizmos).Informer()
			cached = informer.GetStore()
			informer.Run(ctx.Done())
			return nil
		})
		env.Advance(time.Minute)
		env.Apply(gizmoDefinition)
		env.Eventually("it is established", time.Hour, func() error {
			d := &unstructured.Unstructured{}
			d.SetAPIVersion("apiextensions.k8s.io/v1")
			d.SetKind("CustomResourceDefinition")
			d.SetName("gizmos.example.dev")
			if err := env.Get(d); err != nil || !established(d) {
				return fmt.Errorf("%v, %v", d.Object["status"], err)
			}
			return nil
		})
		env.Create(gizmo("g", int64(1)))
		env.Eventually("it is in the cache", time.Hour, func() error {
			if keys := cached.ListKeys(); !slices.Equal(keys, []string{"default/g"}) {
				return fmt.Errorf("the cache has %v", keys)
			}
			return nil
		})
	})
}

// Without the option they are no objects, and the helpers say which option it is.
func TestDefinitionsAreNoObjects(t *testing.T) {
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Apply(gizmoDefinition) }), "is not served: set Options.ServeCRDs")
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", CRDs: []string{gadgets}}, func(env *simtest.Env) {
		_, err := dynamic.NewForConfigOrDie(env.RESTConfig("me")).Resource(definitions).List(env.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("a list answers %v", err)
		}
	})
}
