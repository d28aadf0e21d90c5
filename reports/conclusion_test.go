package reports_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// What a trace's end line says is what the run's report says, apart from stacks of goroutines: they have addresses, and the calls of a panic stay.
func TestConclusion(t *testing.T) {
	run := &reports.Run{
		Violation: &reports.Violation{
			Property: "NoPanic", Step: 7, At: 3, Key: "default/a", Message: "a handler panicked: </script>\n\ngoroutine 7 [running]:\nmain.f(0xc000012345)\n",
			Because: []reports.Evidence{{Step: 5, At: 2, Text: "it was told of default/a"}},
		},
		Statement: "nothing panics", ShrunkFrom: "9 commands", Checked: []reports.Checked{{Name: "NoPanic", Times: 4}}, Converging: 11,
	}
	about, err := reports.Conclude(run).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if text := string(about); strings.Contains(text, "goroutine") || strings.Contains(text, "</script>") {
		t.Errorf("the end line says %s", text)
	}
	if !strings.Contains(run.Violation.Message, "goroutine 7") {
		t.Error("the run's own message was cut")
	}
	got, err := reports.ConclusionOf(&sim.TraceEnd{About: about})
	if err != nil {
		t.Fatal(err)
	}
	want := *run.Violation
	want.Message = "a handler panicked: </script>\n  in main.f"
	if !reflect.DeepEqual(got.Violation, &want) || got.Statement != "nothing panics" || got.ShrunkFrom != "9 commands" || got.ConvergingNs != 11 ||
		!reflect.DeepEqual(got.Checked, run.Checked) {
		t.Errorf("read back: %+v, %+v", got, got.Violation)
	}
	for _, end := range []*sim.TraceEnd{nil, {}} {
		if c, err := reports.ConclusionOf(end); c != nil || err != nil {
			t.Errorf("of %+v: %v, %v; want nothing", end, c, err)
		}
	}
	if c, err := reports.ConclusionOf(&sim.TraceEnd{About: json.RawMessage(`{"violation":7}`)}); err == nil {
		t.Errorf("of what is no conclusion: %v", c)
	}
}
