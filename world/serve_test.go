package world

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/world/wire"
)

// fakeTest is a test process without a bubble: its body is a function that is called with each answer, and says what it asks for next.
type fakeTest struct {
	t       *testing.T
	in      io.Reader
	out     io.WriteCloser
	served  chan error
	stderr  bytes.Buffer
	elapsed time.Duration

	// next returns the events that follow the actions of one Do; the first call is for the start of the body.
	next    func(do []action) []*wire.Packet
	dos     int
	checked int // how many of them called the checks

	interleaved []bool // of each bubble that was to be made

	stuckAt    int  // the number of the Do after which a goroutine never rests; 0 for none
	stuckAfter bool // it does not rest after the run
	diesAfter  bool // the process ends when the run is over
	refuse     bool // no bubble can be made
	another    bool // the engine has started it
}

// action is one of a Do, with what the tests look at.
type action struct {
	kind byte
	id   int64
	code int64
	text string
}

func host(t *testing.T, stderr io.Writer) Host {
	return Host{Release: "v1.2.3", Versions: map[string]string{"informersim": "v1.2.3"}, Stderr: stderr, Now: time.Now, Store: func(path string, data []byte) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644)
	}, Spare: func(suffix string, data []byte) (string, error) {
		f, err := os.CreateTemp(t.TempDir(), "informersim-test-*"+suffix)
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return f.Name(), errors.Join(err, f.Close())
	}, Interrupted: func() string { return "" }, Stopped: func() bool { return false }, Awaited: func(int) bool { return true },
		Again: func(*wire.Program, []string, []string, time.Duration) (*Another, error) {
			return nil, errors.New("there is one process only")
		}}
}

func startServe(t *testing.T, greeting wire.Greeting) (*fakeTest, wire.Greeting) {
	t.Helper()
	return startServeOn(t, greeting, func(*Host) {})
}

// startServeOn is startServe on a host that differs.
func startServeOn(t *testing.T, greeting wire.Greeting, change func(*Host)) (*fakeTest, wire.Greeting) {
	t.Helper()
	ourIn, theirOut := io.Pipe()
	theirIn, ourOut := io.Pipe()
	f := &fakeTest{t: t, in: ourIn, out: ourOut, served: make(chan error, 1)}
	h := host(t, &f.stderr)
	change(&h)
	go func() {
		err := Serve(theirIn, theirOut, h)
		theirOut.Close()
		f.served <- err
	}()
	f.send(wire.New(wire.Hello).JSON(greeting))
	var its wire.Greeting
	if m := f.receive(); m.Kind == wire.Hello {
		m.JSON(&its)
	}
	return f, its
}

func (f *fakeTest) send(p *wire.Packet) {
	f.t.Helper()
	if err := p.Send(f.out); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeTest) receive() *wire.Message {
	f.t.Helper()
	m, err := wire.Receive(f.in)
	if err != nil && f.another {
		runtime.Goexit() // the engine has no more to do for it
	}
	if err != nil {
		f.t.Fatalf("receiving: %v", err)
	}
	return m
}

// actions reads those of a Do.
func actions(t *testing.T, m *wire.Message) (all []action) {
	t.Helper()
	for m.More() {
		a := action{kind: m.Byte()}
		switch a.kind {
		case wire.DoAnswer:
			a.id, a.code, _, a.text = m.Num(), m.Num(), m.Header(), m.Text()
		case wire.DoOpen:
			a.id, a.code, _ = m.Num(), m.Num(), m.Header()
		case wire.DoFrame:
			a.id, a.text = m.Num(), m.Text()
		case wire.DoClose:
			a.id = m.Num()
			if err := m.Error(); err != nil {
				a.text = err.Error()
			}
		case wire.DoStart, wire.DoKill:
			a.text, a.id = m.Text(), m.Num()
		case wire.DoReply:
			a.text = m.Text()
		case wire.DoObject:
			a.id, _ = m.Num(), m.Text()
			if err := m.Error(); err != nil {
				t.Errorf("an object: %v", err)
			}
			a.text = m.Text()
			for n := m.Num(); n > 0; n-- {
				m.Text() // the value of a field that selects
			}
		case wire.DoDelete:
			a.id, a.text = m.Num(), m.Text()
		case wire.DoBody, wire.DoEndings, wire.DoForget, wire.DoLocate:
		default:
			t.Fatalf("unexpected action %q", a.kind)
		}
		all = append(all, a)
	}
	if m.Err() != nil {
		t.Fatal(m.Err())
	}
	return all
}

// job has a job done.
func (f *fakeTest) job(task wire.Task) (res wire.Result) {
	f.t.Helper()
	f.send(wire.New(wire.Job).JSON(task))
	return f.serve()
}

// serve does what the engine says.
func (f *fakeTest) serve() (res wire.Result) {
	for {
		m := f.receive()
		switch m.Kind {
		case wire.Begin:
			f.elapsed = 0
			_, _ = m.Num(), m.Text()
			f.interleaved = append(f.interleaved, m.Flag())
		case wire.Do:
			flags, _, d := m.Byte(), m.Num(), m.Duration()
			_, _, _ = m.Num(), m.Num(), m.Num()
			do := actions(f.t, m)
			f.dos++
			if flags&wire.Checks != 0 {
				f.checked++
			}
			if flags&wire.Pass != 0 {
				f.elapsed += d
			}
			switch {
			case f.refuse:
				f.send(wire.New(wire.Ended).Flag(false).Flag(false).Text("no other run can be made").Bytes(nil))
				continue
			case f.dos == f.stuckAt:
				f.send(stuck)
				continue
			}
			events := f.next(do)
			if events == nil {
				return res // the test has ended
			}
			p := wire.New(wire.Report).Duration(f.elapsed)
			for _, e := range events {
				p.Append(e)
			}
			f.send(p)
		case wire.End:
			switch {
			case f.stuckAfter:
				f.send(stuck)
				continue
			case f.diesAfter:
				f.out.Close()
				return res
			}
			f.send(wire.New(wire.Ended).Flag(false).Flag(false).Text("").Bytes(nil))
		case wire.Finished:
			m.JSON(&res)
			return res
		default:
			f.t.Fatalf("a message of kind %q", m.Kind)
		}
	}
}

// stuck says that a goroutine never rests, and what was logged.
var stuck = wire.New(wire.Ended).Flag(false).Flag(true).Text("a hot loop").
	Field((&wire.Packet{}).Num(0).Num(3).Duration(time.Second).Text("I x.go:1] spinning"))

func (f *fakeTest) end() error {
	f.out.Close()
	return <-f.served
}

var sameVersion = wire.Greeting{Protocol: wire.Protocol, Release: "v1.2.3"}

func newTask() wire.Task {
	return wire.Task{Mode: wire.Seed, Test: "TestX", Package: "example.com/x", Command: "go test example.com/x -run '^TestX$'", Seed: 1, Shrink: -1}
}

func askFor(kind byte, d time.Duration, words ...string) *wire.Packet {
	p := (&wire.Packet{}).Byte(wire.EventAsk).Byte(kind).Duration(d).Num(int64(len(words)))
	for _, w := range words {
		p.Text(w)
	}
	return p
}

func returned() *wire.Packet {
	return (&wire.Packet{}).Byte(wire.EventBody).Byte(wire.Returned).Text("")
}

// nothing is the events of a Do after which nobody wants anything.
var nothing = []*wire.Packet{}

func has(do []action, kind byte) *action {
	for n := range do {
		if do[n].kind == kind {
			return &do[n]
		}
	}
	return nil
}

// script is a body that asks for one thing after the other, and then returns.
func script(asks ...*wire.Packet) func([]action) []*wire.Packet {
	return func(do []action) []*wire.Packet {
		switch {
		case has(do, wire.DoBody) == nil && has(do, wire.DoReply) == nil:
			return nothing
		case len(asks) == 0:
			return []*wire.Packet{returned()}
		}
		a := asks[0]
		asks = asks[1:]
		return []*wire.Packet{a}
	}
}

func configMap(name string) []byte {
	return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"default"},"data":{"big":"9007199254740993"}}`)
}

func write(wr wire.Write) string { return wr.Word() }

// A run ends with its body; a seed stands for one run; most steps make no trip.
func TestRuns(t *testing.T) {
	f, its := startServe(t, sameVersion)
	if its.Protocol != wire.Protocol || its.Release != "v1.2.3" || its.Wrong != "" {
		t.Fatalf("the engine greets with %+v", its)
	}
	create := write(wire.Write{Call: "env.Create", Method: http.MethodPost, APIVersion: "v1", Kind: "ConfigMap", Name: "a", Object: configMap("a")})
	remove := write(wire.Write{Call: "env.Delete", Method: http.MethodDelete, APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a"})
	hashes := map[string]bool{}
	for range 2 {
		f.dos = 0
		f.next = script(askFor(wire.AskWrite, 0, create), askFor(wire.AskSettle, 0), askFor(wire.AskWrite, 0, remove, create), askFor(wire.AskAdvance, time.Minute))
		res := f.job(newTask())
		if res.Failure != "" || res.Steps < 10 || res.Virtual < time.Minute {
			t.Fatalf("the result is %+v", res)
		}
		if uint64(f.dos) >= res.Steps || res.Trips != uint64(f.dos) {
			t.Errorf("%d trips were made for %d steps, and %d are counted", f.dos, res.Steps, res.Trips)
		}
		hashes[res.Hash] = true
	}
	if len(hashes) != 1 {
		t.Errorf("two runs of a seed have the hashes %v", hashes)
	}
	if err := f.end(); err != nil {
		t.Errorf("after the end of the input: %v", err)
	}
}

// A client's request is answered, and what the test has read of the Store is told with the step that changes it.
func TestRequestsAndObjects(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	var answer, told *action
	f.next = func(do []action) []*wire.Packet {
		if a := has(do, wire.DoObject); a != nil {
			told = a
		}
		switch {
		case has(do, wire.DoBody) != nil:
			f.send(wire.New(wire.Query).Byte(wire.QueryObjects).Text("v1").Text("ConfigMap"))
			m := f.receive()
			if err := m.Error(); m.Kind != wire.Answer || err != nil {
				t.Fatalf("a query: %v", err)
			}
			id, group, plural, namespaced, list := m.Num(), m.Text(), m.Text(), m.Flag(), m.Text()
			if id != 0 || group != "" || plural != "configmaps" || !namespaced || list != "ConfigMapList" || len(m.Bytes()) != 0 {
				t.Errorf("the subscription is %d %q %q %v %q", id, group, plural, namespaced, list)
			}
			return []*wire.Packet{
				(&wire.Packet{}).Byte(wire.EventRequest).Num(7).Text("me").Num(0).Num(0).Text("POST").Text("http://sim/api/v1/namespaces/default/configmaps").
					Header(http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}).Bytes(configMap("a")),
				askFor(wire.AskSettle, 0),
			}
		case has(do, wire.DoAnswer) != nil:
			answer = has(do, wire.DoAnswer)
			return nothing
		case has(do, wire.DoReply) != nil:
			return []*wire.Packet{returned()}
		}
		return nothing
	}
	task := newTask()
	task.Options.Mix = "none"
	if res := f.job(task); res.Failure != "" {
		t.Fatal(res.Failure)
	}
	if answer == nil || answer.id != 7 || answer.code != 201 || !strings.Contains(answer.text, `"name":"a"`) {
		t.Errorf("the answer is %+v", answer)
	}
	if told == nil || told.id != 0 || !strings.Contains(told.text, "9007199254740993") {
		t.Errorf("the change that is told is %+v", told)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// Checks are called when something has changed, and not otherwise; one that fails ends the run with a report.
func TestChecksAreCalledWhenSomethingChanges(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	f.next = script(askFor(wire.AskChecks, 0, "sometimes"), askFor(wire.AskSettle, 0), askFor(wire.AskAdvance, time.Hour))
	res := f.job(newTask())
	if res.Passed == nil {
		t.Fatalf("no seed has passed: %+v", res)
	}
	if held, known := res.Passed.Sometimes["sometimes"]; res.Failure != "" || f.checked == 0 || f.checked > f.dos || held || !known {
		t.Fatalf("%d of %d trips call the checks; %+v", f.checked, f.dos, res)
	}
	calls := 0
	plain := script(askFor(wire.AskChecks, 0), askFor(wire.AskAdvance, time.Hour))
	f.next = func(do []action) []*wire.Packet {
		events := plain(do)
		if calls++; calls == 3 {
			events = append(events, (&wire.Packet{}).Byte(wire.EventViolated).Text("it holds").Text("it does not").Text("default/a").Num(1).Num(1).Duration(0).Text("the first step shows it"))
		}
		return events
	}
	res = f.job(newTask())
	if res.Property != "it holds" || !strings.Contains(res.Failure, "FAIL  it holds at step") || !strings.Contains(res.Failure, "the first step shows it") || !strings.Contains(res.Failure, "-simtest.seed=1") {
		t.Errorf("the result is %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Versions that do not fit, and programs that are no test, get a sentence.
func TestRefuses(t *testing.T) {
	for greeting, want := range map[wire.Greeting]string{
		{Protocol: wire.Protocol + 1, Release: "v1.2.3"}:        "and the test's simtest version ",
		{Protocol: wire.Protocol, Release: "v1.2.4"}:            "it has version v1.2.3, and the test's simtest v1.2.4: install the same version of both",
		{Protocol: wire.Protocol, Release: wire.Devel}:          "",
		{Protocol: wire.Protocol, Release: "v1.2.3-rc.1"}:       "install the same version of both",
		{Protocol: wire.Protocol, Release: sameVersion.Release}: "",
	} {
		f, its := startServe(t, greeting)
		if (its.Wrong == "") != (want == "") || !strings.Contains(its.Wrong, want) {
			t.Errorf("%+v: the engine says %q, want %q", greeting, its.Wrong, want)
		}
		if err := f.end(); err != nil {
			t.Errorf("%+v: %v", greeting, err)
		}
	}
	for input, want := range map[string]string{
		"":                                  "",
		"GET / HTTP/1.1\r\n":                "this is not the protocol",
		"\x02\x00\x00\x00J\x00":             `its first message is of kind 'J'`,
		"\x03\x00\x00\x00V\x02{":            "unexpected end of JSON",
		"\x05\x00\x00\x00V\x01\x00\x00\x00": "",
	} {
		err := Serve(strings.NewReader(input), io.Discard, host(t, io.Discard))
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", input, err, want)
		}
	}
	f, _ := startServe(t, sameVersion)
	task := newTask()
	task.Options.Mix = "strom"
	if res := f.job(task); !res.Invalid || !strings.Contains(res.Failure, `Options.Mix: there is no fault mix "strom": did you mean "storm"?`) {
		t.Errorf("a wrong option: %+v", res)
	}
	task = newTask()
	task.Options.Interleave = 1
	if res := f.job(task); !res.Invalid || !strings.Contains(res.Failure, `Options.Interleave is On, and this test is built without the overlay`) ||
		!strings.Contains(res.Failure, overlayHint) || f.interleaved != nil {
		t.Errorf("interleaving without the overlay: %+v", res)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// The bubbles of a test that is built with the overlay are interleaved in one of two neighbouring seeds, both times when it is verified; a failure
// that breaks without is shrunk to that, and its report says what is left.
func TestInterleavedBubbles(t *testing.T) {
	f, _ := startServe(t, sameVersion)
	task := newTask()
	task.Seeded, task.Verify = true, true
	for task.Seed = 1; task.Seed <= 2; task.Seed++ {
		f.next = func(do []action) []*wire.Packet {
			if has(do, wire.DoBody) != nil {
				return []*wire.Packet{returned()}
			}
			return nothing
		}
		if res := f.job(task); res.Failure != "" {
			t.Errorf("seed %d: %s", task.Seed, res.Failure)
		}
	}
	if got := f.interleaved; len(got) != 4 || got[0] != got[1] || got[2] != got[3] || got[0] == got[2] {
		t.Errorf("two seeds, each twice: interleaved are %v", got)
	}
	f.interleaved, task.Seed, task.Folder, task.Verify, task.Shrink = nil, 1, t.TempDir(), false, time.Minute
	task.Options.Interleave = 1
	f.next = func(do []action) []*wire.Packet {
		if has(do, wire.DoBody) != nil {
			return []*wire.Packet{(&wire.Packet{}).Byte(wire.EventViolated).Text("mine").Text("it breaks").Text("").Num(0)}
		}
		return nothing
	}
	res := f.job(task)
	if res.Failure == "" || strings.Contains(res.Failure, "goroutines interleaved") || len(f.interleaved) < 2 || !f.interleaved[0] || f.interleaved[1] {
		t.Errorf("interleaved are %v; the report:\n%s", f.interleaved, res.Failure)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}
