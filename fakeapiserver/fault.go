package fakeapiserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/informersim/informersim/sim"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FaultKind names a way in which things go wrong. It is the name of the choice, too.
type FaultKind string

// The kinds of faults.
const (
	WatchClose    FaultKind = "watch-close"     // the server ends a watch cleanly
	WatchEOF      FaultKind = "watch-eof"       // the connection ends in the middle of a watch
	WatchReset    FaultKind = "watch-reset"     // the connection of a watch is reset
	WatchStall    FaultKind = "watch-stall"     // the server sends nothing more, not even the end at the deadline
	WatchHalfOpen FaultKind = "watch-half-open" // the connection is dead, which the client's health check finds 45 s later
	WatchDelay    FaultKind = "watch-delay"     // nothing arrives for a while
	Watch410      FaultKind = "watch-410"       // an ERROR event: Expired
	Watch500      FaultKind = "watch-500"       // an ERROR event: InternalError

	List410   FaultKind = "list-410"   // only where the real server could: with a revision or a continue token
	List429   FaultKind = "list-429"   // with Retry-After
	List500   FaultKind = "list-500"   // InternalError
	List503   FaultKind = "list-503"   // ServiceUnavailable
	List504   FaultKind = "list-504"   // Timeout
	ListLost  FaultKind = "list-lost"  // the connection ends before the answer arrives
	ListReset FaultKind = "list-reset" // the connection is reset before the request is served
	ListStale FaultKind = "list-stale" // served by the replica that lags most, if it may answer it

	WatchOpen429     FaultKind = "watch-open-429"
	WatchOpen500     FaultKind = "watch-open-500"
	WatchOpen503     FaultKind = "watch-open-503"
	WatchOpen504     FaultKind = "watch-open-504"
	WatchOpenRefused FaultKind = "watch-open-refused" // connection refused

	Write429   FaultKind = "write-429"
	Write500   FaultKind = "write-500"
	Write503   FaultKind = "write-503"
	Write504   FaultKind = "write-504"
	WriteLost  FaultKind = "write-lost"  // committed, but the answer is lost
	WriteReset FaultKind = "write-reset" // not committed: the connection is reset before

	CompactFault   FaultKind = "compact"
	ReplicaRestart FaultKind = "replica-restart"
	ReplicaLag     FaultKind = "replica-lag" // a replica applies nothing for a while
)

// Fault is a thing that goes wrong, as data.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Target is the client's name, or the replica's ("replica/1"); "" for any client, or replica/0.
	Target string `json:"target,omitempty"`
	// Resource is the plural of the resource whose requests are hit; "" for any.
	Resource string `json:"resource,omitempty"`
	// Count is how many requests or watches are hit, 1 if 0; negative for all that are in flight, and none later.
	Count int `json:"count,omitempty"`
	// RetryAfter, rounded up to seconds, is told to the client. 429 tells 1 s if it is 0, the others nothing.
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	// Duration is how long a stall, a delay or a lag lasts; 0 means until StopFaults.
	Duration time.Duration `json:"duration,omitempty"`
	// Revision is what is compacted to; 0 for the current one.
	Revision int64 `json:"revision,omitempty"`
}

// faultStage says what a kind of fault can hit, and when.
type faultStage uint8

const (
	onList        faultStage = iota // a list that no replica has yet
	onListAnswer                    // a list that is not answered yet
	onOpen                          // the opening of a watch that no replica has yet
	onWrite                         // a write that no replica has yet
	onWriteAnswer                   // a write that is not answered yet
	onStream                        // an open watch
	onStore
	onReplica
)

type faultSpec struct {
	name  FaultKind
	stage faultStage
	code  int // of the answer, if it is one
	kind  sim.Kind
}

// numFaults is the number of kinds; a faultMask has a bit for each.
const numFaults = 30

type faultMask uint32

var faultTable = buildFaultTable([numFaults]faultSpec{
	{name: WatchClose, stage: onStream}, {name: WatchEOF, stage: onStream}, {name: WatchReset, stage: onStream},
	{name: WatchStall, stage: onStream}, {name: WatchHalfOpen, stage: onStream}, {name: WatchDelay, stage: onStream},
	{name: Watch410, stage: onStream, code: http.StatusGone}, {name: Watch500, stage: onStream, code: http.StatusInternalServerError},
	{name: List410, stage: onList, code: http.StatusGone}, {name: List429, stage: onList, code: http.StatusTooManyRequests},
	{name: List500, stage: onList, code: http.StatusInternalServerError}, {name: List503, stage: onList, code: http.StatusServiceUnavailable},
	{name: List504, stage: onList, code: http.StatusGatewayTimeout},
	{name: ListLost, stage: onListAnswer}, {name: ListReset, stage: onList}, {name: ListStale, stage: onList},
	{name: WatchOpen429, stage: onOpen, code: http.StatusTooManyRequests}, {name: WatchOpen500, stage: onOpen, code: http.StatusInternalServerError},
	{name: WatchOpen503, stage: onOpen, code: http.StatusServiceUnavailable}, {name: WatchOpen504, stage: onOpen, code: http.StatusGatewayTimeout},
	{name: WatchOpenRefused, stage: onOpen},
	{name: Write429, stage: onWrite, code: http.StatusTooManyRequests}, {name: Write500, stage: onWrite, code: http.StatusInternalServerError},
	{name: Write503, stage: onWrite, code: http.StatusServiceUnavailable}, {name: Write504, stage: onWrite, code: http.StatusGatewayTimeout},
	{name: WriteLost, stage: onWriteAnswer}, {name: WriteReset, stage: onWrite},
	{name: CompactFault, stage: onStore}, {name: ReplicaRestart, stage: onReplica}, {name: ReplicaLag, stage: onReplica},
})

func buildFaultTable(t [numFaults]faultSpec) [numFaults]faultSpec {
	for i := range t {
		t[i].kind = sim.RegisterKind(string(t[i].name), sim.ClassFault)
	}
	return t
}

// FaultKinds are all kinds, in the order in which they are documented.
func FaultKinds() []FaultKind {
	names := make([]FaultKind, 0, numFaults)
	for i := range faultTable {
		names = append(names, faultTable[i].name)
	}
	return names
}

func faultIndex(name FaultKind) (int, bool) {
	for i := range faultTable {
		if faultTable[i].name == name {
			return i, true
		}
	}
	return 0, false
}

func faultOfKind(kind sim.Kind) (int, bool) {
	for i := range faultTable {
		if faultTable[i].kind == kind {
			return i, true
		}
	}
	return 0, false
}

// ParseFaultKind reads the name of a kind; the error of an unknown one says what may have been meant.
func ParseFaultKind(text string) (FaultKind, error) {
	if _, ok := faultIndex(FaultKind(text)); ok {
		return FaultKind(text), nil
	}
	if near := nearestFault(text); near != "" {
		return "", fmt.Errorf("there is no fault %q: did you mean %q?", text, near)
	}
	return "", fmt.Errorf("there is no fault %q: known are %s", text, joinKinds(FaultKinds()))
}

func joinKinds(kinds []FaultKind) string {
	var b strings.Builder
	for i, k := range kinds {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(k))
	}
	return b.String()
}

// The errors with which connections break, as Go's HTTP client shows them.
var (
	errReset   error = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errRefused error = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	// ErrConnectionLost is what the health check of HTTP/2 makes of a connection that is dead.
	ErrConnectionLost = errors.New("http2: client connection lost")
)

// retrySeconds is the fault's Retry-After in whole seconds.
func (f *Fault) retrySeconds() int {
	return int((f.RetryAfter + time.Second - 1) / time.Second)
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
		switch spec.name {
		case WatchOpenRefused:
			return errRefused
		case ListLost, WriteLost:
			return io.ErrUnexpectedEOF
		}
		return errReset
	}
	if retry > 0 {
		if err.ErrStatus.Details == nil {
			err.ErrStatus.Details = &metav1.StatusDetails{}
		}
		err.ErrStatus.Details.RetryAfterSeconds = int32(retry)
	}
	return err
}

// inconsistentToken is the token with which the request's list may go on elsewhere.
func (c *call) inconsistentToken() string {
	t, err := decodeContinue(c.options.Continue)
	if err != nil {
		return ""
	}
	return encodeContinue(inconsistent, t.Start)
}

// nearestFault is the kind whose name is closest to a text, "" if none is close.
func nearestFault(text string) FaultKind {
	best, bestDistance := FaultKind(""), 4
	for i := range faultTable {
		if d := editDistance(text, string(faultTable[i].name)); d < bestDistance {
			best, bestDistance = faultTable[i].name, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
