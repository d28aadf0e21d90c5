package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A trace file (*.trace.jsonl) is a header line, then for each step a line for the choice and one for each record, then an
// end line. It contains no wall-clock time, no addresses and no machine names, so equal runs give equal bytes.
//
//	{"trace":"informersim","version":1,"scenario":"first","script":"…","subject":"stack","engine":"step","strategy":"random","seed":"7",…}
//	{"s":1,"t":0,"a":"script","k":"command","g":1,"q":1,"h":"9f86d081884c7d65"}
//	{"r":"commit","a":"store","key":"pods default/a","rv":1001,"x":"ADDED"}
//	{"end":"pass","steps":1,"hash":"9f86d081884c7d65"}
//
// s step, t virtual nanoseconds since the start, a actor, k kind of choice, g target, q the actor's sequence number, d
// random numbers drawn (hexadecimal), h chained hash; r kind of record, n its number, x its detail. Zero values are omitted,
// and so is a record's t if it equals its step's. From version 2 on, the end line may have "about": what the program that made the
// run says of its end, as an object of JSON that this package passes on. From version 3 on, a record may have "note", a text for
// readers that no hash covers.

// TraceVersion is the version of the trace format that this package writes. It reads this version and older ones.
const TraceVersion = 3

// hashVersion is the version of the format in which a header is hashed: what a hash covers has not changed since, so that the runs of
// older traces have the hashes that they had.
const hashVersion = 1

const traceMagic = "informersim"

// maxTraceBytes bounds the header of a trace, which contains the script, and the total size of the lines of one step, so
// that a file that is not a trace cannot fill memory. It is a variable for tests.
var maxTraceBytes = 64 << 20

// Header is the first line of a trace: everything a replay needs besides the choices.
type Header struct {
	Trace    string            `json:"trace"`
	Version  int               `json:"version"`
	Scenario string            `json:"scenario"`
	Script   string            `json:"script,omitempty"`
	Subject  string            `json:"subject"`
	Engine   string            `json:"engine"`
	Strategy string            `json:"strategy"`
	Seed     uint64            `json:"seed,string"`
	Mix      json.RawMessage   `json:"mix,omitempty"`
	Options  map[string]string `json:"options,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
}

// Digest returns the start of the hash chain: a hash of the header without Versions, and without the version that follows an @ in
// Subject, so that two builds, or two releases of a subject, that behave alike agree on the hash.
func (h Header) Digest() uint64 {
	h.Versions = nil
	h.Subject, _, _ = strings.Cut(h.Subject, "@")
	b, err := h.encode(hashVersion)
	if err != nil {
		panic(fmt.Sprintf("sim: cannot encode the trace header: %v", err)) // only if Mix is not JSON
	}
	return xxhash.Sum64(b)
}

// encode returns the header line in a form that survives a round trip: a reader of these bytes encodes the same bytes.
func (h Header) encode(version int) ([]byte, error) {
	h.Trace, h.Version = traceMagic, version
	b, err := json.Marshal(h) // map keys are sorted by encoding/json
	if err != nil || !bytes.Contains(b, []byte(`\ufffd`)) {
		return b, err
	}
	// Invalid UTF-8 has become this escape, which reads back as a character that is written unescaped.
	var read Header
	if err := json.Unmarshal(b, &read); err != nil {
		return nil, err
	}
	return json.Marshal(read)
}

// A TraceStep is one step of a trace as read from a file.
type TraceStep struct {
	Step    uint64        `json:"s"`
	At      int64         `json:"t"`
	Actor   string        `json:"a"`
	Kind    string        `json:"k"`
	Target  uint32        `json:"g"`
	Seq     uint32        `json:"q"`
	Draws   []string      `json:"d"`
	Hash    string        `json:"h"`
	Records []TraceRecord `json:"-"` // from the lines that follow
	Line    int           `json:"-"` // the line of the file on which it starts

	draws []uint64
}

// A TraceRecord is one record of a trace as read from a file.
type TraceRecord struct {
	Kind   string `json:"r"`
	Actor  string `json:"a"`
	At     *int64 `json:"t"`
	Key    string `json:"key"`
	RV     int64  `json:"rv"`
	N      int64  `json:"n"`
	Detail string `json:"x"`
	Note   string `json:"note"`
}

// at returns the record's virtual time, which defaults to its step's.
func (r *TraceRecord) at(s *TraceStep) int64 {
	if r.At != nil {
		return *r.At
	}
	return s.At
}

// Same reports whether two records say the same, whatever their notes; s and t are their steps.
func (r *TraceRecord) Same(s *TraceStep, other *TraceRecord, t *TraceStep) bool {
	return r.Kind == other.Kind && r.Actor == other.Actor && r.at(s) == other.at(t) && r.Key == other.Key &&
		r.RV == other.RV && r.N == other.N && r.Detail == other.Detail
}

// TraceEnd is the last line of a trace.
type TraceEnd struct {
	Verdict string `json:"end"`
	Steps   uint64 `json:"steps"`
	Hash    string `json:"hash"`
	// About is what the program says of the run's end beside the verdict, nil for nothing. The hash does not cover it.
	About json.RawMessage `json:"about,omitempty"`
}

// Verdicts of runs that did not come to their end. The first two were ended from outside, and could have gone on; the others ended in the
// middle of a step, which is not in the trace: what went on there cannot be replayed, only made again from the seed.
const (
	EndInterrupted = "interrupted"
	EndTimeout     = "timeout"
	EndDied        = "died"  // the process under test has ended
	EndStuck       = "stuck" // a goroutine under test never came to rest
)

// EndedEarly reports whether the run did not come to its end.
func (e *TraceEnd) EndedEarly() bool {
	return e.Verdict == EndInterrupted || e.Verdict == EndTimeout || e.CutOff()
}

// CutOff reports whether the run ended in the middle of a step.
func (e *TraceEnd) CutOff() bool { return e.Verdict == EndDied || e.Verdict == EndStuck }

// Line returns the line as a trace has it, with its newline.
func (e *TraceEnd) Line() ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding the trace's end line: %w", err)
	}
	return append(b, '\n'), nil
}

// A TraceError says what is wrong with a trace file, and where.
type TraceError struct {
	File string
	Line int
	Msg  string
	Cut  Cut
}

// Cut says whether a trace lacks its end. Its complete steps can be replayed.
type Cut uint8

const (
	// NotCut means that something else is wrong.
	NotCut Cut = iota
	// CutBetweenSteps means that only complete steps are there: the run was killed, or the file was cut at that place.
	CutBetweenSteps
	// CutInStep means that a step or a line is incomplete: the file was cut, or could not be written.
	CutInStep
)

func (e *TraceError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// traced returns the chained hash of a step read from a file; it mirrors what the kernel computes from live values.
func (h *hasher) traced(s *TraceStep) uint64 {
	h.begin(xxhash.Sum64String(s.Actor), xxhash.Sum64String(s.Kind), Choice{Target: s.Target, Seq: s.Seq}, time.Duration(s.At))
	for i := range s.Records {
		r := &s.Records[i]
		h.record(xxhash.Sum64String(r.Actor), xxhash.Sum64String(r.Kind), &Record{At: time.Duration(r.at(s)), Key: r.Key, RV: r.RV, N: r.N, Detail: r.Detail})
	}
	return h.end(s.draws)
}
