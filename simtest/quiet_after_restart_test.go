package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// What a controller writes only once it is restarted it has been kept from: by what it does not look at, by what it remembers, or since it hangs.
func TestQuietAfterRestart(t *testing.T) {
	others := simtest.Exception{Property: simtest.NoAbandonedWrite, Why: "who remembers what it has tried to make gives that up, too"}
	for mistake, says := range map[string]string{
		"looks at generations only":  "mirrors deletes secrets default/m",
		"remembers what it has made": "mirrors creates secrets default/m",
		hangs:                        "mirrors creates secrets default/m",
	} {
		t.Run(mistake, func(t *testing.T) {
			o := simtest.Options{Seeds: 60, Properties: simtest.WellBehaved(others)}
			body := mirroringBody(mirroring{mistake: mistake, watches: true})
			found := simtest.Find(t, o, body)
			if found == nil || found.Property != simtest.QuietAfterRestart {
				t.Fatalf("found %v", found)
			}
			wantIn(t, found.Text, says, "only once it is restarted: nobody had changed anything for 30m", "the last change of it from outside: ", "mirrors is started, since the run restarts all controllers", "mirrors sends ")
			if testing.Short() && mistake != hangs {
				return // one of them shows that options are heeded; each makes all runs up to the one that was found once more
			}
			o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(others, simtest.Exception{Property: simtest.QuietAfterRestart, Object: "secrets", Why: "whoever misses one restarts it"})
			if found := simtest.Find(t, o, body); found != nil {
				t.Errorf("an exception: found %v", found)
			}
			o.Properties, o.CrashProbability = simtest.WellBehaved(), -1
			if found := simtest.Find(t, o, body); found != nil {
				t.Errorf("without crashes: found %v", found)
			}
		})
	}
}

// What has a finalizer is not gone with its deletion, which is one all the same. Who notes the time at each start may have forgotten something, too.
func TestQuietAfterRestartKnowsDeletions(t *testing.T) {
	for name, noted := range map[string]bool{"a deletion": false, "after the time was noted": true} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Mix: "none", CrashProbability: 1e-9, Seeds: 1, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, func(env *simtest.Env) {
				if noted {
					env.Create(configMap("state", "")) // for the sweeper to note the time in
				}
				env.Go("sweeper", func(ctx context.Context) error { return sweepOnce(ctx, env, noted) })
				env.Advance(time.Minute)
				m := configMap("m", "")
				m.Finalizers = []string{"example.com/kept"}
				env.Create(m)
				env.Advance(time.Minute)
			})
			if found == nil || found.Property != simtest.QuietAfterRestart {
				t.Fatalf("found %v", found)
			}
			wantIn(t, found.Text, "sweeper deletes configmaps default/m only once it is restarted")
		})
	}
}

// sweepOnce looks when it starts, and never again.
func sweepOnce(ctx context.Context, env *simtest.Env, notes bool) error {
	client, err := kubernetes.NewForConfig(env.RESTConfig("sweeper"))
	if err != nil {
		return err
	}
	maps := client.CoreV1().ConfigMaps("default")
	if notes {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/swept-at":%q}}}`, time.Now().UTC().Format(time.RFC3339))
		if _, err := maps.Patch(ctx, "state", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	all, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, m := range all.Items {
		if m.DeletionTimestamp == nil && m.Name != "state" {
			if err := maps.Delete(ctx, m.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &m.UID}}); err != nil {
				return err
			}
		}
	}
	<-ctx.Done()
	return nil
}

// What somebody deletes before its maker's cache has seen it, the cache never had: no handler is told, and only the next life sees that it is gone.
func TestQuietAfterRestartSparesWhatNoInformerTells(t *testing.T) {
	o := simtest.Options{Mix: "none", CrashProbability: 1e-9, Seeds: 1, Properties: simtest.WellBehaved()}
	simtest.Run(t, o, deletedBehindItsBack("looks at generations only", false))
}

// Who writes something at each start has forgotten nothing, nor has who writes at a time of its own.
func TestQuietAfterRestartSpares(t *testing.T) {
	only := just(simtest.QuietAfterRestart)
	writes := func(ctx context.Context, client kubernetes.Interface, value string) error {
		patch := fmt.Appendf(nil, `{"data":{"by":%q}}`, value)
		_, err := client.CoreV1().ConfigMaps("default").Patch(ctx, "state", "application/merge-patch+json", patch, metav1.PatchOptions{})
		return err
	}
	for name, run := range map[string]func(ctx context.Context, begun time.Time, client kubernetes.Interface) error{
		"at each start": func(ctx context.Context, begun time.Time, client kubernetes.Interface) error {
			return writes(ctx, client, "since "+time.Now().Format(time.Kitchen))
		},
		"the time, at each start": func(ctx context.Context, begun time.Time, client kubernetes.Interface) error {
			return writes(ctx, client, time.Now().UTC().Format(time.RFC3339))
		},
		"what it makes anew": func(ctx context.Context, begun time.Time, client kubernetes.Interface) error {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "life-"}}
			_, err := client.CoreV1().ConfigMaps("default").Create(ctx, m, metav1.CreateOptions{})
			return err
		},
		"what is due": func(ctx context.Context, begun time.Time, client kubernetes.Interface) error {
			tells := simtest.Logger().WithValues("controller", "state", "namespace", "default", "name", "state", "reconcileID", "1")
			if wait := time.Until(begun.Add(31*time.Minute + time.Second)); wait > 0 {
				tells.V(5).Info("Reconciling")
				tells.V(5).Info("Reconcile done, requeueing after " + wait.String())
				return nil
			}
			return writes(ctx, client, "the time")
		},
	} {
		t.Run(name, func(t *testing.T) {
			starts := 0
			o := simtest.Options{Mix: "none", CrashProbability: 1e-9, Seeds: 4, Properties: only}
			simtest.Run(t, o, func(env *simtest.Env) {
				env.Create(configMap("state", ""))
				begun := env.Now()
				env.Go("writer", func(ctx context.Context) error {
					starts++
					client, err := kubernetes.NewForConfig(env.RESTConfig("writer"))
					if err != nil {
						return err
					}
					if err := run(ctx, begun, client); err != nil {
						return err
					}
					<-ctx.Done()
					return nil
				})
				env.Advance(time.Minute)
			})
			if starts < 2*o.Seeds {
				t.Errorf("%d starts in %d runs", starts, o.Seeds)
			}
		})
	}
}

// A passing Run says if nothing could be restarted, since no process runs at the end.
func TestRunSaysThatNothingIsRestarted(t *testing.T) {
	const says = "; at the end no process runs (env.Go), so QuietAfterRestart restarts none"
	for _, ends := range []bool{true, false} {
		r := &recorder{name: t.Name()}
		try(r, simtest.Options{Seeds: 2, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
			env.Go("job", func(ctx context.Context) error {
				client, err := kubernetes.NewForConfig(env.RESTConfig("job"))
				if err != nil {
					return err
				}
				if _, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil || ends {
					return err
				}
				<-ctx.Done()
				return nil
			})
			env.Advance(time.Minute)
		})
		if log := strings.Join(r.logs, "\n"); r.failed || strings.Contains(log, says) != ends {
			t.Errorf("it ends: %v: failed: %v %v; the log is\n%s", ends, r.failed, r.errors, log)
		}
	}
}
