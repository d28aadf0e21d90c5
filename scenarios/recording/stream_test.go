package recording

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestStreamLimit(t *testing.T) {
	for size, want := range map[int]string{100_000: "", 100_001: "r: the recording exceeds 100000 bytes; record less"} {
		s := newStream("r", io.LimitReader(spaces{}, int64(size)))
		s.limit = 100_000
		if _, more := s.next(); more {
			t.Fatal("found a byte that is not a space")
		}
		err := s.failure()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%d bytes: got %v, want %s", size, err, want)
		}
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestStreamReadError(t *testing.T) {
	_, err := Import(io.MultiReader(strings.NewReader(event("ADDED", widget("n/a", 1))+"\n  {"), iotest.ErrReader(errors.New("the disk is on fire"))),
		Options{Name: "r", Format: WatchEvents})
	if want := "r:3:4: reading the recording: the disk is on fire"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStreamReadsValues compares values and positions read from a stream with those written to it.
func TestStreamReadsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]string{`{}`, `[{"a":"}\\\""},[1]]`, `"a\"]"`, `12.5e3`, `true`, `null`, "{\n\"a\" :\n[ ]}", `"ä"`}), 0, 6).Draw(t, "values")
		var input bytes.Buffer
		var offsets []int
		for _, v := range values {
			input.WriteString(rapid.SampledFrom([]string{" ", "\n", "\r\n\t", "\n\n "}).Draw(t, "space"))
			offsets = append(offsets, input.Len())
			input.WriteString(v)
		}
		text := input.String()
		s := newStream("r", iotest.OneByteReader(strings.NewReader(text)))
		for i, want := range values {
			if _, more := s.next(); !more {
				t.Fatalf("the stream ends before value %d", i)
			}
			got, at, err := s.read()
			if err != nil || string(got) != want {
				t.Fatalf("value %d: got %q, %v; want %q", i, got, err, want)
			}
			before := text[:offsets[i]]
			line, column := 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')
			if int(at.offset) != offsets[i] || at.pos.Line != line || at.pos.Column != column {
				t.Fatalf("value %d: got %+v, want offset %d, line %d, column %d", i, at, offsets[i], line, column)
			}
		}
		if _, more := s.next(); more {
			t.Fatal("the stream continues")
		}
	})
}
