package simtest_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// said is what a controller notes of a Gauge.
type said struct{ of, status, message string }

// furnishing is a controller that makes a Secret for each Gauge, and says what has become of that: failed if it cannot be made, and made once it is.
func furnishing(failed func(g *unstructured.Unstructured, err error) error, made func(g *unstructured.Unstructured)) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("furnisher", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("furnisher"))
			return eachOf(ctx, env, "furnisher", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
				if phase, _, _ := unstructured.NestedString(g.Object, "status", "phase"); phase == "Made" || phase == "Failed" {
					return nil
				}
				before := g.DeepCopy()
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: strings.ReplaceAll(g.GetName(), "refused", "_")}}
				_, err := client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{})
				if err != nil && !apierrors.IsAlreadyExists(err) {
					err = failed(g, err)
				} else {
					err = nil
					set(g, "Made", "status", "phase")
					made(g)
				}
				if reflect.DeepEqual(before, g) {
					return err
				}
				_, writing := gauges.UpdateStatus(ctx, g, metav1.UpdateOptions{})
				return errors.Join(err, writing)
			})
		})
		for _, name := range []string{"one", "two", "refused", "three"} {
			env.Create(gaugeNamed(name, map[string]any{"size": int64(1)}))
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
	}
}

// say gives a Gauge one condition, or a message if that has no type.
func say(g *unstructured.Unstructured, s said) {
	if s.of == "" {
		set(g, s.message, "status", "message")
		return
	}
	set(g, []any{map[string]any{"type": s.of, "status": s.status, "message": s.message}}, "status", "conditions")
}

// A controller that takes a failure which passes for one that lasts, and says so, is found.
func TestNoFinalFailure(t *testing.T) {
	o := simtest.Options{Seeds: 20, CRDs: []string{gauges}, Properties: simtest.WellBehaved()}
	for name, s := range map[string]said{
		"status.conditions[Ready].message":  {of: "Ready", status: "False"},
		"status.conditions[Failed].message": {of: "Failed", status: "True"},
		"status.message":                    {},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, o, furnishing(func(g *unstructured.Unstructured, err error) error {
				s.message = "it could not be made: " + err.Error()
				say(g, s)
				set(g, "Failed", "status", "phase")
				return nil
			}, func(*unstructured.Unstructured) {}))
			if found == nil || found.Property != simtest.NoFinalFailure {
				t.Fatalf("found %v", found)
			}
			t.Logf("seed %d: %s", found.Seed, found.Text)
			wantIn(t, found.Text, "furnisher says of gauges default/", name+` is "it could not be made: `, "furnisher sends POST /api/v1/namespaces/default/secrets", "which fails: ")
		})
	}
}

// Whoever tries again may say meanwhile that it has failed, and later that it had, of a condition that says that all is well now; and what the server refuses fails each time.
func TestNoFinalFailureSpares(t *testing.T) {
	o := simtest.Options{Seeds: seeds(40), CRDs: []string{gauges}, Properties: simtest.WellBehaved()}
	for name, made := range map[string]func(last string) said{
		"nothing is said":            func(string) said { return said{of: "Ready", status: "True"} },
		"that it is ready":           func(last string) said { return said{of: "Ready", status: "True", message: last} },
		"that it is no failure":      func(last string) said { return said{of: "Failed", status: "False", message: last} },
		"something else in one word": func(string) said { return said{message: "made"} },
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, o, func(env *simtest.Env) {
				last := map[string]string{}
				failed := func(g *unstructured.Unstructured, err error) error {
					s := said{of: "Ready", status: "False", message: err.Error()}
					if made("").of == "" {
						s = said{message: err.Error()}
					}
					say(g, s)
					if apierrors.IsInvalid(err) {
						set(g, "Failed", "status", "phase")
						return nil
					}
					last[g.GetName()] = err.Error()
					return err
				}
				furnishing(failed, func(g *unstructured.Unstructured) { say(g, made(last[g.GetName()])) })(env)
			})
		})
	}
}

// Who leaves an object alone since its user says so leaves what its status says alone, too, even that a request has failed. A change of something else tells nobody to.
func TestNoFinalFailureSparesWhatIsPaused(t *testing.T) {
	for name, x := range map[string]struct {
		pause  func(g *unstructured.Unstructured)
		spared bool
	}{
		"by an annotation": {func(g *unstructured.Unstructured) { g.SetAnnotations(map[string]string{"stop": "please"}) }, true},
		"by a field":       {func(g *unstructured.Unstructured) { set(g, true, "spec", "paused") }, true},
		"not at all":       {func(g *unstructured.Unstructured) { set(g, int64(2), "spec", "size") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: 3, Mix: "none", CrashProbability: 1e-9, CRDs: []string{gauges}, Properties: just(simtest.NoFinalFailure), Shrink: -1}
			body := func(env *simtest.Env) {
				stopped := false
				env.Go("furnisher", func(ctx context.Context) error {
					client := kubernetes.NewForConfigOrDie(env.RESTConfig("furnisher"))
					return eachOf(ctx, env, "furnisher", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
						if stopped {
							return nil
						}
						_, err := client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: g.GetName()}}, metav1.CreateOptions{})
						if err == nil || apierrors.IsAlreadyExists(err) {
							return nil
						}
						before := g.DeepCopy()
						if say(g, said{of: "Ready", status: "False", message: err.Error()}); !reflect.DeepEqual(before, g) {
							_, writing := gauges.UpdateStatus(ctx, g, metav1.UpdateOptions{})
							err = errors.Join(err, writing)
						}
						return err
					})
				})
				env.Inject(fault.Fault{Kind: fault.Write500, Target: "furnisher", Resource: "secrets", Count: fault.Lasting})
				g := gaugeNamed("one", map[string]any{"size": int64(1)})
				env.Create(g)
				env.Advance(10 * time.Second)
				stopped = true
				env.Mutate(g, func() { x.pause(g) })
				env.Advance(10 * time.Second)
			}
			if x.spared {
				simtest.Run(t, o, body)
			} else if found := simtest.Find(t, o, body); found == nil {
				t.Error("nothing found")
			}
		})
	}
}

// readable is a controller that says of each Gauge whether it can read its Secret. It may look at no Gauge again of which it once could not.
func readable(gives bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("reader", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("reader"))
			return eachOf(ctx, env, "reader", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
				if phase, _, _ := unstructured.NestedString(g.Object, "status", "phase"); phase == "Failed" {
					return nil
				}
				before := g.DeepCopy()
				_, err := client.CoreV1().Secrets("default").Get(ctx, g.GetName(), metav1.GetOptions{})
				if err == nil {
					say(g, said{of: "Ready", status: "True"})
				} else if say(g, said{of: "Ready", status: "False", message: err.Error()}); gives {
					set(g, "Failed", "status", "phase")
					err = nil
				}
				if reflect.DeepEqual(before, g) {
					return err
				}
				_, writing := gauges.UpdateStatus(ctx, g, metav1.UpdateOptions{})
				return errors.Join(err, writing)
			})
		})
		env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}, gaugeNamed("one", map[string]any{"size": int64(1)}))
		env.Advance(time.Minute)
	}
}

// Without any fault before the end, a controller that takes a read which fails for a failure that lasts is found, since the run has its reads fail. Who says so meanwhile, and looks again, is not.
func TestFailedReadIsFinal(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoFinalFailure), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Mix: "none", CrashProbability: 1e-9, CRDs: []string{gauges}, Properties: ready}
		found := simtest.Find(t, o, readable(true))
		if found == nil || found.Property != simtest.NoFinalFailure {
			t.Fatalf("found %v", found)
		}
		t.Logf("seed %d: %s", found.Seed, found.Text)
		wantIn(t, found.Text, "reader says of gauges default/one, for good", "reader sends GET /api/v1/namespaces/default/secrets/one, which fails: 500", "not even when it was restarted")
		simtest.Run(t, o, readable(false))
	}
}
