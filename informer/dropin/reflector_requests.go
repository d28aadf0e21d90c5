package dropin

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	utiltrace "k8s.io/utils/trace"

	"github.com/informersim/informersim/informer"
)

type listAnswer struct {
	list     runtime.Object
	err      error
	panicked any
}

// list sends one LIST. It does not wait for a request that outlives its context (I9).
func (l *reflectorLoop) list(ctx context.Context, options metav1.ListOptions) {
	trace := utiltrace.New("Reflector List", utiltrace.Field{Key: "name", Value: l.o.name})
	defer trace.LogIfLong(10 * time.Second)
	answers := make(chan listAnswer, 1)
	go func() {
		var a listAnswer
		defer func() {
			a.panicked = recover()
			answers <- a
		}()
		a.list, a.err = l.lw.ListWithContext(ctx, options)
	}()
	select {
	case <-ctx.Done():
	case a := <-answers:
		if a.panicked != nil {
			panic(a.panicked)
		}
		if ctx.Err() != nil {
			return // both are ready: the list counts as cancelled and replaces nothing
		}
		l.core.SetTime(l.o.clock.Now())
		if a.err != nil {
			l.core.OnListError(a.err)
		} else {
			l.core.OnList(a.list)
		}
		l.roundEnded = l.core.Want().Op == informer.OpSleep
	}
}

type openAnswer struct {
	stream   watch.Interface
	err      error
	panicked any
}

// open requests a watch. A resync may happen meanwhile (I38).
func (l *reflectorLoop) open(ctx context.Context, options metav1.ListOptions) {
	answers := make(chan openAnswer, 1)
	go func() {
		var a openAnswer
		defer func() {
			a.panicked = recover()
			answers <- a
		}()
		if a.err = ctx.Err(); a.err == nil { // a source that was shut down with the context may block forever
			a.stream, a.err = l.lw.WatchWithContext(ctx, options)
		}
	}()
	timer := loopTimer{clock: l.o.clock}
	defer timer.stop()
	for {
		if timer.set(l.core.NextTime()) {
			l.tick()
			continue
		}
		select {
		case <-timer.c():
			timer.stop()
		case a := <-answers:
			if a.panicked != nil {
				panic(a.panicked)
			}
			l.opened(a)
			return
		}
	}
}

func (l *reflectorLoop) opened(a openAnswer) {
	l.core.SetTime(l.o.clock.Now())
	if a.err != nil {
		l.core.OnWatchOpenError(a.err)
		l.roundEnded = l.core.Want().Op == informer.OpSleep && !isRetriable(a.err)
		return
	}
	l.stream = a.stream
	seq := l.core.Seq()
	l.core.OnWatchOpened()
	l.closeStaleStream(seq, false)
}

// isRetriable reports whether the watch, not the round, is retried after a backoff (I18, I33).
func isRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}
