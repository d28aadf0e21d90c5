package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

const tokenFinalizer = "example.com/token"

// tokens is a controller: each ConfigMap has a finalizer, a Secret that it owns, and the Secret's kind in its data. The mistake is what is wrong
// with it.
type tokens struct {
	mistake string
	client  kubernetes.Interface
	maps    informers.SharedInformerFactory
	wake    chan struct{}
	met     map[types.UID]*corev1.ConfigMap // of "remembers": the ConfigMaps there ever were
	period  time.Duration
}

func (c *tokens) run(ctx context.Context, config *rest.Config) (err error) {
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	c.wake, c.met = make(chan struct{}, 1), map[types.UID]*corev1.ConfigMap{}
	c.maps = informers.NewSharedInformerFactory(c.client, 0)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.wakeUp() }, UpdateFunc: func(any, any) { c.wakeUp() }, DeleteFunc: func(any) { c.wakeUp() },
	}
	for _, i := range []cache.SharedIndexInformer{c.maps.Core().V1().ConfigMaps().Informer(), c.maps.Core().V1().Secrets().Informer()} {
		if _, err := i.AddEventHandler(handler); err != nil {
			return err
		}
	}
	c.maps.Start(ctx.Done())
	defer c.maps.Shutdown()
	for _, synced := range c.maps.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return ctx.Err()
		}
	}
	if c.period == 0 {
		c.period = 10 * time.Second
	}
	wake := c.wake
	if strings.HasPrefix(c.mistake, "fights") {
		wake = nil // a war without a pause would keep time from passing
	}
	for tick := time.NewTicker(c.period); ; {
		all, err := c.maps.Core().V1().ConfigMaps().Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range all {
			c.met[m.UID] = m
			_ = c.reconcile(ctx, m.DeepCopy()) // again with the next tick
		}
		for _, m := range c.met {
			if _, err := c.maps.Core().V1().ConfigMaps().Lister().ConfigMaps(m.Namespace).Get(m.Name); c.mistake == "remembers" && err != nil {
				_ = c.child(ctx, m)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-wake:
		}
	}
}

func (c *tokens) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *tokens) reconcile(ctx context.Context, m *corev1.ConfigMap) error {
	maps := c.client.CoreV1().ConfigMaps(m.Namespace)
	update := func() error { _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); return err }
	held := slices.Contains(m.Finalizers, tokenFinalizer)
	switch {
	case m.DeletionTimestamp != nil && held && c.mistake != "keeps":
		m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == tokenFinalizer })
		return update()
	case m.DeletionTimestamp != nil:
		return nil
	case !held && c.mistake != "remembers":
		m.Finalizers = append(m.Finalizers, tokenFinalizer)
		return update()
	}
	if err := c.child(ctx, m); err != nil {
		return err
	}
	mine := "token"
	if kind, is := strings.CutPrefix(c.mistake, "fights as "); is {
		mine = kind
	}
	if m.Data["kind"] != mine || c.mistake == "repeats" {
		m.Data = map[string]string{"kind": mine}
		return update()
	}
	if now := time.Now().Format(time.RFC3339); c.mistake == "stamps" && m.Annotations["seen"] != now {
		m.Annotations = map[string]string{"seen": now}
		return update()
	}
	if seen, _ := time.Parse(time.RFC3339, m.Annotations["seen"]); c.mistake == "counts" && time.Since(seen) > time.Minute {
		m.Annotations = map[string]string{"seen": time.Now().Format(time.RFC3339)}
		return update()
	}
	return nil
}

// child makes a ConfigMap's Secret if there is none.
func (c *tokens) child(ctx context.Context, m *corev1.ConfigMap) error {
	secrets, err := c.maps.Core().V1().Secrets().Lister().Secrets(m.Namespace).List(labels.Everything())
	if err != nil || slices.ContainsFunc(secrets, func(s *corev1.Secret) bool { return metav1.IsControlledBy(s, m) }) {
		return err
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name + "-token", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
	}}}
	if c.mistake == "draws names" {
		s.Name, s.GenerateName = "", m.Name+"-"
	}
	if _, err = c.client.CoreV1().Secrets(m.Namespace).Create(ctx, s, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		return nil // the cache is late, or it is another's
	}
	return err
}

// tokensBody runs controllers with these mistakes, one process each, and has a ConfigMap come and go.
func tokensBody(mistakes ...string) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		for n, mistake := range mistakes {
			name := fmt.Sprintf("tokens-%d", n)
			c := &tokens{mistake: mistake}
			switch mistake {
			case "repeats":
				c.period = 300 * time.Millisecond
			case "stamps":
				c.period = 24 * time.Hour // it reconciles when something has changed
			}
			env.Go(name, func(ctx context.Context) error { return c.run(ctx, env.RESTConfig(name)) })
		}
		env.Create(configMap("a", ""), configMap("b", ""))
		env.Advance(20 * time.Second)
		env.Mutate(configMap("b", ""), func() {})
		env.Delete(configMap("b", ""))
		env.Advance(time.Minute)
		if s := (&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b-token"}}); env.Get(s) == nil {
			env.Delete(s) // there is no garbage collector
		}
		env.Advance(2 * time.Minute)
	}
}

// Each property of WellBehaved is broken by a controller with one mistake, and by no other; the report says which reads and writes prove it.
func TestWellBehaved(t *testing.T) {
	for _, test := range []struct {
		property string
		mistakes []string
		says     []string
	}{
		{simtest.NoHotReconcile, []string{"repeats"}, []string{"tokens-0 sends PUT /api/v1/namespaces/default/configmaps/a 91 times within ", "it is sent, and nothing changes from then on"}},
		{simtest.NoWriteWar, []string{"fights as red", "fights as blue"}, []string{
			"data.kind of configmaps default/", `tokens-0 writes data.kind: "red"`, `tokens-1 writes data.kind: "blue"`}},
		{simtest.NoStaleCreate, []string{"draws names"}, []string{"tokens-0 has made secrets default/", "which asks for one: at the second it had ", "what tokens-0 knows of secrets when it creates the second",
			"equal but for its name", ": fault ", "tokens-0 is told of secrets default/"}},
		{simtest.QuietAfterConvergence, []string{"counts"}, []string{"tokens-0 changes metadata.annotations.seen of configmaps default/a for the 3rd time since "}},
		{simtest.QuietAfterConvergence, []string{"stamps"}, []string{"tokens-0 changes metadata.annotations.seen of configmaps default/a for the 3rd time since "}},
		{simtest.NoFinalizerLeft, []string{"keeps"}, []string{"configmaps default/b is still there, ", `its finalizer "example.com/token" is tokens-0's, which runs`, "is to be deleted, and has the finalizers example.com/token",
			"tokens-0 is told that it is being deleted"}},
		{simtest.NoOrphan, []string{"remembers"}, []string{"tokens-0 makes secrets default/b-token for an owner that is gone: configmaps default/b, as it has known for ",
			"tokens-0 is told that it is gone", "tokens-0 sends POST /api/v1/namespaces/default/secrets"}},
	} {
		t.Run(test.property+" "+test.mistakes[0], func(t *testing.T) {
			o := simtest.Options{Seeds: 60, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, tokensBody(test.mistakes...))
			if found == nil || found.Property != test.property {
				t.Fatalf("found %v", found)
			}
			t.Logf("seed %d", found.Seed)
			wantIn(t, found.Text, append(test.says, "because")...)
			if testing.Short() {
				return
			}
			o.Seeds = 6
			except := []simtest.Exception{{Property: test.property, Why: "to see whether another one is broken"}}
			if test.mistakes[0] == "stamps" {
				except = append(except, simtest.Exception{Property: simtest.NoAbandonedWrite, Why: "its next tick is a day later"})
			}
			switch test.property {
			case simtest.NoHotReconcile:
				o.Seeds = 1 // it makes many steps
			case simtest.NoWriteWar:
				o.Seeds = 2 // a war, too
				except = append(except, simtest.Exception{Property: simtest.QuietAfterConvergence, Why: "a war does not come to rest"})
			}
			o.Properties = simtest.WellBehaved(except...)
			if found := simtest.Find(t, o, tokensBody(test.mistakes...)); found != nil {
				t.Errorf("another one is broken, too: %v", found)
			}
		})
	}
}

// A correct controller breaks none of them, alone or with a second one, whatever happens to it.
func TestWellBehavedTokens(t *testing.T) {
	for _, mistakes := range [][]string{{""}, {"", ""}} {
		simtest.Run(t, simtest.Options{Seeds: seeds(20), Properties: simtest.WellBehaved()}, tokensBody(mistakes...))
	}
}

// Exceptions are by client and object; what is wrong with them is said.
func TestWellBehavedExceptions(t *testing.T) {
	all := simtest.WellBehaved(
		simtest.Exception{Property: simtest.QuietAfterConvergence, Client: "tokens-0", Object: "configmaps", Why: "it writes when it has last looked"},
		simtest.Exception{Property: simtest.NoFinalizerLeft, Object: "configmaps default/a", Why: "another one"})
	if found := simtest.Find(t, simtest.Options{Seeds: 3, Mix: "none", Properties: all}, tokensBody("counts")); found != nil {
		t.Errorf("found what is excepted: %v", found)
	}
	if found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Properties: all}, tokensBody("keeps")); found == nil || found.Property != simtest.NoFinalizerLeft {
		t.Errorf("another object is excepted, and found is %v", found)
	}
	for want, e := range map[string]simtest.Exception{
		`there is no property "NoWar"`:             {Property: "NoWar", Why: "it is a typo"},
		`the exception from "NoOrphan" has no Why`: {Property: simtest.NoOrphan},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("%v: it panics with %q, want %q", e, p, want)
				}
			}()
			simtest.WellBehaved(e)
		}()
	}
}

// Clients that are not named like processes are the test's own. If there are no others, nothing would be judged, which is an error.
func TestWellBehavedNeedsNames(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none", Properties: simtest.WellBehaved()}
	body := func(client string) func(env *simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("tokens", func(ctx context.Context) error { return (&tokens{mistake: "counts"}).run(ctx, env.RESTConfig(client)) })
			env.Create(configMap("a", ""))
			env.Advance(time.Minute)
		}
	}
	wantIn(t, failure(t, o, body("manager")), "the ready-made ones judge the clients that are named like processes (tokens), and there are none: those that made requests are manager")
	wantIn(t, failure(t, o, body("tokens")), "FAIL  QuietAfterConvergence")
}

// A controller may have the name of one of the cluster's own that does not run. Where it does, and where faults would spare its client, the run says so.
func TestWellBehavedNamedLikeTheClusters(t *testing.T) {
	run := func(client string, o simtest.Options) string {
		t.Helper()
		o.Seeds, o.Mix, o.Properties = 1, "none", simtest.WellBehaved()
		return failure(t, o, func(env *simtest.Env) {
			env.Go(client, func(ctx context.Context) error { return (&tokens{mistake: "counts"}).run(ctx, env.RESTConfig(client)) })
			env.Create(configMap("a", ""))
			env.Advance(time.Minute)
		})
	}
	wantIn(t, run("garbage-collector", simtest.Options{}), "FAIL  QuietAfterConvergence")
	wantIn(t, run("garbage-collector", simtest.Options{GarbageCollection: true}), `env.RESTConfig("garbage-collector"): that is the client of the cluster's garbage collector, `, "name yours otherwise")
	wantIn(t, run("quota-controller", simtest.Options{}), "the cluster's controller of ResourceQuotas")
	wantIn(t, run("quota-controller", simtest.Options{Controllers: []string{"-resourcequota"}}), "FAIL  QuietAfterConvergence")
	wantIn(t, run("workload", simtest.Options{}), `env.RESTConfig("workload"): that is the client of the test's own writes`)
}
