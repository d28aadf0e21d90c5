package fakeapiserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// freshRetrySeconds is the Retry-After of a request at a future revision (S5).
const freshRetrySeconds = 1

// errTooLarge is the error of a request at a revision that is still in the future after the wait for it (S5, I103).
func errTooLarge(want, have int64) error { return errFuture(want, have, freshRetrySeconds) }

// errStoreTooLarge is that of the Store, which waits for no revision, and does not say when to come again.
func errStoreTooLarge(want, have int64) error { return errFuture(want, have, 0) }

func errFuture(want, have int64, retrySeconds int) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", want, have), retrySeconds)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// errTooOld is the error of a watch from before the window (S13, I100).
func errTooOld(want, oldest int64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", want, oldest))
}

// errCompacted is the error of a list at a compacted revision.
func errCompacted() error {
	return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}

// errContinueExpired is the error of a continue token whose revision is compacted. It carries a token that continues the list
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

// errUnready is the error while the watch cache is being filled (I107).
func errUnready(retrySeconds int) error {
	return apierrors.NewTooManyRequests("storage is (re)initializing", retrySeconds)
}

// errNoRevision is the error of a watch whose resourceVersion is not a number: a 500 without a reason (S2).
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

// errNotCommitted is the error of a write that the Store does not take.
func errNotCommitted(err error) error {
	if refused := (*store.RefusedError)(nil); errors.As(err, &refused) {
		return &refusedWrite{refused}
	}
	return apierrors.NewBadRequest(err.Error())
}

// refusedWrite is the API's error of a write that the Store's journal refuses: 507 if there is no room for it, else 503.
type refusedWrite struct{ *store.RefusedError }

func (e *refusedWrite) Unwrap() error { return e.RefusedError }

// Status implements apierrors.APIStatus.
func (e *refusedWrite) Status() metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Message: e.Error()}
	if e.Full {
		s.Code, s.Reason = http.StatusInsufficientStorage, reasonInsufficientStorage
	}
	return s
}

// reasonInsufficientStorage is a reason of ours: a real server has none for a full disk.
const reasonInsufficientStorage metav1.StatusReason = "InsufficientStorage"

// Refused reports whether err means that the Store's journal has refused a change, which may be tried again later.
func Refused(err error) bool { return errors.As(err, new(*store.RefusedError)) }

// The errors of broken connections, as Go's HTTP client reports them.
var (
	errReset   error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	// ErrConnectionLost is the error of a connection that HTTP/2's health check found dead.
	ErrConnectionLost = errors.New("http2: client connection lost")
)

// errNoLeader is the error of a request that needs the Store while it has no leader.
func errNoLeader() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "etcdserver: no leader",
	}}
}

// decodingError returns the ERROR event into which a client's decoder turns a garbled frame, after which it gives up the watch.
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

// codeText is a Status as answers to requests are told: "410 Expired".
func codeText(st *metav1.Status) string {
	if st.Reason == "" {
		return strconv.Itoa(int(st.Code))
	}
	return fmt.Sprintf("%d %s", st.Code, st.Reason)
}

// errorFrame returns the status of an in-stream ERROR with that code.
func errorFrame(code int, message string) *metav1.Status {
	switch code {
	case http.StatusGone:
		return statusOf(apierrors.NewResourceExpired(message))
	case http.StatusInternalServerError:
		return statusOf(apierrors.NewInternalError(errors.New(message)))
	}
	return statusOf(fmt.Errorf("%s", message))
}
