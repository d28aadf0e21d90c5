//go:build no_panic_context

package gates

import utilruntime "k8s.io/apimachinery/pkg/util/runtime"

func survivePanics() { utilruntime.PanicHandlers = []func(any){recovered} }
