package simtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// sweep deletes ConfigMaps that are done, each after a look at the apiserver's own state of it. With a precondition it deletes that one only, without one
// whatever has its name by then.
func sweep(ctx context.Context, config *rest.Config, precondition bool) error {
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	for ; ctx.Err() == nil; time.Sleep(time.Second) {
		m, err := maps.Get(ctx, "job", metav1.GetOptions{})
		if err != nil || m.Data["state"] != "done" {
			continue
		}
		o := metav1.DeleteOptions{}
		if precondition {
			o.Preconditions = &metav1.Preconditions{UID: &m.UID}
		}
		_ = maps.Delete(ctx, m.Name, o)
	}
	return nil
}

// sweepBody makes the ConfigMap anew, again and again, right after it is done. The next one, which is not, has to stay.
func sweepBody(precondition bool) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("sweeper", func(ctx context.Context) error { return sweep(ctx, env.RESTConfig("sweeper"), precondition) })
		var stays *corev1.ConfigMap
		env.Always("what is not done stays", func() error {
			if stays == nil {
				return nil
			}
			return env.Get(stays)
		})
		for range 10 {
			done := configMap("job", "")
			done.Data = map[string]string{"state": "done"}
			env.Create(done)
			env.Advance(3 * time.Second)
			if env.Get(done) == nil { // not swept yet
				env.Delete(done)
			}
			next := configMap("job", "")
			env.Create(next)
			stays = next
			env.Advance(30 * time.Second)
			stays = nil
			env.Delete(next)
		}
	}
}

// Late writes alone make a deletion by name hit an object that was created in the meantime. One with the uid as its precondition hits none.
func TestLateDeletion(t *testing.T) {
	o := simtest.Options{Seeds: 20, FaultMix: &fault.Mix{Name: "late", Rates: map[string]float64{string(fault.WriteLate): 0.05}}}
	found := tryFind(&recorder{name: "TestX"}, o, sweepBody(false))
	if found == nil {
		t.Fatalf("in %d runs, no late deletion hit the next object", o.Seeds)
	}
	for _, part := range []string{"what is not done stays", "write-late hits conn/sweeper", "configmaps default/job: DELETED by conn/sweeper"} {
		if !strings.Contains(found.Text, part) {
			t.Errorf("seed %d lacks %q:\n%s", found.Seed, part, found.Text)
		}
	}
	if found := tryFind(&recorder{name: "TestY"}, o, sweepBody(true)); found != nil {
		t.Errorf("with a precondition:\n%s", found.Text)
	}
}
