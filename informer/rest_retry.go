package informer

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// RESTAnswer is the outcome of one attempt of a request: an error without an HTTP response (Err), or an unsuccessful
// response (StatusCode, RetryAfter and, decoded, Err).
type RESTAnswer struct {
	// Err is the transport's error, or the API error in the response. nil means success.
	Err error
	// StatusCode is the response's status code, 0 if there was no response.
	StatusCode int
	// RetryAfter is the Retry-After header in seconds; HasRetryAfter reports whether it was present and numeric.
	RetryAfter    int
	HasRetryAfter bool
}

// RESTAnswerOf returns the answer for a transport that only reports errors: an API error stands for a response with its
// code, and with a Retry-After if its details name seconds, as an apiserver then sends that header.
func RESTAnswerOf(err error) RESTAnswer {
	a := RESTAnswer{Err: err}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		a.StatusCode = int(s.Code)
		if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
			a.RetryAfter, a.HasRetryAfter = int(s.Details.RetryAfterSeconds), true
		}
	}
	return a
}

// RESTAction is the decision of a RESTRetry.
type RESTAction uint8

// The actions.
const (
	// RESTSucceed: the request succeeded.
	RESTSucceed RESTAction = iota
	// RESTRetryAt: send the request again at RESTDecision.At.
	RESTRetryAt
	// RESTFail: pass RESTDecision.Err to the Reflector.
	RESTFail
	// RESTEmptyWatch: report to the Reflector that the watch opened and then closed without an error.
	RESTEmptyWatch
)

// RESTDecision says what to do after an attempt.
type RESTDecision struct {
	Action RESTAction
	At     time.Time
	Err    error
}

// RESTRetry is the layer of a REST client between a Reflector's want and the connection: it retries a request where
// client-go's rest.Request does, before the Reflector sees the answer (I36). It covers one request; the zero value is ready
// for a LIST.
type RESTRetry struct {
	// Watch is set for a WATCH: cut connections and timeouts while opening are retried, and if they persist the watch
	// counts as opened and closed.
	Watch bool
	// MaxRetries limits the retries. 0 means DefaultRESTRetries, negative none.
	MaxRetries int

	attempts int
	last     error // of the previous attempt
}

// Attempts returns the number of failed attempts so far.
func (r *RESTRetry) Attempts() int { return r.attempts }

// OnAnswer handles the answer of an attempt that ended at now.
func (r *RESTRetry) OnAnswer(a RESTAnswer, now time.Time) RESTDecision {
	if a.Err == nil {
		return RESTDecision{Action: RESTSucceed}
	}
	r.attempts++
	retriable := a.StatusCode == 0 && r.retriable(a.Err)
	if wait, ok := r.wait(a, retriable); ok && r.attempts <= r.maxRetries() {
		r.remember(a)
		return RESTDecision{Action: RESTRetryAt, At: now.Add(wait)}
	}
	if retriable && r.Watch {
		return RESTDecision{Action: RESTEmptyWatch}
	}
	if a.StatusCode != 0 && !r.Watch {
		return RESTDecision{Action: RESTFail, Err: a.Err}
	}
	return RESTDecision{Action: RESTFail, Err: r.wrap(a.Err)}
}

func (r *RESTRetry) maxRetries() int {
	switch {
	case r.MaxRetries == 0:
		return DefaultRESTRetries
	case r.MaxRetries < 0:
		return 0
	}
	return r.MaxRetries
}

// wait returns the delay before the next attempt, if there may be one: a second after a cut connection, and the requested
// time after a 429 or 5xx with Retry-After. Without that header those are not retried.
func (r *RESTRetry) wait(a RESTAnswer, retriable bool) (time.Duration, bool) {
	if r.Watch && !retriesWatches {
		return 0, false
	}
	if retriable {
		return time.Second, true
	}
	busy := a.StatusCode == http.StatusTooManyRequests || a.StatusCode >= http.StatusInternalServerError
	return time.Duration(a.RetryAfter) * time.Second, busy && a.HasRetryAfter
}

func (r *RESTRetry) retriable(err error) bool {
	if r.Watch {
		return utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
	}
	return utilnet.IsConnectionReset(err) || retriesEOF && utilnet.IsProbableEOF(err) || connectionLost(err)
}

// remember keeps transport errors only: a response is not an error to rest.Request until it is the final one.
func (r *RESTRetry) remember(a RESTAnswer) {
	if a.StatusCode == 0 {
		r.last = a.Err
	}
}

// wrap adds the error of an earlier attempt to the text of the final one, but not to its chain. rest.Request does so for
// transport errors, and for responses of a WATCH.
func (r *RESTRetry) wrap(err error) error {
	if r.last == nil || r.last.Error() == err.Error() {
		return err
	}
	earlier := r.last
	var u *url.Error
	if errors.As(earlier, &u) && u.Err != nil {
		earlier = u.Err
	}
	return &retriedError{final: err, earlier: earlier}
}

type retriedError struct{ final, earlier error }

func (e *retriedError) Error() string {
	return fmt.Sprintf("%v - error from a previous attempt: %v", e.final, e.earlier)
}

func (e *retriedError) Unwrap() error { return e.final }
