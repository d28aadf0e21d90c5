package blackbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	header = `{"trace":"informersim"}` + "\n"
	step1  = `{"s":1,"t":5,"a":"x","k":"y","q":1,"h":"0123456789abcdef"}` + "\n" + `{"r":"frame","a":"conn/x","key":"pods a","x":"ADDED"}` + "\n"
	begun  = `{"r":"response","a":"conn/x","n":1,"x":"409 Conflict: no"}` + "\n"
)

// testBox returns a box without a monitor, as after the header and one step.
func testBox(t *testing.T) *Box {
	f, err := os.Create(filepath.Join(t.TempDir(), "grows"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := &Box{file: f}
	b.Begin(Notice{})
	_, _ = b.Write([]byte(header))
	b.Pending(false, []byte(step1[strings.Index(step1, "\n")+1:]))
	_, _ = b.Write([]byte(step1))
	return b
}

func TestWhatIsPendingIsNotInTheTrace(t *testing.T) {
	b := testBox(t)
	for _, test := range []struct {
		pending func()
		want    string
	}{
		{func() {}, ""},
		{func() { b.Pending(false, []byte(begun)) }, "conn/x: response 409 Conflict: no"},
		{func() { b.Pending(true, nil) }, "time passes"},
	} {
		test.pending()
		complete, pending, err := b.Read()
		if err != nil || string(complete) != header+step1 || !strings.HasPrefix(pending, test.want) {
			t.Errorf("%v: %q is pending, want %q, after\n%s", err, pending, test.want, complete)
		}
	}
	if b.Err() != nil {
		t.Error(b.Err())
	}
	b.End()
	if _, err := os.Stat(b.File()); !os.IsNotExist(err) {
		t.Errorf("the file of a box without a monitor stays: %v", err)
	}
}

// The monitor speaks only if its pipe is closed during a run, and leaves nothing behind otherwise.
func TestMonitor(t *testing.T) {
	for name, test := range map[string]struct {
		messages []message
		speaks   bool
	}{
		"nothing":        {nil, false},
		"after a run":    {[]message{{&Notice{Head: "HEAD"}}, {}}, false},
		"during a run":   {[]message{{}, {&Notice{Head: "HEAD", Tail: "TAIL"}}}, true},
		"second run":     {[]message{{&Notice{Head: "OTHER"}}, {}, {&Notice{Head: "HEAD", Tail: "TAIL"}}}, true},
		"without an end": {[]message{{&Notice{Head: "OTHER"}}, {&Notice{Head: "HEAD", Tail: "TAIL"}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := testBox(t)
			b.Pending(true, nil)
			to := filepath.Join(t.TempDir(), "a", "b", "kept")
			var in, out strings.Builder
			for _, m := range test.messages {
				if m.Begin != nil {
					m.Begin.Trace = to
				}
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				in.WriteString(string(data) + "\n")
			}
			watch(strings.NewReader(in.String()), &out, b.File())
			if _, err := os.Stat(b.File()); !os.IsNotExist(err) {
				t.Errorf("the temporary file stays: %v", err)
			}
			if !test.speaks {
				if out.Len() > 0 {
					t.Errorf("it says %q", &out)
				}
				return
			}
			want := "\nHEAD\n  it had taken 1 step (5ns of virtual time)\n  step 2 had begun: time passes\n  the trace so far is in " + to + "\n\nTAIL\n"
			if out.String() != want {
				t.Errorf("it says %q, want %q", &out, want)
			}
			if kept, err := os.ReadFile(to); err != nil || string(kept) != header+step1 {
				t.Errorf("%v: kept is %q", err, kept)
			}
		})
	}
}

// Where the trace cannot be kept, it stays in the temporary file.
func TestUnwritableFolder(t *testing.T) {
	b := testBox(t)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	report(&out, b.File(), &Notice{Trace: filepath.Join(blocked, "x")})
	if kept, err := os.ReadFile(b.File()); err != nil || string(kept) != header+step1 || !strings.Contains(out.String(), b.File()) {
		t.Errorf("%v: kept is %q; it says %q", err, kept, &out)
	}
	out.Reset()
	report(&out, b.File()+".gone", &Notice{Tail: "TAIL"})
	if !strings.Contains(out.String(), "could not be kept") || !strings.Contains(out.String(), "TAIL") {
		t.Errorf("it says %q", &out)
	}
}
