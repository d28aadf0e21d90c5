package fakeapiserver

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The errors with which connections break, as Go's HTTP client shows them.
var (
	errReset   error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	// ErrConnectionLost is what the health check of HTTP/2 makes of a connection that is dead.
	ErrConnectionLost = errors.New("http2: client connection lost")
)

// errNoLeader is what requests get that need the Store while it has no leader.
func errNoLeader() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "etcdserver: no leader",
	}}
}

// answer is the error that a request gets.
func (f *Fault) answer(spec *faultSpec, c *call) error {
	retry := f.retrySeconds()
	var err *apierrors.StatusError
	switch spec.code {
	case http.StatusGone:
		if c.options.Continue != "" {
			return errContinueExpired(c.inconsistentToken())
		}
		return errCompacted()
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("Too many requests, please try again later.", max(retry, 1))
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("apiserver not ready")
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", retry)
	default:
		return f.breakage(spec, c)
	}
	if retry > 0 {
		if err.ErrStatus.Details == nil {
			err.ErrStatus.Details = &metav1.StatusDetails{}
		}
		err.ErrStatus.Details.RetryAfterSeconds = int32(retry)
	}
	return err
}

// breakage is how the request's connection breaks.
func (f *Fault) breakage(spec *faultSpec, c *call) error {
	switch spec.name {
	case WatchOpenRefused, ListRefused, WriteRefused:
		return errRefused
	case ListLost, WriteLost, WatchOpenLost:
		return io.ErrUnexpectedEOF
	case ListTooLarge:
		want, _ := parseRevision(c.options.ResourceVersion) // such a fault hits only lists at a revision
		return errTooLarge(want, min(want-1, c.replica.Revision(c.res)))
	}
	return errReset
}

// inconsistentToken is the token with which the request's list may go on elsewhere.
func (c *call) inconsistentToken() string {
	t, err := decodeContinue(c.options.Continue)
	if err != nil {
		return ""
	}
	return encodeContinue(inconsistent, t.Start)
}

// undecodable is what a client's decoder makes of a frame that is not one: an ERROR event, after which it gives the watch up.
func undecodable(why string) *metav1.Status {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, "GET", "ClientWatchDecoding")
	st, ok := reporter.AsObject(errors.New("unable to decode an event from the watch stream: " + why)).(*metav1.Status)
	if !ok {
		return errorFrame(http.StatusInternalServerError, why)
	}
	return st
}
