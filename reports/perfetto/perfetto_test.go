package perfetto_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/informersim/informersim/reports/internal/traces"
	"github.com/informersim/informersim/reports/perfetto"
)

// Every event is on a lane that has a name, every flow that begins ends, and the violation is there.
func TestWrite(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	var out bytes.Buffer
	if err := perfetto.Write(&out, tl); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			TS, Dur  int64
			PID, TID int
			ID       int
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	named, begun, ended, violations := map[int]any{}, map[int]int64{}, 0, 0
	for _, e := range file.TraceEvents {
		switch {
		case e.Name == "thread_name":
			named[e.TID] = e.Args["name"]
			continue
		case e.Ph == "M":
			continue
		case e.Ph == "s":
			begun[e.ID] = e.TS
		case e.Ph == "f":
			if from, ok := begun[e.ID]; !ok || from > e.TS {
				t.Errorf("flow %d ends at %d and begins at %d", e.ID, e.TS, from)
			}
			ended++
		case e.Ph == "i":
			violations++
			if e.TS != 25 || e.Name != "VIOLATION ReplaceDeletesMissing" {
				t.Errorf("the violation is %+v", e)
			}
		}
		if named[e.TID] == nil || e.TS < 1 || e.TS > 25 || e.TS+e.Dur > 26 {
			t.Errorf("on lane %v: %+v", named[e.TID], e)
		}
	}
	if len(named) != len(tl.Lanes) || ended == 0 || ended != len(begun) || violations != 1 {
		t.Errorf("%d lanes, %d flows of which %d end, %d violations", len(named), len(begun), ended, violations)
	}
}
