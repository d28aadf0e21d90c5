package traces

import (
	"flag"
	"os"
	"testing"

	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// Gap is the trace of a run in which a queue's Replace forgets a key that only the queue knew (k115658), seen from a folder beside timeline.
const Gap = "../timeline/testdata/gap.trace.jsonl"

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// Read returns the timeline of a trace.
func Read(t testing.TB, path string) *timeline.Timeline {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := sim.NewTraceReader(path, f)
	if err != nil {
		t.Fatal(err)
	}
	tl, err := timeline.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// Golden compares a text with what a file has. Read the file when it changes.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(-rewrite accepts it)", file, got, want)
	}
}
