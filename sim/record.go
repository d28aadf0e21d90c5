package sim

import (
	"encoding/binary"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Record is one observed line of a run. It is passed by pointer and valid only during the call: an observer that keeps
// one copies it.
type Record struct {
	Step   uint64        // the step it was emitted in, from 1; 0 is the setting up
	At     time.Duration // virtual time since the start of the run
	Actor  ActorID       // who emitted it
	Kind   Kind          // what it tells
	Key    string        // the object's key, if it is about one
	RV     int64         // a revision, if it is about one
	N      int64         // a number whose meaning belongs to the kind (a count, a request, a delay in ns)
	Detail string        // a word or a sentence, stable between runs

	// Obj and Old are the objects that it is about, for observers in the same process. They are in no trace.
	Obj, Old any
}

// StepInfo is what an observer learns when a step is over.
type StepInfo struct {
	Step   uint64
	At     time.Duration
	Choice Choice
	Draws  []uint64 // random numbers drawn during the step; valid only during the call
	Hash   uint64   // the chained hash up to and including this step
}

// Observer sees a run as it happens.
type Observer interface {
	// Record is called for every record, in order.
	Record(r *Record)
	// StepEnd is called after each step, when its choice has been applied.
	StepEnd(s *StepInfo)
}

// The chained hash of a step is the xxHash64 of: the hash before it, the choice (names as the xxHash64 of their text, so
// that the numbers given to kinds do not matter), the records, and the draws. The reader of a trace computes it again
// from the file, which is how an edited trace is found.

type hasher struct {
	buf     []byte
	hash    uint64
	records uint64 // of the step under way
}

func (h *hasher) begin(actor, kind uint64, c Choice, at time.Duration) {
	b := binary.LittleEndian.AppendUint64(h.buf[:0], h.hash)
	b = binary.LittleEndian.AppendUint64(b, actor)
	b = binary.LittleEndian.AppendUint64(b, kind)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Target)<<32|uint64(c.Seq))
	h.buf = binary.LittleEndian.AppendUint64(b, uint64(at))
}

func (h *hasher) record(actor, kind uint64, r *Record) {
	h.records++
	b := binary.LittleEndian.AppendUint64(h.buf, actor)
	b = binary.LittleEndian.AppendUint64(b, kind)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.At))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.RV))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.N))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(r.Key))<<32|uint64(len(r.Detail)))
	b = append(b, r.Key...)
	h.buf = append(b, r.Detail...)
}

// draws adds the draws, and the counts that tell them from the records before them.
func (h *hasher) draws(ds []uint64) {
	b := h.buf
	for _, d := range ds {
		b = binary.LittleEndian.AppendUint64(b, d)
	}
	h.buf = binary.LittleEndian.AppendUint64(b, h.records<<32|uint64(len(ds)))
	h.records = 0
}

func (h *hasher) end() uint64 {
	h.hash = xxhash.Sum64(h.buf)
	return h.hash
}
