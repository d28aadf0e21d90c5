package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// goodTrace returns a trace of three steps with records and draws: lines 2, 4 and 6 are steps.
func goodTrace(tb testing.TB) []string {
	tb.Helper()
	k := NewKernel(Options{Strategy: NewFIFO(), Start: Header{}.Digest()})
	var file bytes.Buffer
	w, err := NewTraceWriter(k, &file, Header{})
	if err != nil {
		tb.Fatal(err)
	}
	k.Observe(w)
	s := k.Stream("s")
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(c Choice) {
		r := k.Record(id, kindTestHappen)
		r.Key, r.RV = "default/a", int64(s.Uint64()>>40)
		k.Emit(r)
	}
	for i := range 3 {
		k.Offer(id, kindTestAct, uint32(i))
	}
	run(tb, k, 3)
	if err := w.Close("pass", nil); err != nil {
		tb.Fatal(err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	if lines = lines[:len(lines)-1]; len(lines) != 8 {
		tb.Fatalf("the trace has %d lines", len(lines))
	}
	return lines
}

func TestTraceReaderSaysWhatIsWrongAndWhere(t *testing.T) {
	good := strings.Join(goodTrace(t), "")
	// Each edit works on its own copy of the lines.
	edit := func(i int, old, new string) func([]string) string {
		return func(l []string) string {
			if !strings.Contains(l[i], old) {
				t.Fatalf("line %d has no %q: %s", i+1, old, l[i])
			}
			l[i] = strings.Replace(l[i], old, new, 1)
			return strings.Join(l, "")
		}
	}
	text := func(s string) func([]string) string { return func([]string) string { return s } }
	hash := regexp.MustCompile(`"h":"([0-9a-f]{16})"`).FindStringSubmatch(good)[1]
	for _, test := range []struct {
		name string
		file func([]string) string
		want string // of the error, after the file's name
	}{
		{"empty", text(""), "1: the file is empty; a trace starts with a header line"},
		{"text", text("hello\n"), `1: this is not a trace: the first line of one is {"trace":"informersim",…}`},
		{"other JSON", text(`{"kind":"List"}` + "\n"), "1: this is not a trace"},
		{"JSON of another sort", text("[1,2]\n"), "1: this is not a trace"},
		{"null", text("null\n"), "1: this is not a trace"},
		{"a blank line first", text("\n" + good), "1: this is not a trace"},
		{"newer version", edit(0, `"version":3`, `"version":4,"new":true`), "1: the trace has format version 4; this informersim reads versions up to 3: use a newer one"},
		{"version 0", edit(0, `"version":3`, `"version":0`), "1: the trace has format version 0; versions start at 1"},
		{"version that is no number", edit(0, `"version":3`, `"version":"one"`), "1: not a header line: "},
		{"unknown field in the header", edit(0, `"scenario"`, `"colour":"red","scenario"`), `1: not a header line: json: unknown field "colour"`},
		{"seed that is no number", edit(0, `"seed":"0"`, `"seed":"x"`), "1: not a header line: "},
		{"more than one value in the header", edit(0, "}\n", "} {}\n"), "1: not a header line: more follows its JSON value"},
		{"header cut", text(good[:20]), "1: the trace is cut off in the middle of a line"},
		{"header only", func(l []string) string { return l[0] }, "2: the trace is cut off after step 0: its end line is missing"},
		{"edited header", edit(0, `"seed":"0"`, `"seed":"8"`), "2: step 1 does not match its hash (" + hash + " in the file, "},

		{"cut in a step", func(l []string) string { return strings.Join(l[:3], "") + l[3][:9] }, "4: the trace is cut off in the middle of a line"},
		{"cut in a record", func(l []string) string { return strings.Join(l[:4], "") + l[4][:9] }, "5: the trace is cut off in the middle of a line"},
		{"cut in the end line", text(strings.TrimSuffix(good, "}\n")), "8: the trace is cut off in the middle of a line"},
		{"cut after a record", func(l []string) string { return strings.Join(l[:5], "") }, "6: the trace is cut off after step 2: its end line is missing"},
		{"cut after a choice", func(l []string) string { return strings.Join(l[:6], "") }, "6: step 3 does not match its hash"},

		{"edited choice", edit(3, `"g":1`, `"g":2`), "4: step 2 does not match its hash"},
		{"edited sequence", edit(3, `"q":2`, `"q":3`), "4: step 2 does not match its hash"},
		{"edited actor", edit(3, `"a":"a"`, `"a":"b"`), "4: step 2 does not match its hash"},
		{"edited kind", edit(3, `"test-act"`, `"test-act2"`), "4: step 2 does not match its hash"},
		{"edited time", edit(3, `"t":0`, `"t":1`), "4: step 2 does not match its hash"},
		{"edited draw", edit(3, `"d":["`, `"d":["1`), "4: step 2"},
		{"a byte order mark", text("\uFEFF" + good), ""},
		{"draw removed", edit(3, `"d":[`, `"d":[],"d":[`), ""}, // the last one counts
		{"draw that is no number", edit(3, `"d":["`, `"d":["z`), `4: step 2: "z`},
		{"edited hash", edit(3, `"h":"`, `"h":"0`), "4: step 2 does not match its hash"},
		{"edited record", edit(4, "default/a", "default/b"), "4: step 2 does not match its hash"},
		{"record moved in time", edit(4, `"key"`, `"t":5,"key"`), "4: step 2 does not match its hash"},
		{"record lost", func(l []string) string { l[4] = ""; return strings.Join(l, "") }, "4: step 2 does not match its hash"},
		{"record twice", func(l []string) string { l[4] += l[4]; return strings.Join(l, "") }, "4: step 2 does not match its hash"},
		{"records in the step line", edit(3, `"h":`, `"Records":[],"h":`), `4: not a step line: json: unknown field "Records"`},
		{"line number in the step line", edit(3, `"h":`, `"Line":1,"h":`), `4: not a step line: json: unknown field "Line"`},
		{"unknown field in a record", edit(4, `"key":`, `"colour":1,"key":`), `5: not a record line: json: unknown field "colour"`},
		{"a record that is not JSON", edit(4, `"key":`, `key:`), "5: not a record line: "},
		{"a step that is not JSON", edit(3, `"t":`, `t:`), "4: not a step line: "},
		{"a negative step", edit(3, `"s":2`, `"s":-2`), "4: not a step line: "},
		{"a target that is too large", edit(3, `"g":1`, `"g":4294967296`), "4: not a step line: "},
		{"two values on a line", edit(3, "}\n", "}{}\n"), "4: not a step line: more follows its JSON value"},
		{"two values on a record line", edit(4, "}\n", "} 1\n"), "5: not a record line: more follows its JSON value"},
		{"a record before the first step", func(l []string) string { l[0] += l[2]; return strings.Join(l, "") }, `2: not a step line: json: unknown field "r"`},
		{"a blank line", func(l []string) string { l[4] += "\n"; return strings.Join(l, "") }, "6: not a step line: EOF"},
		{"a merge conflict", func(l []string) string { l[2] += "<<<<<<< HEAD\n"; return strings.Join(l, "") }, "4: not a step line: invalid character '<'"},
		{"nothing but zero bytes", func(l []string) string { l[3] = strings.Repeat("\x00", 50) + "\n"; return strings.Join(l, "") }, "4: not a step line: "},

		{"step twice", func(l []string) string { l[4] += l[3] + l[4]; return strings.Join(l, "") }, "6: step 2 follows step 2; lines were lost, repeated or moved"},
		{"step lost", func(l []string) string { l[3], l[4] = "", ""; return strings.Join(l, "") }, "4: step 3 follows step 1; lines were lost, repeated or moved"},
		{"steps exchanged", func(l []string) string { l[1], l[3] = l[3], l[1]; return strings.Join(l, "") }, "2: step 2 follows step 0; lines were lost, repeated or moved"},

		{"edited count of steps", edit(7, `"steps":3`, `"steps":4`), "8: the end line counts 4 steps, the file has 3"},
		{"edited hash of the end", edit(7, `"hash":"`, `"hash":"0`), "8: the end line's hash is 0"},
		{"unknown field in the end", edit(7, `"steps"`, `"colour":1,"steps"`), `8: not an end line: json: unknown field "colour"`},
		{"end line early", func(l []string) string { return l[0] + l[7] + strings.Join(l[1:], "") }, "2: the end line counts 3 steps, the file has 0"},
		{"lines after the end", text(good + "{}\n"), "9: there are lines after the end line"},
		{"another trace after the end", text(good + good), "9: there are lines after the end line"},
		{"half a line after the end", text(good + "x"), "9: there are lines after the end line"},
		{"a line after blank ones after the end", text(good + "\n\n{}\n"), "11: there are lines after the end line"},
		{"blank lines after the end", text(good + "\n \r\n\t\n"), ""},
		{"half a blank line after the end", text(good + "\n  "), ""},

		{"fine", text(good), ""},
		{"last newline lost", text(strings.TrimSuffix(good, "\n")), ""},
		{"last newline lost on Windows", text(strings.ReplaceAll(strings.TrimSuffix(good, "\n"), "\n", "\r\n") + "\r"), ""},
		{"lines that end as on Windows", text(strings.ReplaceAll(good, "\n", "\r\n")), ""},
		{"a verdict in other words", edit(7, `"end":"pass"`, `"end":"fail"`), ""},
		{"versions of another build", edit(0, `"seed"`, `"versions":{"go":"2"},"seed"`), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, _, err := readTrace([]byte(test.file(goodTrace(t))))
			if test.want == "" {
				if err != nil || r.End() == nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			var te *TraceError
			if !errors.As(err, &te) || !strings.HasPrefix(err.Error(), "t.trace.jsonl:"+test.want) {
				t.Fatalf("got  %v\nwant t.trace.jsonl:%s", err, test.want)
			}
			if r == nil {
				return
			}
			if r.End() != nil {
				t.Error("a trace that was refused has an end")
			}
			if _, again := r.Next(); again != err {
				t.Errorf("Next after an error = %v", again)
			}
		})
	}
}

func TestTraceReaderBoundsWhatItHolds(t *testing.T) {
	good := goodTrace(t)
	limitTraceBytes(t, 100<<10)
	long := strings.Repeat("x", maxTraceBytes)
	step := good[:3]
	for name, test := range map[string]struct{ file, want string }{
		"a first line that does not end": {long + long, "1: "},
		"a step":                         {good[0] + `{"s":1,"a":"` + long + "\"}\n", "2: "},
		"a record":                       {strings.Join(step, "") + `{"r":"` + long + "\"}\n", "4: "},
		"many records of one step":       {strings.Join(step, "") + strings.Repeat(good[2], maxTraceBytes/len(good[2])), fmt.Sprintf("%d: ", 3+(maxTraceBytes-len(good[1])+2)/len(good[2]))},
		"after the end":                  {strings.Join(good, "") + long + long, "9: there are lines after the end line"},
	} {
		_, _, err := readTrace([]byte(test.file))
		if err == nil || !strings.HasPrefix(err.Error(), "t.trace.jsonl:"+test.want) ||
			(name != "after the end" && !strings.Contains(err.Error(), "exceed the limit of 102400 bytes: this is not a trace")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := readTrace([]byte(strings.Join(good, ""))); err != nil {
		t.Error(err)
	}
}

func TestTraceReaderPassesOnTheErrorOfItsFile(t *testing.T) {
	broken := errors.New("broken")
	good := strings.Join(goodTrace(t), "")
	for n := range len(good) + 1 {
		in := io.MultiReader(strings.NewReader(good[:n]), iotest.ErrReader(broken))
		r, err := NewTraceReader("t.trace.jsonl", in)
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "reading t.trace.jsonl: ") {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	// One byte at a time makes no difference.
	r, err := NewTraceReader("t", iotest.OneByteReader(strings.NewReader(good)))
	for err == nil {
		_, err = r.Next()
	}
	if err != io.EOF || r.End() == nil {
		t.Errorf("read byte by byte: %v", err)
	}
}

// A trace with any single byte changed is refused, or means the same.
func TestTraceReaderFindsEveryChangedByte(t *testing.T) {
	good := []byte(strings.Join(goodTrace(t), ""))
	rg, want, err := readTrace(good)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for i := range good {
		for _, flip := range []byte{1, 4, 32} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			r, got, err := readTrace(bad)
			if err != nil {
				continue
			}
			accepted++
			if r.Header().Digest() != rg.Header().Digest() || len(got) != len(want) {
				t.Errorf("byte %d changed to %q: accepted with another meaning", i, bad[i])
			}
			for j := range want {
				if hashStep(0, got[j]) != hashStep(0, want[j]) {
					t.Errorf("byte %d changed to %q: step %d has another meaning", i, bad[i], j+1)
				}
			}
		}
	}
	if accepted == 0 {
		t.Error("not even a changed verdict was accepted: the test does not exercise acceptance") // the verdict is not hashed
	}
}

// lineScanner and encoding/json agree on every line that both accept, and lineScanner accepts what TraceWriter writes.
func TestLineScannerAgreesWithJSON(t *testing.T) {
	agree := func(t *rapid.T, line []byte) (quickStep, quickRecord bool) {
		var p lineScanner
		var s, wantStep TraceStep
		if quickStep = p.step(line, &s); quickStep {
			if err := decodeLine(line, &wantStep); err != nil || !reflect.DeepEqual(s, wantStep) {
				t.Fatalf("%s\nlineScanner reads %+v\nencoding/json reads %+v, %v", line, s, wantStep, err)
			}
		}
		var r, wantRecord TraceRecord
		if quickRecord = p.record(line, &r); quickRecord {
			if err := decodeLine(line, &wantRecord); err != nil || !reflect.DeepEqual(r, wantRecord) {
				t.Fatalf("%s\nlineScanner reads %+v\nencoding/json reads %+v, %v", line, r, wantRecord, err)
			}
		}
		return quickStep, quickRecord
	}
	rapid.Check(t, func(t *rapid.T) {
		file, _, _ := writeTrace(t, Header{Seed: rapid.Uint64().Draw(t, "seed")}, 20, "a", "b")
		lines := bytes.Split(file, []byte("\n"))
		for _, line := range lines[1 : len(lines)-2] {
			step, record := agree(t, line)
			escaped := bytes.ContainsFunc(line, func(r rune) bool { return r == '\\' || r > 127 })
			if step == record && !escaped {
				t.Fatalf("%s: accepted as a step %v, as a record %v", line, step, record)
			}
		}
		line := bytes.Clone(rapid.SampledFrom(lines).Draw(t, "line"))
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(line)).Draw(t, "at")
			some := rapid.SampledFrom([]string{"0", "-", "9", "1e3", "1.0", "00", ",", `"`, "}", " ", "\\", "é", "\xff", `"t":1,`, `"d":[],`, "18446744073709551615", "9223372036854775808"}).Draw(t, "some")
			line = append(line[:at:at], append([]byte(some), line[min(len(line), at+rapid.IntRange(0, 3).Draw(t, "cut")):]...)...)
		}
		agree(t, line)
	})
}

// The cache of names is bounded.
func TestLineScannerForgetsNames(t *testing.T) {
	var p lineScanner
	for i := range 3 * maxNames {
		var r TraceRecord
		if !p.record(fmt.Appendf(nil, `{"r":"kind-%d","a":"a"}`, i), &r) {
			t.Fatalf("record %d was not read", i)
		}
	}
	if len(p.names) > maxNames {
		t.Errorf("%d names are cached", len(p.names))
	}
}
