package informer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// IsExpired reports whether err is a 410, with either reason: Expired, or Gone from servers before 1.18 (I2).
func IsExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// IsTooLargeResourceVersion reports whether err means that the server has not reached the requested resourceVersion (I4).
func IsTooLargeResourceVersion(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	if !apierrors.IsTimeout(err) {
		return false
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Details == nil {
		return false
	}
	// Servers of 1.17.0 to 1.18.5 say so in a cause's message, older ones in the status message.
	const text = "Too large resource version"
	for _, cause := range status.Status().Details.Causes {
		if cause.Message == text {
			return true
		}
	}
	return strings.Contains(status.Status().Message, text)
}

// isUnavailable reports whether a list or watch-list at a resourceVersion has to be retried without one (I2).
func isUnavailable(err error) bool { return IsExpired(err) || IsTooLargeResourceVersion(err) }

// isWatchRetriable reports whether opening a watch should be retried without a list: the server is down or busy and will
// probably still have its history later (I33).
func isWatchRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isSilentClose reports whether a watch stream that broke with err counts as closed: it was cut, not corrupted (I37).
func isSilentClose(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// decodingError returns the in-stream ERROR event into which a client turns a frame that it cannot decode (I37).
func decodingError(err error) error {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return apierrors.FromObject(reporter.AsObject(fmt.Errorf("unable to decode an event from the watch stream: %w", err)))
}
