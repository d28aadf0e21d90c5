package wellbehaved

import (
	"testing"

	"github.com/informersim/informersim/reports"
)

// A message with the path of a request tells of its answer, and another one of the last in its words.
func TestFailureOfMessage(t *testing.T) {
	const reset = "read tcp: read: connection reset by peer"
	s := &finalFailures{failed: map[sentWords]reports.Evidence{}}
	for n, at := range []sentWords{{1, reset, "/api/v1/pods"}, {1, reset, "/apis/example.dev/v1/gauges/a"}, {1, "etcdserver: request timed out", "/api/v1/pods"}, {2, "no leader", "/api/v1/pods"}} {
		s.order = append(s.order, at)
		s.failed[at] = reports.Evidence{Step: uint64(n + 1)}
	}
	for text, want := range map[string]uint64{
		`it could not be made: Post "http://sim/api/v1/pods": ` + reset:                      1,
		`it could not be made: Post \"http://sim/api/v1/pods\": ` + reset:                    1,
		"it could not be made: " + reset:                                                     2,
		"it could not be made: Internal error occurred: etcdserver: request timed out, alas": 3,
		"there is no leader": 0,
	} {
		if e, is := s.of(1, text); e.Step != want || is != (want > 0) {
			t.Errorf("%s: %d, want %d", text, e.Step, want)
		}
	}
}
