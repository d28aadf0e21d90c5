package dropin

import (
	"context"
	"flag"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// TestMain fails if a goroutine leaked. Logs are shown with -v only. The default error handlers sleep by the program's
// clock, which differs from a bubble's, so they are removed.
func TestMain(m *testing.M) {
	flag.Parse()
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(ctx context.Context, err error, msg string, keysAndValues ...any) {
			klog.FromContext(ctx).Error(err, msg, keysAndValues...)
		},
	}
	if !testing.Verbose() {
		klog.SetLogger(logr.Discard())
	}
	goleak.VerifyTestMain(m)
}
