package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// writeTrace runs a toy world and returns its trace, what an observer saw, and the kernel.
func writeTrace(tb failer, h Header, steps int, names ...string) ([]byte, *recorder, *Kernel) {
	tb.Helper()
	k, _ := toyWorld(Options{Seed: h.Seed, Strategy: NewRandom(h.Seed, rate(0.05)), Start: h.Digest()}, names...)
	var file bytes.Buffer
	w, err := NewTraceWriter(k, &file, h)
	if err != nil {
		tb.Fatal(err)
	}
	seen := &recorder{}
	k.Observe(seen)
	k.Observe(w)
	for range steps {
		if !k.Step() {
			tb.Fatalf("step %d: %v", k.Steps(), k.Err())
		}
	}
	if err := w.Close("pass", nil); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes(), seen, k
}

// readTrace reads a whole trace.
func readTrace(file []byte) (*TraceReader, []*TraceStep, error) {
	r, err := NewTraceReader("t.trace.jsonl", bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	var steps []*TraceStep
	for {
		s, err := r.Next()
		if err == io.EOF {
			return r, steps, nil
		}
		if err != nil {
			return r, steps, err
		}
		steps = append(steps, s)
	}
}

// hashStep returns the hash of a step whose predecessor has the hash prev, computed independently of the reader.
func hashStep(prev uint64, s *TraceStep) uint64 {
	h := hasher{hash: prev}
	return h.traced(s)
}

func genHeader() *rapid.Generator[Header] {
	return rapid.Custom(func(t *rapid.T) Header {
		h := Header{
			Scenario: rapid.String().Draw(t, "scenario"),
			Script:   string(rapid.SliceOf(rapid.Byte()).Draw(t, "script")),
			Subject:  rapid.SampledFrom([]string{"stack", "client-go", "\xff"}).Draw(t, "subject"),
			Engine:   "step", Strategy: "random",
			Seed:     rapid.Uint64().Draw(t, "seed"),
			Options:  rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "options"),
			Versions: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "versions"),
		}
		if rapid.Bool().Draw(t, "with mix") {
			mix, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.Float64Range(0, 1)).Draw(t, "mix"))
			if err != nil {
				t.Fatal(err)
			}
			h.Mix = mix
		}
		return h
	})
}

// Any header and any records survive a round trip.
func TestTraceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := genHeader().Draw(t, "header")
		file, seen, k := writeTrace(t, h, rapid.IntRange(0, 60).Draw(t, "steps"), "a", `b "quoted" <é>`, "c\xff")
		r, steps, err := readTrace(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header().Digest(); got != h.Digest() {
			t.Fatalf("the header reads back as %+v", r.Header())
		}
		if e := r.End(); e.Verdict != "pass" || e.Steps != k.Steps() || e.Hash != FormatHash(k.Hash()) {
			t.Fatalf("the end reads back as %+v", e)
		}
		if len(steps) != len(seen.steps) {
			t.Fatalf("%d steps read, %d written", len(steps), len(seen.steps))
		}
		records := seen.records
		at := int64(0)
		for i, want := range seen.steps {
			got := steps[i]
			c := want.Choice
			if got.Step != want.Step || got.At != at || got.Actor != k.ActorName(c.Actor) || got.Kind != c.Kind.String() ||
				got.Target != c.Target || got.Seq != c.Seq || got.Hash != FormatHash(want.Hash) || !equal(got.draws, want.Draws) {
				t.Fatalf("step %d reads back as %+v, want %+v", i+1, got, want)
			}
			for j := range got.Records {
				g, w := &got.Records[j], records[j]
				if w.Step != want.Step || g.at(got) != int64(w.At) || g.Actor != k.ActorName(w.Actor) || g.Kind != w.Kind.String() ||
					g.Key != w.Key || g.RV != w.RV || g.N != w.N || g.Detail != w.Detail {
					t.Fatalf("step %d: record %d reads back as %+v, want %+v", i+1, j, g, w)
				}
			}
			records = records[len(got.Records):]
			at = int64(want.At)
		}
		if len(records) != 0 {
			t.Fatalf("%d records were lost", len(records))
		}
	})
}

func equal(a, b []uint64) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// Equal runs give equal bytes, and the bytes are text that diff and grep can process.
func TestTraceBytes(t *testing.T) {
	h := Header{Scenario: "first", Script: "a\nb", Subject: "stack", Engine: "step", Strategy: "random", Seed: 7}
	one, _, _ := writeTrace(t, h, 500, "a", "b")
	two, _, _ := writeTrace(t, h, 500, "a", "b")
	if !bytes.Equal(one, two) {
		t.Error("the same seed gave two different traces")
	}
	for i, line := range bytes.SplitAfter(one, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) || line[len(line)-1] != '\n' {
			t.Fatalf("line %d is not one JSON value: %q", i+1, line)
		}
	}
	const head = `{"trace":"informersim","version":3,"scenario":"first","script":"a\nb","subject":"stack","engine":"step","strategy":"random","seed":"7"}` + "\n"
	if !strings.HasPrefix(string(one), head) {
		t.Errorf("the header is %q, want %q", one[:len(head)], head)
	}
}

// The format is fixed: changing it needs a new version.
func TestTraceFormat(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO(), Start: Header{}.Digest()})
	var file bytes.Buffer
	w, err := NewTraceWriter(k, &file, Header{})
	if err != nil {
		t.Fatal(err)
	}
	k.Observe(w)
	f := &fake{name: "informer i1"}
	id := k.Register(f)
	s := k.Stream("s")
	f.apply = func(c Choice) {
		r := k.Record(id, kindTestHappen)
		r.Key, r.RV, r.N, r.Detail, r.Note = "pods default/a", 1001, -2, `say "<hi>"`, "for \xff readers"
		k.Emit(r)
		k.Emit(k.Record(id, kindTestHappen))
		s.Uint64()
		s.Uint64()
		k.Clock().AfterFunc(1500, func() { k.Emit(k.Record(id, kindTestHappen)) })
	}
	k.Offer(id, kindTestAct, 9)
	run(t, k, 2)
	if err := w.Close(`fail: "x"`, json.RawMessage(`{"note": "<hi>"}`)); err != nil {
		t.Fatal(err)
	}
	const want = `{"trace":"informersim","version":3,"scenario":"","subject":"","engine":"","strategy":"","seed":"0"}
{"s":1,"t":0,"a":"informer i1","k":"test-act","g":9,"q":1,"d":["ff92a44bc297d8db","57f741830cdbfc53"],"h":"0ce0265a97292244"}
{"r":"test-happened","a":"informer i1","key":"pods default/a","rv":1001,"n":-2,"x":"say \"\u003chi\u003e\"","note":"for \ufffd readers"}
{"r":"test-happened","a":"informer i1"}
{"s":2,"t":0,"a":"clock","k":"advance","q":1,"h":"be973f7dea709562"}
{"r":"test-happened","a":"informer i1","t":1500}
{"end":"fail: \"x\"","steps":2,"hash":"be973f7dea709562","about":{"note":"\u003chi\u003e"}}
`
	if file.String() != want {
		t.Errorf("the trace is\n%s\nwant\n%s", file.String(), want)
	}
}

// A reader computes the same hash as the live run even from text that is not UTF-8.
func TestTraceOfTextThatIsNotUTF8(t *testing.T) {
	file, seen, k := writeTrace(t, Header{Script: "\xff"}, 300, "a\xfe")
	if !strings.Contains(string(file), "\ufffd\ufffd not UTF-8") && !strings.Contains(string(file), "\ufffd not UTF-8") {
		t.Fatal("no record of the run contained invalid UTF-8: the test does not exercise it")
	}
	r, _, err := readTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.End().Hash; got != FormatHash(k.Hash()) {
		t.Errorf("hash %s, live %s", got, FormatHash(k.Hash()))
	}
	for _, rec := range seen.records {
		if strings.Contains(rec.Detail, "\xff") {
			t.Fatalf("observers saw %q, which a trace cannot represent", rec.Detail)
		}
	}
}

func TestHeaderDigest(t *testing.T) {
	plain := Header{Scenario: "s", Options: map[string]string{"a": "1", "b": "2"}}
	for name, h := range map[string]Header{
		"versions":         {Scenario: "s", Options: map[string]string{"a": "1", "b": "2"}, Versions: map[string]string{"go": "1.26"}},
		"magic and number": {Scenario: "s", Options: map[string]string{"b": "2", "a": "1"}, Trace: "x", Version: 9},
	} {
		if h.Digest() != plain.Digest() {
			t.Errorf("%s must not change the digest", name)
		}
	}
	for name, h := range map[string]Header{
		"scenario": {Scenario: "t", Options: plain.Options},
		"options":  {Scenario: "s", Options: map[string]string{"a": "1"}},
		"script":   {Scenario: "s", Options: plain.Options, Script: "x"},
		"subject":  {Scenario: "s", Options: plain.Options, Subject: "x"},
		"engine":   {Scenario: "s", Options: plain.Options, Engine: "x"},
		"strategy": {Scenario: "s", Options: plain.Options, Strategy: "x"},
		"seed":     {Scenario: "s", Options: plain.Options, Seed: 1},
		"mix":      {Scenario: "s", Options: plain.Options, Mix: json.RawMessage(`{}`)},
	} {
		if h.Digest() == plain.Digest() {
			t.Errorf("%s must change the digest", name)
		}
	}
}

// failingWriter fails after a number of bytes.
type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestTraceWriterErrors(t *testing.T) {
	k := newChurn(NewFIFO(), 1, 0)
	w, err := NewTraceWriter(k, &failingWriter{left: 100 << 10}, Header{})
	if err != nil {
		t.Fatal(err)
	}
	k.Observe(w)
	run(t, k, 2000)
	if err := w.Close("pass", nil); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "writing the trace: ") {
		t.Errorf("Close = %v, want the first write error", err)
	}

	refused := func(k *Kernel, h Header, want string) {
		t.Helper()
		if _, err := NewTraceWriter(k, io.Discard, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewTraceWriter = %v, want %q", err, want)
		}
	}
	refused(k, Header{}, "2000 steps were taken already")
	refused(newChurn(NewFIFO(), 1, 0), Header{Seed: 1}, "not started from the digest of this trace's header")
	refused(newChurn(NewFIFO(), 1, 0), Header{Mix: json.RawMessage("{")}, "encoding the trace header")
	mustPanic(t, "cannot encode the trace header", func() { Header{Mix: json.RawMessage("{")}.Digest() })
}

// Writing a trace that the reader would refuse for its size is an error.
func TestTraceWriterKeepsToTheLimit(t *testing.T) {
	limitTraceBytes(t, 1000)
	if _, err := NewTraceWriter(newChurn(NewFIFO(), 1, 0), io.Discard, Header{Script: strings.Repeat("x", 1000)}); err == nil ||
		!strings.Contains(err.Error(), "bytes; the limit is 1000") {
		t.Errorf("a header that is too long: %v", err)
	}
	for _, test := range []struct {
		detail int
		want   string
	}{{800, ""}, {1000, "writing the trace: step 2 has"}} {
		k := NewKernel(Options{Strategy: NewFIFO(), Start: Header{}.Digest()})
		var file bytes.Buffer
		w, err := NewTraceWriter(k, &file, Header{})
		if err != nil {
			t.Fatal(err)
		}
		k.Observe(w)
		f := &fake{name: "a"}
		id := k.Register(f)
		f.apply = func(c Choice) {
			if c.Target == 2 {
				r := k.Record(id, kindTestHappen)
				r.Detail = strings.Repeat("x", test.detail)
				k.Emit(r)
			}
		}
		for i := range 3 {
			k.Offer(id, kindTestAct, uint32(i+1))
		}
		run(t, k, 3)
		err = w.Close("pass", nil)
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
			if _, _, err := readTrace(file.Bytes()); err != nil {
				t.Errorf("written without an error, but cannot be read: %v", err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Close = %v, want %q", err, test.want)
		}
	}
}

func limitTraceBytes(t *testing.T, n int) {
	old := maxTraceBytes
	maxTraceBytes = n
	t.Cleanup(func() { maxTraceBytes = old })
}

// The writer formats numbers and hashes as package strconv does, whatever it formatted before.
func TestTraceNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, counter := newDecimal(), newDecimal()
		v := uint64(0)
		for range rapid.IntRange(1, 50).Draw(t, "numbers") {
			switch rapid.IntRange(0, 3).Draw(t, "which") {
			case 0:
				v = rapid.Uint64().Draw(t, "v") >> rapid.IntRange(0, 63).Draw(t, "shift")
			case 1:
				v = d.value
			case 2:
				v = uint64(rapid.SampledFrom([]int{9, 99, 100, 999, 1000, 99999}).Draw(t, "edge"))
			case 3:
				v = d.value + 1
			}
			if got := string(d.append(nil, v)); got != strconv.FormatUint(v, 10) {
				t.Fatalf("%d is printed as %s", v, got)
			}
			if got := string(counter.appendNext(nil, v)); got != strconv.FormatUint(v, 10) {
				t.Fatalf("%d is printed as %s", v, got)
			}
			if got := string(d.appendSigned(nil, int64(v))); got != strconv.FormatInt(int64(v), 10) {
				t.Fatalf("%d is printed as %s", int64(v), got)
			}
			if got := FormatHash(v); got != fmt.Sprintf("%016x", v) {
				t.Fatalf("%x is printed as %s", v, got)
			}
		}
	})
}

// A text is quoted as encoding/json does, whether or not it repeats the previous one.
func TestTraceTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q quotedText
		for range rapid.IntRange(1, 10).Draw(t, "texts") {
			text := rapid.OneOf(rapid.SampledFrom(toyWords), rapid.String(), rapid.StringMatching(`[a-z/-]{0,20}`)).Draw(t, "text")
			want, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := q.append([]byte("x"), text); string(got) != "x"+string(want) {
					t.Fatalf("%q is quoted as %s, want %s", text, got[1:], want)
				}
			}
		}
	})
}
