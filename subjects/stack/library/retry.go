package library

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/informersim/informersim/informer"
)

// timeout is an error of a connection that took too long.
type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// failures are the ways in which an attempt may fail, and whether a list or a watch is then tried again by itself.
var failures = []struct {
	name        string
	answer      informer.RESTAnswer
	list, watch bool
	pause       time.Duration
}{
	{"a reset connection", informer.RESTAnswer{Err: &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}}, true, true, time.Second},
	{"an EOF", informer.RESTAnswer{Err: io.EOF}, true, true, time.Second},
	{"a timeout", informer.RESTAnswer{Err: timeout{}}, false, true, time.Second},
	{"a refused connection", informer.RESTAnswer{Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, false, false, 0},
	{"429 with Retry-After", answer(http.StatusTooManyRequests, 3, true), true, true, 3 * time.Second},
	{"500 with Retry-After", answer(http.StatusInternalServerError, 2, true), true, true, 2 * time.Second},
	{"503 with Retry-After of 0", answer(http.StatusServiceUnavailable, 0, true), true, true, 0},
	{"429", answer(http.StatusTooManyRequests, 0, false), false, false, 0},
	{"500", answer(http.StatusInternalServerError, 0, false), false, false, 0},
	{"404 with Retry-After", answer(http.StatusNotFound, 1, true), false, false, 0},
}

func answer(code, after int, has bool) informer.RESTAnswer {
	return informer.RESTAnswer{Err: fmt.Errorf("code %d", code), StatusCode: code, RetryAfter: after, HasRetryAfter: has}
}

// restRetries hold the retries of requests against what client-go's rest.Request does (I36).
func restRetries(c *check) {
	limit := []int{0, -1, 1, 3}[c.IntN(4)]
	most := map[int]int{0: informer.DefaultRESTRetries, -1: 0, 1: 1, 3: 3}[limit]
	r := informer.RESTRetry{Watch: c.oneIn(2), MaxRetries: limit}
	before := "" // the last error of a connection, which the final error tells of, too
	for n := 1; len(c.wrong) == 0; n++ {
		f := failures[c.IntN(len(failures))]
		retried := f.list
		if r.Watch {
			retried = f.watch
		}
		now := start.Add(time.Duration(c.IntN(100)) * time.Second)
		d := r.OnAnswer(f.answer, now)
		call := fmt.Sprintf("attempt %d (at most %d retries, of a watch: %t) that ends with %s", n, most, r.Watch, f.name)
		switch cut := f.answer.StatusCode == 0 && retried; {
		case retried && n <= most:
			c.is(call, informer.RESTDecision{Action: informer.RESTRetryAt, At: now.Add(f.pause)}, d)
			c.is("Attempts", n, r.Attempts())
			if f.answer.StatusCode == 0 {
				before = f.answer.Err.Error()
			}
			continue
		case cut && r.Watch:
			c.is(call, informer.RESTEmptyWatch, d.Action)
		default:
			c.is(call, informer.RESTFail, d.Action)
			c.is(call+": the error is of that answer", true, errors.Is(d.Err, f.answer.Err))
			says := f.answer.Err.Error()
			if before != "" && before != says && (f.answer.StatusCode == 0 || r.Watch) {
				says += " - error from a previous attempt: " + before
			}
			c.is(call+": what the error says", says, d.Err.Error())
		}
		return
	}
}
