package sim

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzTraceReader checks that no input makes the reader panic or hold more than its limit, and that an accepted input has an
// end line whose hash is that of the steps read.
func FuzzTraceReader(f *testing.F) {
	good := strings.Join(goodTrace(f), "")
	toys, _, _ := writeTrace(f, Header{Scenario: "s", Script: "cluster\n", Seed: 3, Options: map[string]string{"queue": "delta"}, Mix: []byte(`{"drop":0.1}`)}, 40, "a", "b\xff")
	empty, _, _ := writeTrace(f, Header{}, 0)
	for _, seed := range []string{
		good, string(toys), string(empty), "",
		good[:len(good)-1], good[:len(good)/2], good + good,
		strings.ReplaceAll(good, "\n", "\r\n"),
		strings.Replace(good, `"version":3`, `"version":4`, 1),
		strings.Replace(good, `"seed"`, `"mix":null,"versions":{"\ud800":"\ufffd"},"seed"`, 1),
		strings.Replace(good, `"key":"default/a"`, `"key":"`+"\xff"+`"`, 1),
		`{"trace":"informersim","version":1}` + "\n" + `{"s":1}` + "\n",
		`{"trace":"informersim","version":1,"mix":[[[[` + "\n",
		"null\nnull\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		old := maxTraceBytes
		maxTraceBytes = 64 << 10
		defer func() { maxTraceBytes = old }()
		r, err := NewTraceReader("fuzz", bytes.NewReader(file))
		if err != nil {
			wantLocatedError(t, err)
			return
		}
		hash := r.Header().Digest()
		for n := uint64(0); ; n++ {
			s, err := r.Next()
			if err == nil {
				if s.Step != n+1 {
					t.Fatalf("step %d follows step %d", s.Step, n)
				}
				hash = hashStep(hash, s)
				continue
			}
			if e := r.End(); e != nil {
				if e.Hash != FormatHash(hash) || e.Steps != n {
					t.Fatalf("accepted with end line %+v after %d steps with hash %s", e, n, FormatHash(hash))
				}
				return
			}
			wantLocatedError(t, err)
			return
		}
	})
}

// wantLocatedError fails the test unless the error names the file and a line.
func wantLocatedError(t *testing.T, err error) {
	t.Helper()
	te, ok := err.(*TraceError)
	if !ok || te.Line < 1 || !strings.HasPrefix(err.Error(), "fuzz:") || te.Msg == "" {
		t.Fatalf("the error does not name file and line: %#v", err)
	}
}
