package html_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

const gap = "../timeline/testdata/gap.trace.jsonl"

func rendered(t *testing.T, trace []byte) string {
	t.Helper()
	var page bytes.Buffer
	if err := html.Write(&page, "the trace", bytes.NewReader(trace)); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func gapTrace(t testing.TB) []byte {
	trace, err := os.ReadFile(gap)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// A report says what the trace says, with all that a reader of one minute needs, and loads nothing.
func TestReport(t *testing.T) {
	page := rendered(t, gapTrace(t))
	for _, want := range []string{
		`informer i1 knew default/b at rv=2; the list at rv=3 does not have it, and its Replace queued 0 deletions, want 1</h1>`,
		`breaks ReplaceDeletesMissing at step 25, after 1.413s`,
		`but a list at rv=3 without it replaced the queue`,
		`FAULT watch-410`,
		`<code>informersim replay gap-seed1.trace.jsonl</code>`,
		`<code>informersim run gap.sim --seed 1 --strategy fifo</code>`,
		`a Replace queues exactly one Deleted for every known key`,
		`<code>pods default/b</code>`,
		`✕ </span>never`,
		`✕ </span>ReplaceDeletesMissing`,
		`fault i1 watch=410`, // of the script
		html.Generator,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, bad := range []string{"http://", "https://", " src=", "<link", "@import", "url("} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), bad) {
			t.Errorf("the report has %q: it must load nothing", bad)
		}
	}
	if again := rendered(t, gapTrace(t)); again != page {
		t.Error("the same trace gave two different reports")
	}
}

// The nearest run that passes stands beside the run that fails; that none was found is said, too.
func TestTwin(t *testing.T) {
	for _, test := range []struct {
		twin reports.Twin
		want []string
	}{
		{reports.Twin{Version: 1, Tried: 3, Change: "<b>x</b> does not happen", Steps: 41, Partings: []reports.Parting{{
			Here: []reports.Line{{Step: 17, Text: "FAULT here"}}, There: []reports.Line{{Step: 18, Text: "it goes on"}}}, {There: []reports.Line{{Step: 30}}}}},
			[]string{"The run passes if &lt;b&gt;x&lt;/b&gt; does not happen.", "It has 41 steps; 3 runs with one thing changed were tried.", `href="#step-17"`, "FAULT here", "its step 18", "it goes on", ">nothing<"}},
		{reports.Twin{Version: 1, Tried: 9}, []string{"None was found: 9 runs with one thing changed did not pass."}},
	} {
		trace, err := reports.WithTwin(gapTrace(t), &test.twin)
		if err != nil {
			t.Fatal(err)
		}
		page := rendered(t, trace)
		for _, want := range append(test.want, "The nearest run that passes") {
			if !strings.Contains(page, want) {
				t.Errorf("the report lacks %q", want)
			}
		}
	}
	endless := reports.Twin{Version: 1, Tried: 1, Change: "c", Partings: make([]reports.Parting, 100_000)}
	trace, err := reports.WithTwin(gapTrace(t), &endless)
	if err != nil {
		t.Fatal(err)
	}
	if page := rendered(t, trace); len(page) > html.MaxBytes {
		t.Errorf("with a twin without an end, the report has %d bytes", len(page))
	}
	if strings.Contains(rendered(t, gapTrace(t)), "nearest run") {
		t.Error("a twin that nobody has looked for is reported")
	}
}

// A trace that lacks its end, or that an older program wrote, has a report as far as it goes.
func TestTraceWithoutAnEnd(t *testing.T) {
	trace := gapTrace(t)
	last := bytes.LastIndex(trace, []byte(`{"end"`))
	page := rendered(t, trace[:last])
	for _, want := range []string{"CUT OFF", "its end line is missing", "after step 25, at 1.413s of virtual time", `"rows":[[1,`} {
		if !strings.Contains(page, want) {
			t.Errorf("the report of a trace without its end lacks %q", want)
		}
	}
	died := rendered(t, append(bytes.Clone(trace[:last]), []byte(`{"end":"died","steps":25,"hash":"`+hashIn(t, trace[last:])+`","about":{"begun":"time passes"}}`+"\n")...))
	for _, want := range []string{`<span class="word">DIED</span>`, "The process under test died after step 25, at 1.413s of virtual time", "step 26, which is not in the trace: time passes", "--seed 1"} {
		if !strings.Contains(died, want) {
			t.Errorf("the report of a run whose process died lacks %q", want)
		}
	}
	exited := rendered(t, append(bytes.Clone(trace[:last]), []byte(`{"end":"died","steps":25,"hash":"`+hashIn(t, trace[last:])+`","about":{"failure":"`+reports.Exited+`3: no luck"}}`+"\n")...))
	for _, want := range []string{`<span class="word">DIED</span>`, "The process under test exited after step 25, at 1.413s of virtual time", "the process exited with status 3: no luck"} {
		if !strings.Contains(exited, want) {
			t.Errorf("the report of a run whose process exited lacks %q", want)
		}
	}
	var end map[string]any
	if err := json.Unmarshal(trace[last:], &end); err != nil {
		t.Fatal(err)
	}
	delete(end, "about")
	old, err := json.Marshal(end)
	if err != nil {
		t.Fatal(err)
	}
	page = rendered(t, append(append(bytes.Clone(trace[:last]), old...), '\n'))
	if !strings.Contains(page, "The run broke ReplaceDeletesMissing.") {
		t.Error("the report of an older trace does not name the property")
	}
	var none bytes.Buffer
	if err := html.Write(&none, "bad", strings.NewReader("hello\n")); err == nil || none.Len() > 0 {
		t.Errorf("of what is no trace: %v, %d bytes", err, none.Len())
	}
}

func hashIn(t *testing.T, end []byte) string {
	t.Helper()
	var e sim.TraceEnd
	if err := json.Unmarshal(end, &e); err != nil {
		t.Fatal(err)
	}
	return e.Hash
}

// long returns a run of many steps: writes, deliveries with other names, and requests that fail.
func long(steps int, name string) (sim.Header, []sim.TraceStep, *sim.TraceEnd) {
	h := sim.Header{Scenario: name, Script: "# " + name + "\nresource pods\n", Subject: "stack", Strategy: "random", Seed: 7, Versions: map[string]string{"informersim": name}}
	all := make([]sim.TraceStep, steps)
	for i := range all {
		rv := int64(i/4 + 1)
		key := fmt.Sprintf("pods default/%s%d", name, i/4%50)
		s := &all[i]
		s.Step, s.At, s.Actor, s.Kind = uint64(i+1), int64(i)*int64(time.Millisecond), "cluster", "command"
		switch i % 4 {
		case 0:
			s.Records = []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: key, RV: rv, Detail: "ADDED"}}
		case 1:
			s.Records = []sim.TraceRecord{{Kind: "apply", Actor: "replica/0", Key: key, RV: rv, Detail: "ADDED"}}
		case 2:
			s.Records = []sim.TraceRecord{{Kind: "frame", Actor: "conn/" + name, Key: key, RV: rv, N: 2, Detail: "ADDED"}}
			if i == 2 {
				s.Records = []sim.TraceRecord{{Kind: "request", Actor: "conn/" + name, Key: "pods", N: 2, Detail: `watch rv="0" ` + name}, {Kind: "response", Actor: "conn/" + name, N: 2, Detail: "ok"}}
			}
		case 3:
			s.Records = []sim.TraceRecord{{Kind: "request", Actor: "conn/w", Key: "pods", N: int64(i), Detail: "create " + name}, {Kind: "response", Actor: "conn/w", N: int64(i), Detail: "500 " + name}}
			if i%20 == 3 {
				s.Records = append(s.Records, sim.TraceRecord{Kind: "fault", Actor: "cluster", Key: "conn/" + name, Detail: "watch-stall"})
			}
		}
	}
	c := reports.Conclusion{
		Violation: &reports.Violation{
			Property: name, Step: uint64(steps - 10), Key: "default/" + name + "7", Message: name + " is wrong\n" + name,
			Because: []reports.Evidence{{Step: uint64(steps / 2), Text: name}},
		},
		Statement: name, ShrunkFrom: name, Down: []string{name}, InForce: []string{name}, Unattended: []string{name}, Checked: []reports.Checked{{Name: name, Times: 1}},
		Mismatches: []reports.Mismatch{{At: name, Message: name}},
	}
	about, err := c.JSON()
	if err != nil {
		panic(err)
	}
	return h, all, &sim.TraceEnd{Verdict: name, Steps: uint64(steps), Hash: "0", About: about}
}

func render(t testing.TB, h sim.Header, steps []sim.TraceStep, end *sim.TraceEnd) string {
	tl, err := timeline.Of(h, steps, end)
	if err != nil {
		t.Fatal(err)
	}
	page, err := html.Render(tl)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// A report of a long run stays under its limit, says what it leaves out, and has the violation and its evidence.
func TestLongRun(t *testing.T) {
	const steps = 100_000
	page := render(t, sim.Header{}, nil, nil)
	if strings.Contains(page, `id="data"`) {
		t.Error("a run without steps has a diagram")
	}
	h, all, end := long(steps, "x")
	page = render(t, h, all, end)
	if len(page) > html.MaxBytes || len(page) < html.MaxBytes/2 {
		t.Errorf("the report has %d bytes; it should use what it may have, %d", len(page), html.MaxBytes)
	}
	for _, want := range []string{"This run has 100000 steps;", fmt.Sprintf("[%d,", steps-10), fmt.Sprintf("[%d,", steps/2), "[1,0,", ",-2,"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

// A client that lists in a tight loop, for as long as somebody waits: the report fits, and is not long in coming.
func TestManyRequests(t *testing.T) {
	all := make([]sim.TraceStep, 100_000)
	for i := range all {
		r := sim.TraceRecord{Kind: "request", Actor: "conn/hot", Key: "pods", N: int64(i/2 + 1), Detail: `list rv="1"`}
		if i%2 == 1 {
			r = sim.TraceRecord{Kind: "page", Actor: "conn/hot", RV: 1, Detail: fmt.Sprintf("request=%d", r.N)}
		}
		all[i] = sim.TraceStep{Step: uint64(i + 1), Actor: "conn/hot", Kind: "request", Records: []sim.TraceRecord{r}}
	}
	page := render(t, sim.Header{Scenario: "hot", Subject: "simtest", Strategy: "random", Seed: 1}, all, &sim.TraceEnd{Verdict: sim.EndDied, Steps: uint64(len(all)), Hash: "0"})
	if len(page) > html.MaxBytes || !strings.Contains(page, "This run has 100000 steps;") {
		t.Errorf("the report has %d bytes", len(page))
	}
}

// A run whose every text is long still fits.
func TestLongTexts(t *testing.T) {
	h, all, end := long(400, strings.Repeat("long", 2000))
	if page := render(t, h, all, end); len(page) > html.MaxBytes {
		t.Errorf("the report has %d bytes", len(page))
	}
}

// hostile are names that must stay text.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `</script><script>alert(1)</script>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`, "\u2028\u2029]]>", `</style><img src=x>`,
	`{{.Data}}`, `<!--<script>`, `&lt;img&gt;`, "\x00\x1b[31m", "javascript:alert(1)", "\u202egnp.exe", "`${alert(1)}`", `</title><img src=x>`,
}

// escaped checks that nothing of a trace is markup: the page has the tags of the template and no others.
func escaped(t *testing.T, page string) {
	t.Helper()
	for _, bad := range []string{"<img", "<svg", "<!--<", "onerror=alert(1)>", "\u2028", "\u2029", "\x00", "\x1b"} {
		if i := strings.Index(page, bad); i >= 0 {
			t.Errorf("the report has %q: …%q…", bad, page[max(0, i-60):min(len(page), i+60)])
		}
	}
	scripts := 1
	if strings.Contains(page, `<script type="application/json" id="data">`) { // of a trace without steps there is no diagram
		scripts = 2
	}
	for tag, want := range map[string]int{"<script": scripts, "</script": scripts, "<style": 1, "</style": 1, "<title": 1, "</title": 1, "</body": 1} { // order: independent checks
		if n := strings.Count(strings.ToLower(page), tag); n != want {
			t.Errorf("the report has %d × %q, want %d", n, tag, want)
		}
	}
}

func TestHostileNames(t *testing.T) {
	for _, name := range hostile {
		h, steps, end := long(60, name)
		escaped(t, render(t, h, steps, end))
	}
}

// Whatever a trace says, a report of it is made without a panic, within its size, and with nothing unescaped.
func FuzzReport(f *testing.F) {
	trace := gapTrace(f)
	f.Add(trace, "<img src=x>")
	for _, name := range hostile {
		f.Add(bytes.ReplaceAll(trace, []byte("default/b"), []byte("default/c")), name)
	}
	f.Fuzz(func(t *testing.T, trace []byte, name string) {
		h, steps, end := parsed(trace, name)
		tl, err := timeline.Of(h, steps, end)
		if err != nil {
			return // the end line is no conclusion
		}
		page, err := html.Render(tl)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > html.MaxBytes {
			t.Errorf("the report has %d bytes", len(page))
		}
		escaped(t, string(page))
	})
}

// parsed reads a trace whose hashes need not be right, and puts a name into all of its texts.
func parsed(trace []byte, name string) (h sim.Header, steps []sim.TraceStep, end *sim.TraceEnd) {
	for line := range bytes.Lines(trace) {
		var s sim.TraceStep
		var r sim.TraceRecord
		switch {
		case bytes.HasPrefix(line, []byte(`{"trace"`)):
			_ = json.Unmarshal(line, &h)
			h.Scenario, h.Subject = h.Scenario+name, name
		case bytes.HasPrefix(line, []byte(`{"end"`)):
			end = &sim.TraceEnd{}
			_ = json.Unmarshal(line, end)
			end.Verdict += name
		case bytes.HasPrefix(line, []byte(`{"r"`)) && len(steps) > 0:
			_ = json.Unmarshal(line, &r)
			r.Key, r.Detail = r.Key+name, r.Detail+name
			last := &steps[len(steps)-1]
			last.Records = append(last.Records, r)
		case json.Unmarshal(line, &s) == nil:
			s.Step = uint64(len(steps) + 1)
			steps = append(steps, s)
		}
	}
	return h, steps, end
}

// Holds that end together end in one order.
func TestReportIsAFunctionOfTheTrace(t *testing.T) {
	h := sim.Header{Scenario: "s", Script: "hold a\nhold b\nhold c\nhold d\nhold e\nhold f\n"}
	var steps []sim.TraceStep
	for n := range uint32(7) { // the last one is the end of the script
		steps = append(steps, sim.TraceStep{Step: uint64(n + 1), Actor: "script", Kind: "command", Target: n})
	}
	first := render(t, h, steps, nil)
	for range 20 {
		if render(t, h, steps, nil) != first {
			t.Fatal("one run has two reports")
		}
	}
}
