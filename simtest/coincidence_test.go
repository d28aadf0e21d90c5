package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// besideTheIdler has a controller that labels ConfigMaps, and forgets to if a write fails, beside one that waits for the very time after which the run has informers list anew.
func besideTheIdler(env *simtest.Env) {
	env.Go("idler", func(ctx context.Context) error { return noteIdle(ctx, env, "default", 30*time.Minute) })
	env.Go("labels", func(ctx context.Context) error {
		queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("labels"), "labelled", false)
		if err != nil {
			return err
		}
		defer shutDown()
		work(queue, func(key string) error {
			obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
			if err != nil || !exists {
				return err
			}
			m := obj.(*corev1.ConfigMap)
			if m.Labels["n"] == m.Data["n"] {
				return nil
			}
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":%q}}}`, m.Data["n"])
			_, _ = queue.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
			return nil
		})
		return nil
	})
	m, labelled := configMap("m", "0"), configMap("l", "0")
	labelled.Namespace = "labelled"
	env.Create(m, labelled)
	for n := range 4 {
		env.Advance(time.Duration(env.Rand().IntN(20_000)) * time.Millisecond)
		for _, m := range []*corev1.ConfigMap{m, labelled} {
			env.Mutate(m, func() { m.Data = map[string]string{"n": string(rune('a' + n))} })
		}
	}
	env.Advance(10 * time.Minute)
}

// The simplest run that breaks a property must not break it by coincidence: what a run of a seed does not count, the search for a simpler run does not, either, nor whoever else breaks it.
func TestShrinkingFindsNoCoincidence(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 20, Mix: "storm", Shrink: 3 * time.Second, Properties: just(simtest.NoForgottenChange)}, besideTheIdler)
	if found == nil {
		t.Fatal("nothing is found")
	}
	if !strings.Contains(found.Text, "labels changes ") {
		t.Errorf("seed %d accuses another:\n%s", found.Seed, found.Text)
	}
}

// A kept trace whose run breaks a property by coincidence is not a failure for ever: an informersim may have kept it that judged otherwise. Its seed is run again, which does not fail for that.
func TestKeptCoincidence(t *testing.T) {
	t.Chdir(t.TempDir())
	plays := 0
	body := func(env *simtest.Env) {
		after := 30*time.Minute + 1700*time.Millisecond // which is when informers have listed anew
		if plays++; plays == 2 {
			after += time.Hour + 7*time.Minute + 13*time.Second // so that the second run confirms the first
		}
		env.Go("idler", func(ctx context.Context) error { return noteIdle(ctx, env, "default", after) })
		env.Create(configMap("m", "0"))
		env.Advance(10 * time.Minute)
	}
	o := simtest.Options{Seeds: 1, Strategy: "fifo", Shrink: -1, Properties: just(simtest.NoForgottenChange)}
	first := &keeper{recorder{name: "TestX"}}
	try(first, o, body)
	wantIn(t, strings.Join(first.errors, "\n"), "FAIL  NoForgottenChange", "idler changes metadata.annotations.idle")
	again := &keeper{recorder{name: "TestX"}}
	try(again, o, body)
	if again.failed {
		t.Errorf("it fails:\n%s", strings.Join(again.errors, "\n"))
	}
	wantIn(t, strings.Join(again.logs, "\n"), "TestX-1.trace.jsonl breaks NoForgottenChange again, but not if the run leaves controllers alone for 1h7m13s longer before it does something to them: that may be a coincidence", "running its seed again")
}

// A run that passes since what it had found does not count repeats like any other.
func TestCoincidenceRepeats(t *testing.T) {
	setFlag(t, "simtest.verify", "true")
	o := simtest.Options{Seeds: 1, Strategy: "fifo", Properties: just(simtest.NoForgottenChange)}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("idler", func(ctx context.Context) error {
			return noteIdle(ctx, env, "default", 30*time.Minute+1700*time.Millisecond)
		})
		env.Create(configMap("m", "0"))
		env.Advance(10 * time.Minute)
	})
}
