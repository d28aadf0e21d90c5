package timeline

import (
	"errors"
	"io"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// A Timeline is a run as its trace tells it.
type Timeline struct {
	Header sim.Header
	// File is the trace's path, "" for what is to be the same wherever the trace lies.
	File string
	// End is the trace's end line, nil if it lacks one. Broken says then, in words, what the file lacks, "" if nothing; Cut, where it ends.
	End    *sim.TraceEnd
	Broken string
	Cut    sim.Cut
	// Conclusion is what the end line says of the run; never nil.
	Conclusion *reports.Conclusion
	// Run counts what happened.
	Run reports.Run

	Lanes    []Lane
	Parts    []Part
	Steps    []Step // Steps[i] is step i+1
	Bands    []Band
	Objects  []*Object  // in the order of their first write
	Requests []*Request // in the order in which they were sent
	Faults   []Fault
	// Reconciles are the calls of workers, in the order in which they began.
	Reconciles []*Reconcile

	follows      map[string][]string // by owner of a lane, what it follows
	stoppedPools []string            // workers that no longer worked at the end
}

// A Role says what an actor is.
type Role string

// The roles, in the order of their lanes.
const (
	RoleBody      Role = "body" // the script, or the body of a Go test
	RoleStore     Role = "store"
	RoleReplica   Role = "replica"
	RoleConn      Role = "connection"
	RoleProcess   Role = "process"
	RoleReflector Role = "reflector"
	RoleQueue     Role = "queue"
	RoleIndexer   Role = "indexer"
	RoleHandler   Role = "handler"
	RoleWorkQueue Role = "work queue"
	RoleWorker    Role = "worker"
	RoleOther     Role = "other"
)

// A Lane is a part of the run with a line of its own. Owner is the informer or the client that it belongs to.
type Lane struct {
	Name  string
	Role  Role
	Owner string
}

// A PartKind says what the items of a part are.
type PartKind string

// The kinds of parts. An item's RV is what the part has of the object; keys are "RESOURCE NAMESPACE/NAME".
const (
	PartStore     PartKind = "store"     // objects
	PartApplied   PartKind = "applied"   // objects in a replica's watch cache
	PartRequests  PartKind = "requests"  // requests in flight, and watches
	PartDelivered PartKind = "delivered" // the newest version of each object that a client was sent
	PartReflector PartKind = "reflector" // what it does
	PartQueue     PartKind = "queue"     // what was delivered and has not reached the Indexer
	PartIndexer   PartKind = "indexer"   // objects
	PartRing      PartKind = "ring"      // notifications that the handler is still to be told; without resyncs
	PartTold      PartKind = "told"      // the newest version of each object that the handler was told
	PartWork      PartKind = "work"      // keys in a work queue, or that a worker reconciles
	PartProcess   PartKind = "process"   // whether it runs
	PartHeld      PartKind = "held"      // what a script holds
)

// A Part is a set of items whose state the run changes.
type Part struct {
	Lane int
	Kind PartKind
}

// An Effect changes an item of a part: it now has this revision and note, or is gone.
type Effect struct {
	Part int
	Key  string
	RV   int64
	Note string
	Gone bool
}

// A Shape says what a mark means.
type Shape string

// The shapes of marks.
const (
	ShapeEvent Shape = "event" // something happened there
	ShapeFault Shape = "fault" // a fault hit it
	ShapeLost  Shape = "lost"  // something was lost there: a watch broke, an answer did not arrive
	ShapeWrite Shape = "write" // a commit
	ShapeSync  Shape = "list"  // a list took effect
)

// A Mark is what a step shows on a lane.
type Mark struct {
	Lane  int
	Shape Shape
}

// An Arrow leads from a lane at an earlier step, or at this one, to a lane at this step. A lost one ended in nothing.
type Arrow struct {
	From     int // index of the step it begins at
	FromLane int
	ToLane   int
	Lost     bool
}

// A Step is a step of the run.
type Step struct {
	At   time.Duration // virtual time at which it began
	Lane int           // of the actor that it was a choice of; -1 for the clock
	// Choice says what was picked; Texts what was recorded, one each.
	Choice  string
	Texts   []string
	Keys    []string // objects that it is about, as parts have them
	Marks   []Mark
	Arrows  []Arrow
	Effects []Effect
}

// A Band is a time during which a lane was not as it should be: held, down, without a watch, stalled; or during which a worker was busy.
type Band struct {
	Lane     int
	From, To int // indices of steps; To is the last one
	Text     string
	Fault    bool // a fault began it
}

// A Fault is a fault that happened.
type Fault struct {
	Step   uint64
	At     time.Duration
	Name   string
	Victim string
}

// A Request is a request of a client and what became of it.
type Request struct {
	Client   string
	N        int64
	Resource string
	What     string
	Step     uint64
	At       time.Duration
	// Answer is the code or the error, "" if none had arrived by the end; AnswerStep is 0 then.
	Answer     string
	AnswerStep uint64
	AnswerAt   time.Duration
	Failed     bool
	// Frames counts the events of a watch; Ended says why it ended, at EndedStep, "" if it had not.
	Frames    int
	Ended     string
	EndedStep uint64
	EndedAt   time.Duration
	failure   string // the ERROR event that the watch has brought
	// By is the reconcile that sent it, as a Go test tells; nil if that is not known.
	By *Reconcile
}

// Read reads a whole trace. A trace without its end gives the timeline of what is there, and says so; any other mistake in the file is
// an error.
func Read(r *sim.TraceReader) (*Timeline, error) {
	b := newBuilder(r.Header())
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var cut *sim.TraceError
		if errors.As(err, &cut) && cut.Cut != sim.NotCut {
			b.t.Broken, b.t.Cut = reports.EndedEarly(nil, cut), cut.Cut
			break
		}
		if err != nil {
			return nil, err
		}
		b.step(s)
	}
	return b.end(r.End())
}

// Passed reports whether the run passed, as its end line says.
func (t *Timeline) Passed() bool {
	return t.End != nil && (t.End.Verdict == "pass" || t.Conclusion.Violation != nil && t.Run.Passed())
}

// Breaks reports whether something went wrong, if only as the scenario expects.
func (t *Timeline) Breaks() bool { return t.Conclusion.Violation != nil || !t.Passed() }

// Of makes a timeline of steps that are in memory already; end is nil if they lack it. Nothing checks their hashes.
func Of(h sim.Header, steps []sim.TraceStep, end *sim.TraceEnd) (*Timeline, error) {
	b := newBuilder(h)
	for i := range steps {
		b.step(&steps[i])
	}
	return b.end(end)
}

// end takes in the end line, nil for none.
func (b *builder) end(end *sim.TraceEnd) (*Timeline, error) {
	b.t.End = end
	if end != nil {
		b.t.Broken = reports.EndedEarly(end, nil)
	}
	c, err := reports.ConclusionOf(end)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &reports.Conclusion{}
	}
	b.t.Conclusion = c
	b.finish()
	return b.t, nil
}
