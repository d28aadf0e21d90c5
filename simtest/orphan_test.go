package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// slowly gives each ConfigMap a Secret that it owns, in a reconcile that waits for something in between.
func slowly(ctx context.Context, config *rest.Config, tell func(key string) func(error), wait func(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	added := make(chan *corev1.ConfigMap)
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		select {
		case added <- obj.(*corev1.ConfigMap):
		case <-ctx.Done():
		}
	}})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-added:
			end := tell("configmaps " + m.Namespace + "/" + m.Name)
			wait(ctx, client, factory)
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
			_, err := client.CoreV1().Secrets(m.Namespace).Create(ctx, s, metav1.CreateOptions{})
			end(err)
		}
	}
}

// A reconcile that began before its owner's end was told, and has waited since then, does not know of it, however long ago that was.
func TestNoOrphanSparesReconcilesUnderWay(t *testing.T) {
	lasting := fault.Fault{Target: "slowly", Resource: "secrets", Kind: fault.List500, Count: fault.Lasting}
	long := fault.Fault{Target: "slowly", Resource: "nodes", Kind: fault.WriteSlow, Duration: 2 * time.Minute}
	for name, test := range map[string]struct {
		faults []fault.Fault
		told   bool
		wait   func(ctx context.Context, client kubernetes.Interface, factory informers.SharedInformerFactory)
		found  string
	}{
		"for a cache": {faults: []fault.Fault{lasting}, wait: func(ctx context.Context, _ kubernetes.Interface, factory informers.SharedInformerFactory) {
			i := factory.Core().V1().Secrets().Informer()
			factory.Start(ctx.Done())
			cache.WaitForCacheSync(ctx.Done(), i.HasSynced)
		}},
		"for an answer": {faults: []fault.Fault{long}, wait: func(ctx context.Context, client kubernetes.Interface, _ informers.SharedInformerFactory) {
			for _, name := range []string{"n1", "n2"} {
				_, _ = client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			}
		}},
		"for what only it knows": {told: true, wait: func(context.Context, kubernetes.Interface, informers.SharedInformerFactory) {
			time.Sleep(2 * time.Minute)
		}},
		"for what only it knows, and nobody tells of it": {found: simtest.NoOrphan, wait: func(context.Context, kubernetes.Interface, informers.SharedInformerFactory) {
			time.Sleep(2 * time.Minute)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Mix: "none", Seeds: 3, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, func(env *simtest.Env) {
				tell := func(string) func(error) { return func(error) {} }
				if test.told {
					tell = func(key string) func(error) { return env.Reconciling("slowly", key) }
				}
				env.Go("slowly", func(ctx context.Context) error { return slowly(ctx, env.RESTConfig("slowly"), tell, test.wait) })
				env.Inject(test.faults...)
				env.Create(configMap("a", ""))
				env.Advance(10 * time.Second)
				env.Delete(configMap("a", ""))
				env.Advance(90 * time.Second)
				env.StopFaults()
				env.Advance(time.Minute)
				var made corev1.SecretList
				if err := env.List(&made, "default"); err != nil || len(made.Items) != 1 {
					t.Errorf("there are %d Secrets, %v", len(made.Items), err)
				}
			})
			if got := ""; found != nil && found.Property != test.found || found == nil && got != test.found {
				t.Errorf("found %v, want %q", found, test.found)
			}
		})
	}
}
