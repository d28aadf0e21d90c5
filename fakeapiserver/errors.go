package fakeapiserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// freshRetrySeconds is the Retry-After of an answer to a request from the future (S5).
const freshRetrySeconds = 1

// errTooLarge says that a revision has not come yet, after the wait for it (S5, I103).
func errTooLarge(want, have int64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", want, have), freshRetrySeconds)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// errTooOld says that a watch cannot start so far back (S13, I100).
func errTooOld(want, oldest int64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", want, oldest))
}

// errCompacted says that an exact revision is gone.
func errCompacted() error {
	return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}

// errContinueExpired says that a paged list cannot go on where it was, and carries a token with which it may go on anyway,
// at another revision (S10, I109).
func errContinueExpired(token string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure,
		Code:   http.StatusGone,
		Reason: metav1.StatusReasonExpired,
		Message: "The provided continue parameter is too old " +
			"to display a consistent list result. You can start a new list without " +
			"the continue parameter, or use the continue token in this response to " +
			"retrieve the remainder of the results. Continuing with the provided " +
			"token results in an inconsistent list - objects that were created, " +
			"modified, or deleted between the time the first chunk was returned " +
			"and now may show up in the list.",
		ListMeta: metav1.ListMeta{Continue: token},
	}}
}

// errUnready says that the watch cache is being filled (I107).
func errUnready(retrySeconds int) error {
	return apierrors.NewTooManyRequests("storage is (re)initializing", retrySeconds)
}

// errNoRevision is what a watch cache says to a resourceVersion that is no number: a 500 without a reason (S2).
func errNoRevision(rv string, err error) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError,
		Message: field.Invalid(field.NewPath("resourceVersion"), rv, err.Error()).Error(),
	}}
}

func errConflict(r *store.Resource, name string) error {
	return apierrors.NewConflict(r.GroupResource(), name,
		fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
}

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

// undecodable is what a client's decoder makes of a frame that is not one: an ERROR event, after which it gives the watch up.
func decodingError(why string) *metav1.Status {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, "GET", "ClientWatchDecoding")
	st, ok := reporter.AsObject(errors.New("unable to decode an event from the watch stream: " + why)).(*metav1.Status)
	if !ok {
		return errorFrame(http.StatusInternalServerError, why)
	}
	return st
}

func statusOf(err error) *metav1.Status {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		st := status.Status()
		return &st
	}
	st := apierrors.NewInternalError(err).Status()
	return &st
}

// errorFrame is the status of an in-stream ERROR with that code.
func errorFrame(code int, message string) *metav1.Status {
	switch code {
	case http.StatusGone:
		return statusOf(apierrors.NewResourceExpired(message))
	case http.StatusInternalServerError:
		return statusOf(apierrors.NewInternalError(errors.New(message)))
	}
	return statusOf(fmt.Errorf("%s", message))
}
