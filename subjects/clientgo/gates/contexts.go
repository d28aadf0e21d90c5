//go:build !no_contexts

package gates

import "k8s.io/client-go/tools/cache"

func (i *informer) listerWatcher() cache.ListerWatcher {
	return &cache.ListWatch{ListWithContextFunc: i.list, WatchFuncWithContext: i.open}
}

func (i *informer) run() { i.inf.RunWithContext(i.loop.inside()) }
