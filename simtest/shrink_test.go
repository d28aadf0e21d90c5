package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
)

// crashBody fails if and only if a process is started a second time.
func crashBody(env *simtest.Env) {
	starts := 0
	env.Go("p", func(ctx context.Context) error { starts++; <-ctx.Done(); return nil })
	env.Always("it is started once", func() error {
		if starts > 1 {
			return errors.New("it is started again")
		}
		return nil
	})
	workload(env)
	env.Advance(time.Hour)
}

var stepsAndFaults = regexp.MustCompile(`(\d+) steps · .* · (no|\d+) faults? injected`)

func sizeOf(t *testing.T, message string) (steps, faults int) {
	t.Helper()
	m := stepsAndFaults.FindStringSubmatch(message)
	if m == nil {
		t.Fatalf("the message lacks the numbers of steps and faults:\n%s", message)
	}
	steps, _ = strconv.Atoi(m[1])
	faults, _ = strconv.Atoi(m[2]) // 0 for "no"
	return steps, faults
}

// A failure is shrunk to the faults that it needs, and the nearest run that passes lacks one of them. The stored trace is that run's, and it
// replays.
func TestFailuresAreMadeSimpler(t *testing.T) {
	t.Chdir(t.TempDir())
	o := simtest.Options{Seeds: 1, Mix: "storm", Replicas: 2, CrashProbability: 0.01, Shrink: -1}
	asItWas := failure(t, o, crashBody)
	steps, faults := sizeOf(t, asItWas)
	if faults < 2 {
		t.Fatalf("the test needs a run with more faults:\n%s", asItWas)
	}

	o.Shrink = time.Minute // it is done long before
	first := &keeper{recorder{name: "TestX"}}
	try(first, o, crashBody)
	message := strings.Join(first.errors, "\n")
	fewerSteps, fewerFaults := sizeOf(t, message)
	if fewerFaults != 1 || fewerSteps >= steps {
		t.Errorf("%d steps and %d faults became %d and %d:\n%s", steps, faults, fewerSteps, fewerFaults, message)
	}
	wantIn(t, message, "FAIL  it is started once at step", "shrunk from "+strconv.Itoa(steps)+" steps, "+strconv.Itoa(faults)+" faults",
		"the nearest run that passes (- this run, + that one)", "The run passes if the fault crash on process/p does not happen at step ", "- step ", "process/p: process crashed")
	page, err := os.ReadFile(filepath.Join("testdata", "simtest", "TestX-1.html"))
	if err != nil || !strings.Contains(string(page), "The run passes if the fault crash on process/p does not happen at step ") {
		t.Errorf("the page (%v) lacks the nearest run that passes", err)
	}

	again := &keeper{recorder{name: "TestX"}}
	try(again, o, crashBody)
	if a := strings.Join(again.errors, "\n"); a != message {
		t.Errorf("the replay's report:\n%s\nthe run's:\n%s", a, message)
	}

	if err := os.RemoveAll("testdata"); err != nil {
		t.Fatal(err)
	}
	o.Shrink = 1 // no time for anything
	message = failure(t, o, crashBody)
	if s, f := sizeOf(t, message); s != steps || f != faults || strings.Contains(message, "nearest run") {
		t.Errorf("without time it has %d steps and %d faults:\n%s", s, f, message)
	}
}

// A failure that needs no fault is reported without any.
func TestNeedlessFaultsAreLeftOut(t *testing.T) {
	broken := true
	message := failure(t, simtest.Options{Seeds: 5, Mix: "storm", Replicas: 2}, brokenBody(&broken))
	if _, faults := sizeOf(t, message); faults != 0 || strings.Contains(message, "nearest run") {
		t.Errorf("there are faults in\n%s", message)
	}
}

// What breaks by chance is not laid to a choice of the run: the failure says that the same choices break nothing the next time, and what to do.
func TestFailureThatDoesNotRepeatSaysSo(t *testing.T) {
	runs := 0
	message := failure(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
		runs++
		workload(env)
		env.Eventually("it is not the first run", time.Second, func() error {
			if runs == 1 {
				return errors.New("it is")
			}
			return nil
		})
	})
	wantIn(t, message, "FAIL  it is not the first run at step", "This failure does not repeat: the same choices, made again, break nothing. Something in the bubble is not deterministic",
		"run it twice:", "-simtest.verify -simtest.seed=1")
	if strings.Contains(message, "nearest run") {
		t.Errorf("a choice is said to be why it passes:\n%s", message)
	}
}

// Faults that a program answers with another try are left out, although each one less is some requests less: what comes later keeps its time.
func TestFaultsOfRetriesAreLeftOut(t *testing.T) {
	body := func(env *simtest.Env) {
		var failed error
		env.Go("p", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("p"))
			if err != nil {
				return err
			}
			maps := client.CoreV1().ConfigMaps("default")
			late := time.AfterFunc(time.Minute, func() {
				if _, err := maps.List(ctx, metav1.ListOptions{}); err != nil && ctx.Err() == nil {
					failed = err
				}
			})
			defer late.Stop()
			for i := range 20 {
				m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i)}}
				for err := errors.New("not yet"); err != nil && !apierrors.IsAlreadyExists(err); {
					if _, err = maps.Create(ctx, m, metav1.CreateOptions{}); ctx.Err() != nil {
						return nil
					}
					time.Sleep(time.Second)
				}
				time.Sleep(time.Second)
			}
			<-ctx.Done()
			return nil
		})
		env.Always("the list is answered", func() error { return failed })
		env.Advance(2 * time.Minute)
	}
	o := simtest.Options{Seeds: 20, Mix: "storm", CrashProbability: -1, Shrink: -1}
	asItWas := failure(t, o, body)
	if _, faults := sizeOf(t, asItWas); faults < 10 {
		t.Fatalf("the test needs a run with more faults:\n%s", asItWas)
	}
	o.Shrink = time.Minute // it is done long before
	if message := failure(t, o, body); !strings.Contains(message, "· 1 fault injected") {
		t.Errorf("there are more faults than one in\n%s", message)
	}
}
