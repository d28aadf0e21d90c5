package wire

import (
	"fmt"
	"time"
)

// Greeting is the JSON of Hello.
type Greeting struct {
	Protocol int
	// Release is the version of the module: v1.2.3, a pseudo-version, or "devel" for a working copy.
	Release string
	// Wrong says, in the engine's, why it does not work for this test; "" if it does.
	Wrong string `json:",omitempty"`
	// Trace and Log are, in the test's, files for what has to outlive a process; "" for none. The engine has the trace of each run grow in the one,
	// where the test finds it if the engine dies. The test keeps the end of the run's log in the other, where the engine finds it if the test
	// dies: lines, then zeros. Who opens them does so before Hello is answered; then their names may go.
	// Crash is one that Go's runtime writes to, in the test's process, when that dies of a panic or a fatal error.
	Trace string `json:",omitempty"`
	Log   string `json:",omitempty"`
	Crash string `json:",omitempty"`
	// Program is, in the test's, how its process can be started once more; nil if it cannot.
	Program *Program `json:",omitempty"`
}

// Program is how a test's process was started. The engine starts it again to make a run that has ended or hung the process, which makes no other.
type Program struct {
	Path   string
	Dir    string
	Env    []string
	Parent int // the number of the process that has started it
	// Awaited is how long after the end of the process somebody still waits for what its engine says; 0 for as long as it takes.
	Awaited time.Duration
}

// What a process that the engine has started again finds in its environment: which Run or Find of which test it is for, and how long a step may take
// there, if that is less than the test says. It reads from the file AgainIn what it reads from the engine's output otherwise, and writes to AgainOut.
const (
	AgainTest  = "SIMTEST_AGAIN"
	AgainRun   = "SIMTEST_AGAIN_RUN"
	AgainLimit = "SIMTEST_AGAIN_LIMIT"
	AgainIn    = 3
	AgainOut   = 4
)

// Options are simtest.Options as data. The zero value of a field means its default.
type Options struct {
	Mix               string        `json:",omitempty"`
	DrawRest          bool          `json:",omitempty"` // the seed draws the rest as if there were no Mix
	FaultMix          []byte        `json:",omitempty"` // as JSON
	CrashProbability  float64       `json:",omitempty"`
	MaxCrashes        int           `json:",omitempty"`
	Strategy          string        `json:",omitempty"`
	Replicas          int           `json:",omitempty"`
	History           int64         `json:",omitempty"`
	WatchList         int           `json:",omitempty"` // streaming lists: 1 with, -1 without
	Interleave        int           `json:",omitempty"` // goroutines, by the seed: 1 with, -1 without
	MutationDetector  int           `json:",omitempty"` // client-go's: 1 in all runs, -1 in none
	GarbageCollection bool          `json:",omitempty"`
	Controllers       []string      `json:",omitempty"` // by name; nil for the default
	CRDs              []string      `json:",omitempty"` // the manifests' text
	ServeCRDs         bool          `json:",omitempty"`
	Nodes             int           `json:",omitempty"`
	Stages            []File        `json:",omitempty"`
	Webhooks          bool          `json:",omitempty"` // webhooks that are configured in the cluster are called
	Authorized        bool          `json:",omitempty"` // roles decide what those may do who are on behalf of a user
	Properties        []Property    `json:",omitempty"`
	MaxSteps          uint64        `json:",omitempty"`
	BodyTimeout       time.Duration `json:",omitempty"` // virtual
}

// File is a file's text. One without is known to the engine by its name.
type File struct{ Name, Text string }

// Property is a user's property: the engine sends the records of these kinds. A ready-made one it judges itself.
type Property struct {
	Name   string
	Kinds  []string    `json:",omitempty"`
	Ready  bool        `json:",omitempty"`
	Except []Exception `json:",omitempty"` // what a ready-made one does not judge
}

// Exception is what a property does not judge: of a client, or of an object ("plural" or "plural namespace/name"). What is empty stands for all.
type Exception struct{ Client, Object string }

// Mode is what a Job is for.
type Mode string

// The modes.
const (
	Seed   Mode = "seed"   // run a seed; a failure is shrunk, stored and reported
	Replay Mode = "replay" // replay a stored trace; one that does not fit is an error
	Retry  Mode = "retry"  // the same; one that does not fit any more has its seed run
	Find   Mode = "find"   // run a seed; a failure is stored only in Task.Traces
	Check  Mode = "check"  // check the options, and run nothing
)

// Task is the JSON of Job.
type Task struct {
	Mode Mode
	Test string // its name
	// Run is the number of this Run or Find among those of the test, from 1; 0 if it is not known.
	Run     int    `json:",omitempty"`
	Package string // its import path
	Command string // the command that runs only this test
	// Again are the arguments with which the test's program, started once more, runs only this test; nil if it cannot be.
	Again  []string `json:",omitempty"`
	Seeded bool     // the test is built with the overlay
	Folder string   // the test's, in which traces are kept; "" to keep none
	// Traces is a folder of the user's, as seen from the test's, for the traces of failures, those of Find too; nothing in it is replaced. "" for
	// testdata/simtest, and for none of Find.
	Traces string `json:",omitempty"`
	// Keep has a run that breaks nothing be kept in Traces, too.
	Keep   bool `json:",omitempty"`
	Worker bool `json:",omitempty"` // another process has the trace, and the last word, if the test's process dies
	Seed   uint64
	File   string `json:",omitempty"` // the trace
	Verify bool   `json:",omitempty"`
	// Shrink limits the real time for shrinking; negative for none.
	Shrink  time.Duration
	Options Options
	// ClientGo and Go are the versions of the test's client-go and of the Go that has compiled it; "" if they are not known.
	ClientGo string `json:",omitempty"`
	Go       string `json:",omitempty"`
}

// Result is the JSON of Finished.
type Result struct {
	// Logs are for the test's log, in their order.
	Logs []string `json:",omitempty"`
	// Failure is what fails the test: the whole report. "" if nothing does.
	Failure string `json:",omitempty"`
	// Escaped reports that the failure is a panic of the body, which another testing library must catch.
	Escaped bool `json:",omitempty"`
	// Invalid reports that nothing was run, for the reason in Failure.
	Invalid bool `json:",omitempty"`
	// Passed is what a seed did that was run and broke nothing, nil if there is none: for the summary of all.
	Passed *Passed `json:",omitempty"`
	// File is where the trace of the failure is kept, as seen from the test's folder; "" if it is not. Unkept is the error that prevented it.
	File   string `json:",omitempty"`
	Unkept string `json:",omitempty"`
	// Other is the test that the trace is of, if that is not this one, so that nothing is replayed.
	Other string `json:",omitempty"`
	// OtherRun is which of the test's Runs and Finds the trace is of, if that is not this one, so that nothing is replayed.
	OtherRun int `json:",omitempty"`
	// Same reports of a failure that it is a trace's, replayed to its end, step by step.
	Same bool `json:",omitempty"`

	// Of the run that Failure is about, else of the last.
	Seed     uint64
	Property string `json:",omitempty"`
	Message  string `json:",omitempty"`
	Steps    uint64
	Faults   uint64
	Virtual  time.Duration
	Hash     string
	Trips    uint64 // how often the engine asked the test to do something
	Queries  uint64 // how often the test asked the engine
}

// Passed is what a seed did that broke nothing.
type Passed struct {
	Virtual    time.Duration   // while there could be faults
	Calm       time.Duration   `json:",omitempty"` // after they had stopped
	Faults     map[string]int  `json:",omitempty"` // by kind, without those of the ready-made properties after the body
	Sometimes  map[string]bool `json:",omitempty"` // of each condition of env.Sometimes, whether it held
	Aimed      map[string]bool `json:",omitempty"` // of each client that a fault or a trigger was aimed at, whether it made a request
	Clients    []string        `json:",omitempty"` // those that made requests, but for the workload's, if one of Aimed did not
	Reconciles int             `json:",omitempty"` // those that the test has told of
	Restarted  bool            `json:",omitempty"` // processes were restarted at the end, for a ready-made property
	Idle       bool            `json:",omitempty"` // no client has made a request, but for the workload's
	// Exited has, if Idle, the processes that are down at the end because their function has returned an error, and that.
	Exited map[string]string `json:",omitempty"`
}

// Write is a write of the body's.
type Write struct {
	Call        string // the method of Env's
	Method      string
	APIVersion  string
	Kind        string
	Namespace   string
	Name        string
	Subresource string
	ContentType string
	Query       string // of the URL
	// Object is the body. Of a PUT without resourceVersion, the newest one is filled in, and again after a conflict. Of a PATCH, it is sent
	// as it is.
	Object []byte
	// OrCreate creates the object, or patches the one that exists to match it.
	OrCreate bool
}

// Word returns the write as a word of AskWrite. It is no JSON: bytes within JSON are copied as base64, and read three times.
func (w *Write) Word() string {
	p := &Packet{make([]byte, 0, len(w.Object)+256)}
	for _, text := range []string{w.Call, w.Method, w.APIVersion, w.Kind, w.Namespace, w.Name, w.Subresource, w.ContentType, w.Query} {
		p.Text(text)
	}
	return string(p.Bytes(w.Object).Flag(w.OrCreate).b)
}

// ReadWrite reads a word of AskWrite.
func ReadWrite(word string) (w Write, err error) {
	m := &Message{b: []byte(word)}
	for _, text := range []*string{&w.Call, &w.Method, &w.APIVersion, &w.Kind, &w.Namespace, &w.Name, &w.Subresource, &w.ContentType, &w.Query} {
		*text = m.Text()
	}
	w.Object, w.OrCreate = m.Bytes(), m.Flag()
	return w, m.Err()
}

// State is the fake apiserver's, for tests that inspect it.
type State struct {
	Revision int64  // the Store's
	Steps    uint64 // of the run
	Faults   int    // that have struck so far
	Draws    bool   // the run may draw further ones
	Pending  []PendingFault
}

// PendingFault is a fault that is yet to strike, or that lasts.
type PendingFault struct {
	State string
	Left  int
	Fault []byte // as JSON
}

// LogTail is the size, in bytes, of the file in which the end of the log outlives the test's process.
const LogTail = 64 << 10

// LogLine is what was logged at once. It may have several lines: a panic's have a stack.
type LogLine struct {
	Step uint64        // the one that was in progress, or came next
	At   time.Duration // virtual
	Text string
}

// String renders the line as a story's lines are.
func (l LogLine) String() string {
	return fmt.Sprintf("step %-5d %9s  %s", l.Step, l.At.Round(time.Millisecond), l.Text)
}
