package simtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// An Eventually that fails after an hour shows what was left to see: the faults and whether they last, what was done last to the object
// that it names, and what was refused. The hour itself is a line.
func TestAftermathOfEventually(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none", Shrink: -1, Replicas: 2}, func(env *simtest.Env) {
		env.Go("controller", func(ctx context.Context) error {
			c := kubernetes.NewForConfigOrDie(env.RESTConfig("controller"))
			f := informers.NewSharedInformerFactory(c, 0)
			_, err := f.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
				for range 3 {
					_, _ = c.CoreV1().ConfigMaps("default").Create(ctx, configMap(o.(*corev1.ConfigMap).Name, ""), metav1.CreateOptions{})
				}
			}})
			f.Start(ctx.Done())
			<-ctx.Done()
			f.Shutdown()
			return err
		})
		env.Go("brief", func(context.Context) error { return nil })
		env.Create(configMap("a", "0"), configMap("b", "0"), configMap("bb", "0"))
		env.Advance(time.Second)
		env.Update(configMap("b", "1"))
		env.Faults(fault.Fault{Kind: fault.ReplicaSkew, Target: "replica/1"})
		env.Eventually("every ConfigMap is done", time.Hour, func() error { return errors.New("default/b is not done") })
	})
	wantIn(t, message, "FAIL  every ConfigMap is done at step", "default/b is not done",
		"processes that do not run", "brief has ended",
		"faults\n", "replica-skew hits replica/1", "still in force: replica-skew of replica/1",
		"the last of each object", "configmaps default/b: MODIFIED by conn/workload at step", "conn/controller was sent MODIFIED at step",
		"requests that failed", `configmaps create default/b: 409 AlreadyExists: configmaps "b" already exists (×3, since step `,
		"× watch of configmaps renewed")
	for _, not := range []string{"configmaps default/bb:", "configmaps default/a:", "ends: timeout"} {
		if strings.Contains(message, not) {
			t.Errorf("the report has %q:\n%s", not, message)
		}
	}
}

// A body whose own client has met a fault is told which one it was, and what to do.
func TestOwnClientMeetsAFault(t *testing.T) {
	const met, remedy = "a client of the test's own has met a fault", "retry, call env.StopFaults first, or use env.Get"
	read := func(env *simtest.Env, name string) error {
		c := kubernetes.NewForConfigOrDie(env.RESTConfig(name))
		_, err := c.CoreV1().ConfigMaps("default").Get(env.Context(), "a", metav1.GetOptions{})
		return err
	}
	// refused has a client meet a fault. It has to be known before.
	refused := func(env *simtest.Env, name string) {
		if err := read(env, name); err != nil {
			t.Errorf("without a fault: %v", err)
		}
		env.Inject(fault.Fault{Kind: fault.List503, Target: name})
		if read(env, name) == nil {
			t.Error("the fault hits nothing")
		}
	}
	body := func(do func(env *simtest.Env)) string {
		return failure(t, simtest.Options{Mix: "none", Shrink: -1}, func(env *simtest.Env) { env.Create(configMap("a", "0")); do(env); panic("the body fails") })
	}
	message := body(func(env *simtest.Env) { refused(env, "test") })
	wantIn(t, message, met, "configmaps get default/a: 503 ServiceUnavailable", "by the fault list-503", remedy)
	for name, do := range map[string]func(env *simtest.Env){
		"of one that was retried": func(env *simtest.Env) { refused(env, "test"); _ = read(env, "test") },
		"that is none":            func(env *simtest.Env) { env.Delete(configMap("a", "")); _ = read(env, "test") },
		"of a process": func(env *simtest.Env) {
			env.Go("test", func(context.Context) error {
				for range 2 {
					_ = read(env, "test")
					time.Sleep(time.Minute)
				}
				return nil
			})
			env.Advance(time.Second)
			env.Inject(fault.Fault{Kind: fault.List503, Target: "test"})
			env.Advance(time.Hour)
		},
	} {
		message := body(do)
		wantIn(t, message, "the body fails")
		if strings.Contains(message, met) {
			t.Errorf("the report blames a fault %s:\n%s", name, message)
		}
	}
}

// What keeps a goroutine from ending after the failure does not replace it.
func TestFailureBeforeAHotLoop(t *testing.T) {
	aside(t)
	if !isChild() {
		out := runChild(t)
		wantIn(t, out, "FAIL  NoLivelock at step 300 ", "and after the failure, when the context was canceled", "a hot loop: ", "> github.com/informersim/informersim/simtest_test.TestFailureBeforeAHotLoop")
		return
	}
	t.Chdir(t.TempDir())
	simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none", MaxSteps: 300, Shrink: -1, RealQuiescenceTimeout: 2 * time.Second}, func(env *simtest.Env) {
		env.Go("deaf", func(ctx context.Context) error {
			maps := kubernetes.NewForConfigOrDie(env.RESTConfig("deaf")).CoreV1().ConfigMaps("default")
			for {
				_, _ = maps.Create(ctx, configMap("a", ""), metav1.CreateOptions{})
			}
		})
		env.Settle()
	})
}

// A body that panics leaves a trace like any other failure.
func TestPanickingBodyLeavesATrace(t *testing.T) {
	t.Chdir(t.TempDir())
	r := &keeper{recorder{name: t.Name()}}
	try(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		panic("at the disco")
	})
	wantIn(t, strings.Join(r.errors, "\n"), "the body panicked: at the disco", "-simtest.replay=testdata/simtest/TestPanickingBodyLeavesATrace-1.trace.jsonl",
		"step by step in a browser: testdata/simtest/TestPanickingBodyLeavesATrace-1.html")
	page, err := os.ReadFile("testdata/simtest/TestPanickingBodyLeavesATrace-1.html")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(page), "the body panicked: at the disco</h1>", "in github.com/informersim/informersim/simtest_test.TestPanickingBodyLeavesATrace", "(aftermath_test.go:", "commits ADDED of configmaps default/a", "-simtest.seed=1</code>")
}

// Who waits for what nobody in the cluster acts on is told so, and what would.
func TestWaitingForWhatNobodyActsOn(t *testing.T) {
	of := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	pod := func(name string) *corev1.Pod { return &corev1.Pod{ObjectMeta: of(name), Spec: template.Spec} }
	deployment := &appsv1.Deployment{ObjectMeta: of("d"), Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template}}
	running := pod("a")
	running.Status.Phase = corev1.PodRunning
	const pods, deployments = "pods default/a and 1 more: the cluster has no Nodes, so nobody runs Pods (Options.Nodes)", "deployments default/d: nobody acts on them: Options.Stages \"workload\""
	for name, c := range map[string]struct {
		o    simtest.Options
		objs []simtest.Object
		says string // "" for nothing
	}{
		"no Nodes":                   {objs: []simtest.Object{pod("b"), pod("a")}, says: pods},
		"Stages for Pods, no Nodes":  {o: simtest.Options{Stages: []string{"pod"}}, objs: []simtest.Object{pod("b"), pod("a")}, says: pods},
		"a Node":                     {o: simtest.Options{Nodes: 1}, objs: []simtest.Object{pod("a")}},
		"somebody plays the kubelet": {objs: []simtest.Object{running}},
		"nobody rolls out":           {objs: []simtest.Object{deployment}, says: deployments},
		"Stages for workloads":       {o: simtest.Options{Stages: []string{"workload"}}, objs: []simtest.Object{deployment}},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.Mix, c.o.Shrink = "none", -1
			message := failure(t, c.o, func(env *simtest.Env) {
				for _, obj := range c.objs {
					obj = obj.DeepCopyObject().(simtest.Object)
					env.Create(obj.DeepCopyObject().(simtest.Object))
					if p, is := obj.(*corev1.Pod); is && p.Status.Phase != "" {
						env.UpdateStatus(p)
					}
				}
				env.Eventually("it is ready", time.Minute, func() error { return errors.New("it is not ready") })
			})
			title := "what nobody in this cluster acts on\n"
			if c.says != "" {
				wantIn(t, message, title, c.says)
			} else if strings.Contains(message, title) {
				t.Error(message)
			}
		})
	}
}
