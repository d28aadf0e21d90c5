//go:build !no_panic_context

package gates

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func survivePanics() {
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) { recovered(r) }}
}
