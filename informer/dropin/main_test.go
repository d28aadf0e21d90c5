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

// TestMain fails if anything left a goroutine behind. Logs are for -v. The default error handlers sleep by the program's
// clock, which in a bubble is another one, so they are left out.
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
