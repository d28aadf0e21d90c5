package basic

import (
	"context"
	"strings"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// ordinary are errors that controllers log whenever they are faster than their informers or than each other, and after which they try again.
// The rest is worth a line.
var ordinary = []string{
	"is not as new as written version", // pkg/controller/util/consistency: the error is seldom wrapped, but formatted
	"the object has been modified; please apply your changes to the latest version",
}

// quiet keeps such errors out of the process's log, once for all managers.
var quiet = sync.OnceFunc(func() {
	if len(utilruntime.ErrorHandlers) == 0 {
		return // as in a bubble, where they would wait
	}
	log := utilruntime.ErrorHandlers[0]
	utilruntime.ErrorHandlers[0] = func(ctx context.Context, err error, msg string, keysAndValues ...any) {
		if ctx.Err() != nil || err != nil && isOrdinary(err.Error()) {
			return // what fails when the context ends fails for that
		}
		log(klog.NewContext(ctx, klog.FromContext(ctx).WithCallDepth(1)), err, msg, keysAndValues...)
	}
})

func isOrdinary(text string) bool {
	for _, o := range ordinary {
		if strings.Contains(text, o) {
			return true
		}
	}
	return false
}
