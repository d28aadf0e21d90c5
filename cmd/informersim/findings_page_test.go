package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/informersim/informersim/sim"
)

// maxFinding is the size of a trace in the repository, in bytes.
const maxFinding = 150_000

// Each trace of a finding is linked to and described by findings.md, is small, is of a test of the module that its folder is named after, and can be explained. That it
// replays is tested in that module.
func TestTracesOfFindings(t *testing.T) {
	files, err := filepath.Glob(docs + "findings/*/*.trace.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("there are %d traces: %v", len(files), err)
	}
	text := page(t, "findings.md")
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxFinding {
			t.Errorf("%s has %d bytes, more than %d", file, info.Size(), maxFinding)
		}
		var h sim.Header
		var end *sim.TraceEnd
		err = readTrace(file, func(tr *sim.TraceReader) error {
			h = tr.Header()
			for {
				if _, err := tr.Next(); err != nil {
					break
				}
			}
			end = tr.End()
			return nil
		})
		if err != nil || end == nil {
			t.Errorf("%s cannot be read to its end: %v", file, err)
			continue
		}
		module := filepath.Base(filepath.Dir(file))
		if !strings.HasSuffix(h.Options["package"], "/"+module) || !strings.HasPrefix(filepath.Base(file), h.Scenario+"-") {
			t.Errorf("%s is of %s in %s", file, h.Scenario, h.Options["package"])
		}
		row := "/" + module + " | [" + h.Scenario + "](findings/" + module + "/" + filepath.Base(file) + ") | " + strconv.FormatUint(end.Steps, 10) + " | "
		if !strings.Contains(text, row) {
			t.Errorf("findings.md lacks %s", row)
		}
		says := "FAIL  " + strings.TrimPrefix(end.Verdict, "error")
		if out := command(t, "explain", file); out.code != exitOK || !strings.Contains(out.stdout, says) {
			t.Errorf("explain %s: exit code %d\n%s%s", file, out.code, out.stdout, out.stderr)
		}
	}
}
