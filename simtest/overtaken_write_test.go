package simtest_test

import (
	"context"
	"maps"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// marksBody has a controller mark each ConfigMap with its value. It hears of changes of values only, as many hear of those of a generation, and if it asks for them of labels. conflicts says what it makes of a conflict.
func marksBody(labels bool, conflicts func(error) error) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("marks", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("marks"), false)
			if err != nil {
				return err
			}
			defer shutDown()
			queue.deaf.Store(true)
			if _, err := queue.maps.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(old, obj any) {
				if was, m := old.(*corev1.ConfigMap), obj.(*corev1.ConfigMap); was.UID != m.UID || !maps.Equal(was.Data, m.Data) || labels && !maps.Equal(was.Labels, m.Labels) {
					queue.Add(m.Namespace + "/" + m.Name)
				}
			}}); err != nil {
				return err
			}
			queue.factory.WaitForCacheSync(ctx.Done())
			work(queue, func(key string) error {
				obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
				if err != nil || !exists || obj.(*corev1.ConfigMap).Labels["marked"] == obj.(*corev1.ConfigMap).Data["v"] {
					return err
				}
				m := obj.(*corev1.ConfigMap).DeepCopy()
				m.Labels = map[string]string{"marked": m.Data["v"]}
				_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
				if apierrors.IsConflict(err) {
					return conflicts(err)
				}
				return err
			})
			return nil
		})
		for n := range 6 {
			env.Create(configMap("m"+string(rune('0'+n)), "a"))
			env.Advance(10 * time.Second)
		}
	}
}

// Who takes a conflict for another's affair, because a change is on its way that it will hear of, waits for ever if it hears of no such change.
func TestSwallowedConflictIsFound(t *testing.T) {
	o := simtest.Options{Seeds: 32, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, marksBody(false, func(error) error { return nil }))
	if found == nil {
		t.Fatal("found nothing")
	}
	wantIn(t, found.Text, "QuietAfterRestart", "marks", string(fault.WriteOvertaken), "Conflict")
	simtest.Run(t, simtest.Options{Seeds: seeds(40), Properties: simtest.WellBehaved()}, marksBody(false, func(err error) error { return err }))
}

// It is found, too, by a write that is undone, if that is what the controller hears of.
func TestSwallowedConflictIsProbed(t *testing.T) {
	o := simtest.Options{Seeds: 4, CrashProbability: 1e-12, FaultMix: &fault.Mix{Name: "hardly", Rates: map[string]float64{string(fault.WriteOvertaken): 1e-12}}, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, marksBody(true, func(error) error { return nil }))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "marks changes metadata.labels.marked of configmaps default/m", "409 Conflict", "was not tried again")
	simtest.Run(t, o, marksBody(true, func(err error) error { return err }))
}

// A test can order it: what goes by the resourceVersion that it has read gets a conflict, everything else is done, and nothing but the resourceVersion is new.
func TestWriteOvertaken(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 2, Mix: "none"}, func(env *simtest.Env) {
		client, err := kubernetes.NewForConfig(env.RESTConfig("writer"))
		if err != nil {
			panic(err)
		}
		writes, ctx := client.CoreV1().ConfigMaps("default"), env.Context()
		overtaken := func() { // one of two writes gets through
			if _, err := writes.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "other-"}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			env.Inject(fault.Fault{Kind: fault.WriteOvertaken, Target: "writer"})
		}
		overtaken()
		read, err := writes.Create(ctx, configMap("m", "a"), metav1.CreateOptions{}) // there is nothing to overtake
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writes.Update(ctx, read, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("an update: %v", err)
		}
		now, err := writes.Get(ctx, "m", metav1.GetOptions{})
		if err != nil || now.ResourceVersion == read.ResourceVersion {
			t.Errorf("after it: %v, %v", now, err)
		}
		now.ManagedFields, read.ManagedFields, read.ResourceVersion = nil, nil, now.ResourceVersion
		if !reflect.DeepEqual(now, read) {
			t.Errorf("after it, there is %v, not %v", now, read)
		}
		overtaken()
		if _, err := writes.Patch(ctx, "m", types.MergePatchType, []byte(`{"data":{"v":"b"}}`), metav1.PatchOptions{}); err != nil {
			t.Errorf("a patch: %v", err)
		}
		overtaken()
		if _, err := writes.Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+now.ResourceVersion+`"},"data":{"v":"c"}}`), metav1.PatchOptions{}); !apierrors.IsConflict(err) {
			t.Errorf("a patch of what it has read: %v", err)
		}
		overtaken()
		if err := writes.Delete(ctx, "m", metav1.DeleteOptions{}); err != nil {
			t.Errorf("a delete: %v", err)
		}
	})
}

// Who writes an object twice whenever it tries, first as it is and then its status, may have the one get through and the other overtaken each time. It hears of that at once, and tries again: if there were no end to it, no time would pass, and it would be
// taken for a hot loop, though it puts off what fails.
func TestTwoWritesGetThrough(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: seeds(32), Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Go("observes", func(ctx context.Context) error { return observe(ctx, env.RESTConfig("observes")) })
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "image"}}
		env.Create(d)
		env.Advance(time.Minute)
	})
}

// observe notes in each Deployment's status which generation there is, after it has sent the Deployment as it is.
func observe(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	return workOn(ctx, factory.Apps().V1().Deployments().Informer(), factory.Start, func(obj any) error {
		d := obj.(*appsv1.Deployment).DeepCopy()
		writes := client.AppsV1().Deployments(d.Namespace)
		if d, err = writes.Update(ctx, d, metav1.UpdateOptions{}); err != nil || d.Status.ObservedGeneration == d.Generation {
			return err
		}
		d.Status.ObservedGeneration = d.Generation
		_, err = writes.UpdateStatus(ctx, d, metav1.UpdateOptions{})
		return err
	})
}
