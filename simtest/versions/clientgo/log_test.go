package clientgo

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest"
)

// recorder is a simtest.TB that records failures.
type recorder struct {
	*testing.T
	errors []string
}

func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}
func (r *recorder) FailNow()     { runtime.Goexit() }
func (r *recorder) Failed() bool { return len(r.errors) > 0 }

// With every release of klog and of apimachinery, what is logged is shown with its severity and place, once.
func TestLogIsCaptured(t *testing.T) {
	t.Chdir(t.TempDir())
	r := &recorder{T: t}
	done := make(chan bool)
	go func() {
		defer close(done)
		simtest.Run(r, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1}, func(env *simtest.Env) {
			env.Go("talker", func(ctx context.Context) error {
				time.Sleep(time.Minute)
				klog.Infof("plain %d", 1)
				klog.Warning("careful")
				klog.ErrorS(errors.New("no luck"), "structured", "object", klog.KRef("default", "a"))
				klog.FromContext(ctx).Info("contextual", "n", 2)
				utilruntime.HandleError(errors.New("handled"))
				return nil
			})
			env.Advance(time.Hour)
			env.Eventually("it works", 0, func() error { return errors.New("it does not") })
		})
	}()
	<-done
	report := strings.Join(r.errors, "\n")
	for _, want := range []string{
		"what it logged\n", "1m0s  I log_test.go:", "] plain 1\n", "1m0s  W log_test.go:", "] careful\n", "1m0s  E log_test.go:",
		`] "structured" err="no luck" object="default/a"`, `] "contextual" n=2`, "handled",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if n := len(regexp.MustCompile(` 1m0s  [IWEF] `).FindAllString(report, -1)); n != 5 {
		t.Errorf("%d lines were logged, want 5", n)
	}
	if t.Failed() {
		t.Log(report)
	}
}
