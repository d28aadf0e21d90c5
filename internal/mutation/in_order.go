package mutation

import (
	"context"
	"sync"
)

// InOrder does something with each item, jobs at a time, and reports the results in the order of the items. It returns the first error,
// or that of the context, when all that it has begun has ended.
func InOrder[T, R any](ctx context.Context, items []T, jobs int, do func(context.Context, T) (R, error), report func(R) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	type outcome struct {
		result R
		err    error
	}
	outcomes := make([]chan outcome, len(items))
	for n := range outcomes {
		outcomes[n] = make(chan outcome, 1)
	}
	free := make(chan struct{}, jobs)
	wg.Go(func() {
		for n, item := range items {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return
			}
			wg.Go(func() {
				defer func() { <-free }()
				result, err := do(ctx, item)
				outcomes[n] <- outcome{result, err}
			})
		}
	})
	for _, o := range outcomes {
		select {
		case o := <-o:
			if o.err != nil {
				return o.err
			}
			if err := report(o.result); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
