package simtest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
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

// A child that its controller makes again for an owner that lives on as it was has that as its owner again: without it, it is left when that goes. The run deletes children to see.
func TestNoOrphanOfWhatIsMadeAgain(t *testing.T) {
	gives := func(way string) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("gives", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("gives"), false)
				if err != nil {
					return err
				}
				defer shutDown()
				secrets, err := queue.watchSecrets(ctx, func(s *corev1.Secret) { queue.Add(s.Namespace + "/" + s.Name) })
				if err != nil {
					return err
				}
				api, known := queue.client.CoreV1().Secrets("default"), map[string]bool{}
				work(queue, func(key string) error {
					obj, wanted, err := queue.maps.GetIndexer().GetByKey(key)
					if err != nil || !wanted {
						return err
					}
					m := obj.(*corev1.ConfigMap)
					owners := []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
					s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name}}
					at := slices.IndexFunc(secrets(), func(s *corev1.Secret) bool { return s.Name == m.Name })
					switch {
					case at >= 0 && len(secrets()[at].OwnerReferences) == 0 && way == "in a request of its own":
						s = secrets()[at].DeepCopy()
						s.OwnerReferences = owners
						_, err = api.Update(ctx, s, metav1.UpdateOptions{})
						return err
					case at >= 0:
						known[key] = true
						return nil
					case way == "as it was", (way == "forgotten" || way == "in a request of its own") && !known[key], way == "as the owner says" && m.Annotations["keep"] == "":
						s.OwnerReferences = owners
					}
					if _, err = api.Create(ctx, s, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
						return nil
					}
					return err
				})
				return nil
			})
			env.Create(configMap("a", ""))
			env.Advance(time.Minute)
			if way == "as the owner says" {
				env.Patch(configMap("a", ""), types.MergePatchType, `{"metadata": {"annotations": {"keep": "true"}}}`)
				env.Advance(time.Minute)
				env.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
				env.Advance(time.Minute)
			}
		}
	}
	o := simtest.Options{Seeds: seeds(8), Properties: simtest.WellBehaved()}
	for _, way := range []string{"as it was", "in a request of its own", "as the owner says"} {
		t.Run(way, func(t *testing.T) { simtest.Run(t, o, gives(way)) })
	}
	t.Run("forgotten", func(t *testing.T) {
		for _, o := range []simtest.Options{{Properties: simtest.WellBehaved()}, {Properties: simtest.WellBehaved(), Mix: "none"}, {Properties: just(simtest.NoOrphan)}} {
			o.Seeds = 10
			found := simtest.Find(t, o, gives("forgotten"))
			if found == nil || found.Property != simtest.NoOrphan {
				t.Fatalf("mix %q, %d properties: found %v", o.Mix, len(o.Properties), found)
			}
			wantIn(t, found.Text, "gives has made secrets default/a again without an owner", "gives makes secrets default/a for ConfigMap a", "secrets default/a is gone")
		}
	})
}

// Of Jobs an apiserver takes nothing along by default: who deletes one and does not say what becomes of its Pods leaves them.
func TestNoOrphanOfAJob(t *testing.T) {
	orphan, background := metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground
	for how, test := range map[string]struct {
		options metav1.DeleteOptions
		sweeps  bool
		found   bool
	}{
		"by default":        {found: true},
		"in the background": {options: metav1.DeleteOptions{PropagationPolicy: &background}},
		"on purpose":        {options: metav1.DeleteOptions{PropagationPolicy: &orphan}},
		"and its Pods":      {sweeps: true},
	} {
		t.Run(how, func(t *testing.T) {
			o := simtest.Options{Seeds: 3, GarbageCollection: true, Properties: simtest.WellBehaved()}
			f := simtest.Find(t, o, func(env *simtest.Env) {
				env.Go("cleans", func(ctx context.Context) error {
					client, err := kubernetes.NewForConfig(env.RESTConfig("cleans"))
					if err != nil {
						return err
					}
					for ctx.Err() == nil {
						time.Sleep(10 * time.Second)
						jobs, err := client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{LabelSelector: "over=true"})
						if err != nil {
							continue
						}
						for _, j := range jobs.Items {
							if j.DeletionTimestamp == nil {
								_ = client.BatchV1().Jobs("default").Delete(ctx, j.Name, test.options)
							}
						}
						pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
						if err != nil || !test.sweeps {
							continue
						}
						for _, p := range pods.Items {
							if len(p.OwnerReferences) == 0 {
								_ = client.CoreV1().Pods("default").Delete(ctx, p.Name, metav1.DeleteOptions{})
							}
						}
					}
					return nil
				})
				j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j"}, Spec: batchv1.JobSpec{Template: template("j", "a:1")}}
				j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
				env.Create(j)
				p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "j-1"}, Spec: j.Spec.Template.Spec}
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(j, batchv1.SchemeGroupVersion.WithKind("Job"))}
				env.Create(p)
				env.Advance(time.Minute)
				env.Mutate(j, func() { j.Labels = map[string]string{"over": "true"} })
				env.Advance(time.Minute)
			})
			if (f != nil) != test.found {
				t.Fatalf("found: %v", f)
			}
			if test.found {
				wantIn(t, f.Text, "FAIL  NoOrphan", "pods default/j-1 is left without an owner: cleans has deleted jobs default/j, which owned it, and has not said what is to become of its Pods",
					"PropagationPolicy Background", "cleans sends DELETE /apis/batch/v1/namespaces/default/jobs/j", "the garbage collector takes the owner reference out of pods default/j-1")
			}
		})
	}
}
