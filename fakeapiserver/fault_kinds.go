package fakeapiserver

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/informersim/informersim/sim"
)

// FaultKind names a way in which things go wrong. It is the name of the choice, too.
type FaultKind string

// The kinds of faults that a real server or network shows every day: FaultKinds. The built-in mixes are made of them.
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

// Rarer kinds, which a real server or network shows as well. The mix `edges` has them.
const (
	WatchSlow            FaultKind = "watch-slow"              // the server closes the watch, as the client does not keep up (I105)
	WatchEOFInFrame      FaultKind = "watch-eof-in-frame"      // the connection ends in the middle of the next frame
	WatchCutLength       FaultKind = "watch-cut-length"        // the connection ends in the length before the next frame
	WatchBookmarkLost    FaultKind = "watch-bookmark-lost"     // the next periodic bookmark is not sent
	WatchBookmarkLate    FaultKind = "watch-bookmark-late"     // the next bookmark comes later, events before it (k126958)
	ListTooLarge         FaultKind = "list-too-large"          // 504 ResourceVersionTooLarge, for a list at a revision
	ListRefused          FaultKind = "list-refused"            // connection refused
	ListResetHeaders     FaultKind = "list-reset-headers"      // served, but the connection is reset within the answer's headers
	ListSlow             FaultKind = "list-slow"               // the answer takes its time
	WatchOpenTooLarge    FaultKind = "watch-open-too-large"    // a watch-list is opened, and gets an ERROR event 504 (S16)
	WatchOpenStale       FaultKind = "watch-open-stale"        // served by the replica that lags most, for which the revision may be in the future (S14)
	WatchOpenLost        FaultKind = "watch-open-lost"         // the connection ends before the answer's headers arrive
	WatchOpenResetHeader FaultKind = "watch-open-reset-header" // it is reset within them
	WatchOpenSlow        FaultKind = "watch-open-slow"         // the headers take their time
	WriteRefused         FaultKind = "write-refused"           // connection refused
	WriteResetHeaders    FaultKind = "write-reset-headers"     // committed, but the connection is reset within the answer's headers
	WriteSlow            FaultKind = "write-slow"              // committed, but the answer takes its time
	LeaderLoss           FaultKind = "leader-loss"             // the Store has no leader: watch caches start anew, writes fail (k111116)
	ReplicaSkew          FaultKind = "replica-skew"            // a replica's clock is wrong by a constant
)

// Kinds that no correct server shows, and the restore of an older state. They happen only where they are asked for by name.
const (
	WatchGarbage       FaultKind = "watch-garbage"         // the next frame is not one
	WatchDuplicate     FaultKind = "watch-duplicate"       // the next frame comes twice
	WatchReorder       FaultKind = "watch-reorder"         // the next frame comes after the one that follows it
	WatchDrop          FaultKind = "watch-drop"            // the next frame is left out
	WatchNoEndBookmark FaultKind = "watch-no-end-bookmark" // the initial events of a watch-list never end (k135895)
	RestoreFault       FaultKind = "restore"               // the Store is restored to an older revision (k107457)
	RestoreBumped      FaultKind = "restore-bumped"        // the same, with the revision bumped past all that was
)

// faultStage says what a kind of fault can hit, and when.
type faultStage uint8

const (
	onList        faultStage = iota // a list that no replica has yet
	onListAnswer                    // a list that is not answered yet
	onOpen                          // the opening of a watch that no replica has yet
	onOpenAnswer                    // the opening of a watch that is not answered yet
	onWrite                         // a write that no replica has yet
	onWriteAnswer                   // a write that is not answered yet
	onStream                        // an open watch
	onFrame                         // the next frame of an open watch
	onStore
	onReplica
	numStages
)

type faultSpec struct {
	name  FaultKind
	stage faultStage
	code  int // of the answer, if it is one
	tier  faultTier
	kind  sim.Kind
}

// faultTier says where a kind may come from.
type faultTier uint8

const (
	everyday faultTier = iota
	rare
	broken
)

// faultMask has a bit for each kind.
type faultMask uint64

const numFaults = 56

// New kinds go to the end of their tier, and no kind before another tier's: what a swarm draws depends on the order.
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

	{name: WatchSlow, stage: onStream, tier: rare}, {name: WatchEOFInFrame, stage: onFrame, tier: rare},
	{name: WatchCutLength, stage: onFrame, tier: rare}, {name: WatchBookmarkLost, stage: onFrame, tier: rare},
	{name: WatchBookmarkLate, stage: onFrame, tier: rare},
	{name: ListTooLarge, stage: onList, tier: rare}, {name: ListRefused, stage: onList, tier: rare},
	{name: ListResetHeaders, stage: onListAnswer, tier: rare}, {name: ListSlow, stage: onListAnswer, tier: rare},
	{name: WatchOpenTooLarge, stage: onOpen, tier: rare}, {name: WatchOpenStale, stage: onOpen, tier: rare},
	{name: WatchOpenLost, stage: onOpenAnswer, tier: rare}, {name: WatchOpenResetHeader, stage: onOpenAnswer, tier: rare},
	{name: WatchOpenSlow, stage: onOpenAnswer, tier: rare},
	{name: WriteRefused, stage: onWrite, tier: rare}, {name: WriteResetHeaders, stage: onWriteAnswer, tier: rare},
	{name: WriteSlow, stage: onWriteAnswer, tier: rare},
	{name: LeaderLoss, stage: onStore, tier: rare}, {name: ReplicaSkew, stage: onReplica, tier: rare},

	{name: WatchGarbage, stage: onFrame, tier: broken}, {name: WatchDuplicate, stage: onFrame, tier: broken},
	{name: WatchReorder, stage: onFrame, tier: broken}, {name: WatchDrop, stage: onFrame, tier: broken},
	{name: WatchNoEndBookmark, stage: onFrame, tier: broken},
	{name: RestoreFault, stage: onStore, tier: broken}, {name: RestoreBumped, stage: onStore, tier: broken},
})

func buildFaultTable(t [numFaults]faultSpec) [numFaults]faultSpec {
	for i := range t {
		t[i].kind = sim.RegisterKind(string(t[i].name), sim.ClassFault)
	}
	return t
}

// stageMask has the kinds of each stage.
var stageMask = buildStageMasks()

func buildStageMasks() (m [numStages]faultMask) {
	for i := range faultTable {
		m[faultTable[i].stage] |= 1 << i
	}
	return m
}

func maskOf(kinds ...FaultKind) (m faultMask) {
	for _, k := range kinds {
		if i, ok := faultIndex(k); ok {
			m |= 1 << i
		}
	}
	return m
}

func (m faultMask) has(k FaultKind) bool { return m&maskOf(k) != 0 }

// FaultKinds are the everyday kinds, in the order in which they are documented.
func FaultKinds() []FaultKind { return kindsUpTo(everyday) }

// AllFaultKinds are all kinds, those that only a broken server shows included.
func AllFaultKinds() []FaultKind { return kindsUpTo(broken) }

func kindsUpTo(tier faultTier) []FaultKind {
	var names []FaultKind
	for i := range faultTable {
		if faultTable[i].tier <= tier {
			names = append(names, faultTable[i].name)
		}
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
	return "", fmt.Errorf("there is no fault %q: known are %s", text, joinKinds(AllFaultKinds()))
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
