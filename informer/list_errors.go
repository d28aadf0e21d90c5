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

// IsExpired says whether err is a 410, under either of its reasons: Expired, or Gone from servers before 1.18 (I2).
func IsExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// IsTooLargeResourceVersion says whether err means that the server has not reached the resourceVersion asked for (I4).
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

// isUnavailable says whether a list or watch-list at a resourceVersion has to be tried without one (I2).
func isUnavailable(err error) bool { return IsExpired(err) || IsTooLargeResourceVersion(err) }

// isWatchRetriable says whether opening a watch is worth trying again without a list: the server is down or busy, and the
// history it had is likely to be there later (I33).
func isWatchRetriable(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// isSilentClose says whether a watch stream that broke with err ends as if it had been closed: it was cut, not corrupted
// (I37).
func isSilentClose(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err)
}

// decodingError is the in-stream ERROR event that a client makes of a frame it cannot decode (I37).
func decodingError(err error) error {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return apierrors.FromObject(reporter.AsObject(fmt.Errorf("unable to decode an event from the watch stream: %w", err)))
}
