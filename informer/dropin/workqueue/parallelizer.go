package workqueue

import (
	"context"
	"sync"
	"sync/atomic"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

type options struct {
	chunkSize int
}

// Options configures ParallelizeUntil.
type Options func(*options)

// WithChunkSize hands out pieces in chunks of c instead of one by one, which pays off for many small pieces. A c below 1 is
// treated as 1.
func WithChunkSize(c int) func(*options) {
	return func(o *options) { o.chunkSize = c }
}

// ParallelizeUntil processes the pieces 0 to pieces-1 with the given number of workers. It returns when all are done, or
// when the context has ended and the pieces begun by then are done. A nil context never ends. A panic in a piece goes to
// utilruntime.HandleCrash; if the program survives, the worker is lost and the others continue.
func ParallelizeUntil(ctx context.Context, workers, pieces int, doWorkPiece DoWorkPieceFunc, opts ...Options) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	chunkSize := min(max(o.chunkSize, 1), max(pieces, 1))
	if pieces <= 0 || workers <= 0 {
		return
	}
	chunks := (pieces-1)/chunkSize + 1
	var stop <-chan struct{}
	if ctx != nil {
		stop = ctx.Done()
	}

	var next atomic.Int64 // next chunk to process
	var wg sync.WaitGroup
	for range min(workers, chunks) {
		wg.Add(1)
		go func() {
			defer utilruntime.HandleCrashWithContext(ctx)
			defer wg.Done()
			for {
				chunk := int(next.Add(1)) - 1
				if chunk >= chunks {
					return
				}
				start := chunk * chunkSize
				if !doPieces(stop, start, min(pieces-start, chunkSize), doWorkPiece) {
					return
				}
			}
		}()
	}
	wg.Wait()
}

// doPieces processes n pieces from start on. It returns false if it was stopped before the last.
func doPieces(stop <-chan struct{}, start, n int, doWorkPiece DoWorkPieceFunc) bool {
	for piece := start; piece < start+n; piece++ {
		select {
		case <-stop:
			return false
		default:
			doWorkPiece(piece)
		}
	}
	return true
}
