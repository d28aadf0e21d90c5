package simtest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// A line that is logged with Logger has the position of the call, as one of klog's has.
func TestLoggerKnowsItsCaller(t *testing.T) {
	message := failure(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
		env.Go("talker", func(context.Context) error {
			simtest.Logger().Info("itself")
			simtest.Logger().WithName("n").WithValues("k", "v").Error(errors.New("no luck"), "with more")
			func() { simtest.Logger().WithCallDepth(1).Info("its caller") }()
			return nil
		})
		env.Advance(time.Minute)
		env.Eventually("it works", time.Minute, func() error { return errors.New("it does not") })
	})
	wantIn(t, message, "I log_book_test.go:23] \"itself\"", "E log_book_test.go:24] \"n: with more\"", "I log_book_test.go:25] \"its caller\"")
}

// What a controller and client-go log is shown with its step and virtual time, and kept beside the trace. klog's -v decides what is
// logged, as ever. The lines are no part of the trace, so what differs between two runs in them does not count.
func TestLogIsShownOnFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	state := klog.CaptureState()
	defer state.Restore()
	var klogFlags flag.FlagSet
	klog.InitFlags(&klogFlags)
	if err := klogFlags.Set("v", "4"); err != nil {
		t.Fatal(err)
	}
	runs := 0
	body := func(env *simtest.Env) {
		runs++
		env.Go("talker", func(ctx context.Context) error {
			klog.InfoS("starting", "address", fmt.Sprintf("%p-%d", env, runs))
			time.Sleep(90 * time.Second)
			klog.Warningf("plain %d", 1)
			klog.V(4).InfoS("seen with -v=4")
			klog.V(5).InfoS("not seen with -v=4")
			klog.FromContext(ctx).Error(errors.New("no luck"), "contextual", "object", klog.KRef("default", "a"))
			utilruntime.HandleError(errors.New("lost"))
			for i := range 20 {
				klog.Infof("filler %d", i)
			}
			return nil
		})
		env.Advance(time.Hour)
		env.Eventually("it works", time.Minute, func() error { return errors.New("it does not") })
	}
	r := &keeper{recorder{name: t.Name()}}
	try(r, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, body)
	message := strings.Join(r.errors, "\n")
	wantIn(t, message, "what it logged (the last 12 of 25 lines in testdata/simtest/TestLogIsShownOnFailure-1.log)", "I log_book_test.go:", "filler 19")
	log, err := os.ReadFile("testdata/simtest/TestLogIsShownOnFailure-1.log")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(log), `step 1            0s  I log_book_test.go:`, `"starting" address=`, `1m30s  W log_book_test.go:`, "] plain 1\n",
		`"seen with -v=4"`, `"contextual" err="no luck" object="default/a"`, "] lost\n")
	if strings.Contains(string(log), "not seen") {
		t.Errorf("-v is not obeyed:\n%s", log)
	}
	trace, err := os.ReadFile("testdata/simtest/TestLogIsShownOnFailure-1.trace.jsonl")
	if err != nil || strings.Contains(string(trace), "starting") {
		t.Errorf("%v: the log is part of the trace:\n%s", err, trace)
	}
	// A replay logs again, and another address is no divergence.
	again := &keeper{recorder{name: t.Name()}}
	try(again, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, body)
	wantIn(t, strings.Join(again.errors, "\n"), "FAIL  it works at step", "filler 19")
}
