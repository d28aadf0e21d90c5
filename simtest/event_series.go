package simtest

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest/internal/bubble"
	"github.com/informersim/informersim/simtest/internal/exchange"
)

// keepsEventLock reports whether client-go's event broadcaster (tools/events) keeps its lock until a request is answered: it does so every six minutes, for the series of
// events that are over, and every thirty minutes for all series. Whoever records an event waits for that lock, as the other one of the two does every thirty minutes,
// and a goroutine that waits for a lock keeps a bubble from coming to rest where the program is not built with the overlay, so no answer would ever come.
func keepsEventLock(hr *http.Request) bool {
	if bubble.Seeded() || hr.Method == http.MethodGet || !strings.HasPrefix(hr.URL.Path, "/apis/events.k8s.io/") {
		return false
	}
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if _, method, ok := strings.Cut(f.Function, "k8s.io/client-go/tools/events.(*eventBroadcasterImpl)."); ok {
			return method == "finishSeries" || method == "refreshExistingEventSeries"
		}
		if !more {
			return false
		}
	}
}

// refuseSeries is the answer to a request for which keepsEventLock holds. The broadcaster gives up what is refused with any other status than "already exists": it has been
// told of the series by requests without a lock, and loses no more than their last counts, as it may in a cluster.
func refuseSeries(hr *http.Request) (*http.Response, error) {
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: metav1.StatusReasonServiceUnavailable, Code: http.StatusServiceUnavailable,
		Message: "simtest refuses what client-go's event broadcaster writes while it keeps its lock, in a test that is not built with the overlay",
	})
	if err != nil {
		return nil, err
	}
	return exchange.Whole(hr, http.StatusServiceUnavailable, http.Header{"Content-Type": {"application/json"}}, body), nil
}
