package dropin

import (
	"context"
	"slices"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// syncPollPeriod is the polling interval of WaitForCacheSync.
const syncPollPeriod = 100 * time.Millisecond

// WaitForCacheSync waits until all functions return true, polling every 100ms. It returns false if stopCh is closed first.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	allSynced := func(context.Context) (bool, error) {
		for _, synced := range cacheSyncs {
			if !synced() {
				return false, nil
			}
		}
		return true, nil
	}
	return wait.PollUntilContextCancel(wait.ContextForChannel(stopCh), syncPollPeriod, true, allSynced) == nil
}

// WaitForNamedCacheSync is WaitForCacheSync with logging for the named controller.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	klog.Background().Info("Waiting for caches to sync", "controller", controllerName)
	if !WaitForCacheSync(stopCh, cacheSyncs...) {
		utilruntime.HandleErrorWithContext(context.Background(), nil, "Unable to sync caches", "controller", controllerName)
		return false
	}
	klog.Background().Info("Caches are synced", "controller", controllerName)
	return true
}

// WaitForNamedCacheSyncWithContext is WaitForCacheSync with the context's logger that ends with the context.
func WaitForNamedCacheSyncWithContext(ctx context.Context, cacheSyncs ...InformerSynced) bool {
	logger := klog.FromContext(ctx)
	logger.Info("Waiting for caches to sync")
	if !WaitForCacheSync(ctx.Done(), cacheSyncs...) {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unable to sync caches")
		return false
	}
	logger.Info("Caches are synced")
	return true
}

// WaitFor waits until all checkers are done, without polling. It returns false if the context ends first. If what is not
// empty, it logs progress with the caller's line.
func WaitFor(ctx context.Context, what string, checkers ...DoneChecker) bool {
	logger := klog.FromContext(ctx)
	if what != "" {
		helper, helped := logger.WithCallStackHelper()
		helper()
		logger = helped
		logger.Info("Waiting", "for", what)
	}
	// Each checker has its own waiter, so that it is logged when done; the logging happens here, because another goroutine
	// could not find the caller's line.
	type result struct {
		checker DoneChecker
		done    bool
	}
	results := make(chan result)
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, checker := range checkers {
		wg.Go(func() { results <- result{checker, awaitDone(ctx, checker)} })
	}
	var late []string
	for range checkers {
		r := <-results
		switch {
		case !r.done:
			late = append(late, r.checker.Name())
		case what != "":
			logger.Info("Done waiting", "for", what, "instance", r.checker.Name())
		}
	}
	if what != "" && len(late) > 0 {
		slices.Sort(late)
		logger.Info("Timed out waiting", "for", what, "cause", context.Cause(ctx), "instances", late)
	}
	return len(late) == 0
}

func awaitDone(ctx context.Context, checker DoneChecker) bool {
	select {
	case <-checker.Done():
		return true
	case <-ctx.Done():
		return IsDone(checker) // both may be ready: then it is done
	}
}
