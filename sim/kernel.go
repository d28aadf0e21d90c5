package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// An Actor is a deterministic state machine that offers choices to its kernel and applies those that are picked.
type Actor interface {
	// Name returns the actor's name in records and traces. It must not change and must be unique within a kernel.
	Name() string
	// Apply carries out c, which the actor offered. The choice is no longer in the ready set; an actor that can repeat it
	// must offer it again.
	Apply(c Choice)
}

// A Tape supplies the random numbers of a replayed run.
type Tape interface {
	// Draw returns the n-th number (from 0) drawn in a step. If ok is false the trace has none, and the stream's own is taken.
	Draw(step uint64, n int) (v uint64, ok bool)
}

// Options configure a Kernel. Strategy is required; the rest may be zero.
type Options struct {
	Seed     uint64
	Strategy Strategy
	Tape     Tape   // supplies random numbers in a replay; nil to draw them
	Start    uint64 // the start of the hash chain: the digest of the trace's header
}

// A Kernel runs one world: it keeps the ready set in canonical order, lets the strategy pick, has the actor apply the pick,
// and passes records to the observers. It is not safe for concurrent use: one goroutine owns a kernel and its actors.
type Kernel struct {
	strategy  Strategy
	tape      Tape
	seed      uint64
	clock     *Clock
	ready     Ready
	actors    []actorEntry
	names     names
	observers []Observer
	streams   map[string]*Stream
	kinds     []kindInfo
	settle    func()
	oldest    bool // the strategy picks the oldest action: see PicksOldest

	step  uint64
	stamp uint64
	// instant is the stamp of the first offer since time was last advanced.
	instant uint64
	faults  uint64
	hash    hasher
	info    StepInfo
	draws   []uint64
	rec     Record
	inStep  bool
	choice  Choice // of the current step
	// heard and told count the observers that know the last record and the last end of a step.
	heard, told int
	err         error
}

type actorEntry struct {
	actor Actor
	name  string
	hash  uint64
	seq   uint32
	parts parts
}

var kindAdvance = RegisterKind("advance", ClassTime)

type clockActor struct{ k *Kernel }

func (clockActor) Name() string { return "clock" }
func (a clockActor) Apply(c Choice) {
	a.k.instant = a.k.NextStamp()
	a.k.clock.advance()
}

// NewKernel returns a kernel with a clock at Epoch and no other actor. It panics without a strategy.
func NewKernel(o Options) *Kernel {
	if o.Strategy == nil {
		panic("sim: a kernel needs a strategy")
	}
	k := &Kernel{
		strategy: o.Strategy, tape: o.Tape, seed: o.Seed,
		clock: NewClock(), names: newNames(), streams: map[string]*Stream{},
	}
	if s, ok := o.Strategy.(PicksOldest); ok {
		k.oldest = s.PicksOldest()
	}
	k.hash.hash = o.Start
	k.Register(clockActor{k})
	return k
}

// Register adds an actor. Ids are assigned in order of registration, which must therefore be the same in every run. A
// duplicate name panics: it is a mistake in the program, not in its input.
func (k *Kernel) Register(a Actor) ActorID {
	name := validText(a.Name())
	if _, taken := k.names.actor(name); taken {
		panic(fmt.Sprintf("sim: two actors are named %q", name))
	}
	return k.add(a, name, 0)
}

// TakeOver adds an actor under the name of one that has ended: the next life of something with that name. It has an ID of its own, so that
// nothing that goes by IDs takes it for the one before. Hashes, traces and ActorByName go by names, and for them both are one: their
// sequence numbers go on. It panics if there is none of that name, or if that one still offers something.
func (k *Kernel) TakeOver(a Actor) ActorID {
	name := validText(a.Name())
	before, known := k.names.actor(name)
	if !known {
		panic(fmt.Sprintf("sim: there is no actor %q to take over from", name))
	}
	for _, set := range [][]Offer{k.ready.Actions, k.ready.Faults} {
		for _, o := range set {
			if o.Actor == before {
				panic(fmt.Sprintf("sim: another actor takes over from %q, which still offers %s", name, o.Kind))
			}
		}
	}
	return k.add(a, name, k.actors[before].seq)
}

func (k *Kernel) add(a Actor, name string, seq uint32) ActorID {
	id := ActorID(len(k.actors))
	k.actors = append(k.actors, actorEntry{actor: a, name: name, hash: xxhash.Sum64String(name), seq: seq, parts: k.names.add(name, id)})
	return id
}

// Observe adds an observer. Observers are called in the order in which they were added.
func (k *Kernel) Observe(o Observer) {
	k.observers = append(k.observers, o)
	k.heard, k.told = len(k.observers), len(k.observers)
}

// OnApplied sets the function that every step calls after applying its choice and before the step ends; nil for none. An
// engine whose actors have goroutines waits there until they are quiescent, and emits what they did.
func (k *Kernel) OnApplied(f func()) { k.settle = f }

// Clock returns the run's clock.
func (k *Kernel) Clock() *Clock { return k.clock }

// Seed returns the run's seed.
func (k *Kernel) Seed() uint64 { return k.seed }

// Steps returns the number of steps taken; during Apply, the number of the current step.
func (k *Kernel) Steps() uint64 { return k.step }

// Faults returns how many of the steps were faults.
func (k *Kernel) Faults() uint64 { return k.faults }

// Hash returns the chained hash of the run so far.
func (k *Kernel) Hash() uint64 { return k.hash.hash }

// ActorName returns the name of an actor.
func (k *Kernel) ActorName(id ActorID) string {
	if int(id) < len(k.actors) {
		return k.actors[id].name
	}
	return fmt.Sprintf("actor(%d)", id)
}

// ActorByName returns the actor registered as name.
func (k *Kernel) ActorByName(name string) (ActorID, bool) {
	return k.names.actor(name)
}

// Owner returns the actor whose name is that of id up to the first slash: of "i1/h1" it is i1, and of a name without a slash the actor
// that has it now. ok is false if there is none.
func (k *Kernel) Owner(id ActorID) (owner ActorID, ok bool) {
	if int(id) >= len(k.actors) {
		return 0, false
	}
	return k.names.holder(k.actors[id].parts.first)
}

// Inner returns the actor whose name is that of id behind the first slash: of "conn/i1" it is i1, and of a name without a slash the actor
// that has it now. ok is false if there is none.
func (k *Kernel) Inner(id ActorID) (inner ActorID, ok bool) {
	if int(id) >= len(k.actors) {
		return 0, false
	}
	return k.names.holder(k.actors[id].parts.rest)
}

// Stream returns the recorded random stream called name; the same one each time.
func (k *Kernel) Stream(name string) *Stream {
	s := k.streams[name]
	if s == nil {
		s = &Stream{kernel: k}
		s.init(k.seed, name)
		k.streams[name] = s
	}
	return s
}

func (k *Kernel) draw(src interface{ Uint64() uint64 }) uint64 {
	if !k.inStep {
		panic("sim: a recorded stream was used outside a step, where the trace cannot record the number; use NewStream there")
	}
	v := src.Uint64() // also with a tape: when that ends, the stream goes on from where it would have been
	if k.tape != nil {
		if taped, ok := k.tape.Draw(k.step, len(k.draws)); ok {
			v = taped
		}
	}
	k.draws = append(k.draws, v)
	return v
}

// Offer adds a choice to the ready set and returns it, for Withdraw.
func (k *Kernel) Offer(id ActorID, kind Kind, target uint32) Choice {
	e := &k.actors[id]
	e.seq++
	c := Choice{Actor: id, Kind: kind, Target: target, Seq: e.seq}
	if int(kind) < len(k.kinds) && k.kinds[kind].class == ClassAction {
		k.stamp++
		k.ready.addAction(Offer{Choice: c, Stamp: k.stamp})
		return c
	}
	switch k.class(kind) {
	case ClassAction:
		k.stamp++
		k.ready.addAction(Offer{Choice: c, Stamp: k.stamp})
	case ClassScript:
		k.ready.addAction(Offer{Choice: c})
	case ClassFault:
		k.ready.insertFault(Offer{Choice: c, Stamp: k.stamp}, k.kinds)
	default:
		panic(fmt.Sprintf("sim: %q is not a kind that can be offered", kind))
	}
	return c
}

// NextStamp returns the stamp of the next offer: the age of something that becomes possible now.
func (k *Kernel) NextStamp() uint64 { return k.stamp + 1 }

// InstantStamp returns the age of what became possible because time was last advanced. Timers that are due at one instant have no order;
// offered with one stamp, what they cause is taken in that of actors, whichever of them was set first.
func (k *Kernel) InstantStamp() uint64 { return k.instant }

// OfferSince is Offer for an action that has been possible since stamp, for strategies that pick by age: the next of
// several things that became possible together.
func (k *Kernel) OfferSince(id ActorID, kind Kind, target uint32, stamp uint64) Choice {
	if k.class(kind) != ClassAction {
		panic(fmt.Sprintf("sim: %q is offered with an age, but only actions have one", kind))
	}
	e := &k.actors[id]
	e.seq++
	c := Choice{Actor: id, Kind: kind, Target: target, Seq: e.seq}
	k.stamp++
	k.ready.addAction(Offer{Choice: c, Stamp: min(stamp, k.stamp)})
	return c
}

// Withdraw removes a choice from the ready set and reports whether it was there: not if it was picked, or never offered.
func (k *Kernel) Withdraw(c Choice) bool {
	if k.class(c.Kind) == ClassFault {
		return k.ready.removeFault(c, k.kinds)
	}
	i := find(k.ready.Actions, c)
	if i >= 0 {
		k.ready.removeAction(i)
	}
	return i >= 0
}

// class returns the class of a kind; ClassRecord, which cannot be offered or picked, if the kind is not registered.
func (k *Kernel) class(kind Kind) Class {
	if int(kind) < len(k.kinds) {
		return k.kinds[kind].class
	}
	if k.learnKinds(); int(kind) < len(k.kinds) {
		return k.kinds[kind].class
	}
	return ClassRecord
}

func (k *Kernel) kindHash(kind Kind) uint64 {
	if int(kind) >= len(k.kinds) {
		k.learnKinds()
	}
	return k.kinds[kind].hash
}

// learnKinds picks up the kinds registered since.
func (k *Kernel) learnKinds() { k.kinds = kinds() }

// Quiet reports whether no action is enabled: only time and faults are left.
func (k *Kernel) Quiet() bool { return len(k.ready.Actions) == 0 }

// Ready returns the ready set as a strategy would see it now. It is valid until the next step and must not be changed.
func (k *Kernel) Ready() *Ready {
	k.ready.Time = k.clock.canAdvance()
	k.ready.Advance = Choice{Actor: 0, Kind: kindAdvance, Seq: k.actors[0].seq + 1}
	return &k.ready
}

// Record returns a cleared record for the caller to fill and pass to Emit. The kernel reuses one, so that steps do not
// allocate.
func (k *Kernel) Record(actor ActorID, kind Kind) *Record {
	k.rec = Record{Step: k.step, At: k.clock.Elapsed(), Actor: actor, Kind: kind}
	return &k.rec
}

// Emit passes a record obtained from Record to the observers and into the hash. It panics outside a step, because what
// happens there could not be replayed. Bytes of Key and Detail that are not UTF-8 become U+FFFD: a trace is JSON, and its
// reader must compute the same hash.
func (k *Kernel) Emit(r *Record) {
	if !k.inStep {
		panic(fmt.Sprintf("sim: record %q of %s is emitted outside a step", r.Kind, k.ActorName(r.Actor)))
	}
	k.hash.record(k.actors[r.Actor].hash, k.kindHash(r.Kind), r)
	k.tellRecord(r, 0)
}

func (k *Kernel) tellRecord(r *Record, from int) {
	for n := from; n < len(k.observers); n++ {
		k.heard = n + 1
		k.observers[n].Record(r)
	}
}

// Fail ends the run with an error after the current step; the first error counts.
func (k *Kernel) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// Err returns the error that ended the run, or nil.
func (k *Kernel) Err() error { return k.err }

// ErrNothingToDo is returned by a strategy that has nothing to pick.
var ErrNothingToDo = errors.New("nothing to do")

// Step lets the strategy pick and applies its choice. It returns false if there is nothing to pick or the run has failed;
// Err tells the two apart.
func (k *Kernel) Step() bool {
	if k.err != nil {
		return false
	}
	var c Choice
	if k.oldest && len(k.ready.Actions) > 0 {
		// What Pick and take would do, but for the calls and for looking up again what was picked.
		if len(k.ready.Actions) > crowd || k.ready.ages.kept {
			c = k.ready.takeOldest()
		} else {
			i := oldest(k.ready.Actions)
			c = k.ready.Actions[i].Choice
			k.ready.removeAction(i)
		}
	} else {
		var ok bool
		if c, ok = k.pick(); !ok {
			return false
		}
	}
	k.step++
	k.draws = k.draws[:0]
	e := &k.actors[c.Actor]
	k.hash.begin(e.hash, k.kindHash(c.Kind), c, k.clock.Elapsed())
	k.inStep, k.choice = true, c
	e.actor.Apply(c)
	if k.settle != nil {
		k.settle()
	}
	k.inStep = false
	hash := k.hash.end(k.draws)
	if len(k.observers) > 0 {
		k.tellStepEnd(c, hash)
	}
	return k.err == nil
}

// AbandonStep ends the current step as it is, because what carries it out never returns: it has panicked, or it stands still on another
// goroutine. If that is an observer, those behind it still hear of what it was told. Between steps it does nothing. No step may follow.
func (k *Kernel) AbandonStep() {
	k.tellRecord(&k.rec, k.heard)
	if !k.inStep {
		k.tellEnd(k.told)
		return
	}
	k.inStep = false
	k.tellStepEnd(k.choice, k.hash.end(k.draws))
}

// UnderWay returns the choice of the step under way, with the random numbers that it has drawn so far; ok is false between two steps.
func (k *Kernel) UnderWay() (p Pick, ok bool) {
	if !k.inStep {
		return Pick{}, false
	}
	c := k.choice
	return Pick{Actor: k.ActorName(c.Actor), Kind: c.Kind, Target: c.Target, Draws: slices.Clone(k.draws)}, true
}

// pick lets the strategy pick, and removes its pick from the ready set.
func (k *Kernel) pick() (c Choice, ok bool) {
	if k.oldest && !k.clock.canAdvance() {
		return Choice{}, false
	}
	c, err := k.strategy.Pick(k.Ready(), k.step+1)
	if err == nil {
		err = k.take(c)
	}
	if err != nil && err != ErrNothingToDo && !errors.Is(err, ErrNothingToDo) {
		k.Fail(err)
	}
	return c, err == nil
}

func (k *Kernel) tellStepEnd(c Choice, hash uint64) {
	k.info = StepInfo{Step: k.step, At: k.clock.Elapsed(), Choice: c, Draws: k.draws, Hash: hash}
	k.tellEnd(0)
}

func (k *Kernel) tellEnd(from int) {
	for n := from; n < len(k.observers); n++ {
		k.told = n + 1
		k.observers[n].StepEnd(&k.info)
	}
}

func (k *Kernel) take(c Choice) error {
	switch class := k.class(c.Kind); class {
	case ClassTime:
		if !k.ready.Time || c != k.ready.Advance {
			return &DefectError{fmt.Sprintf("the strategy %s picked %s, but time must not be advanced now", k.strategy.Name(), k.Describe(c))}
		}
		k.actors[0].seq++
		return nil
	default:
		if !k.Withdraw(c) {
			return &DefectError{fmt.Sprintf("the strategy %s picked %s, which is not enabled", k.strategy.Name(), k.Describe(c))}
		}
		if class == ClassFault {
			k.faults++
		}
		return nil
	}
}

// Describe formats a choice: actor, kind, target and sequence.
func (k *Kernel) Describe(c Choice) string {
	return fmt.Sprintf("%s %s target=%d seq=%d", k.ActorName(c.Actor), c.Kind, c.Target, c.Seq)
}

// Elapsed returns the virtual time since the start of the run.
func (k *Kernel) Elapsed() time.Duration { return k.clock.Elapsed() }
