package html_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
)

func ensemble(name string) *html.Ensemble {
	e := &html.Ensemble{
		Title: "fuzz · " + name, Verdict: "FAIL  2 findings in 9 runs, of which 3 fail", Missing: []string{name}, Undecided: []string{name}, Properties: []string{"P", name},
		Runs: 9, Steps: 100, Virtual: time.Hour, Faults: map[string]int{"watch-410": 3, name: 1}, Kinds: []string{"watch-410", "list-500", "compact"}, Build: name, Took: time.Second,
		Findings: []html.Finding{
			{Property: "P", Reason: "P: r", Message: name, Seed: 4, RunsTo: 4, Count: 2, Size: "3 commands", Again: []string{"informersim run " + name}, Link: "javascript:alert(1)"},
			{Property: "P", Reason: "P: r", Message: "m", Seed: 7, RunsTo: 7, Count: 1},
			{Property: name, Reason: "Q: r", Message: "m", Seed: 8, RunsTo: 8, Count: 1},
		},
	}
	for range 3 {
		e.Coverage.Meet("watch-410", reports.StateWatches)
	}
	e.Coverage.Meet(name, reports.StateLists)
	e.Coverage.Pair("watch-410", name)
	return e
}

func renderEnsemble(t *testing.T, e *html.Ensemble) string {
	t.Helper()
	page, err := html.RenderEnsemble(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The page about many runs has what they found by cause, and what met what; only its last section depends on the machine; names stay text.
func TestEnsemble(t *testing.T) {
	e := ensemble("crash")
	page := renderEnsemble(t, e)
	for _, want := range []string{
		"2 findings in 9 runs, of which 3 fail</h1>", "<h3>P</h3>", "<td>4</td><td>4</td><td>2</td><td>3 commands</td>", `<th scope="row">watch-410</th>`, `class="l6">3<`, `class="l0">·<`,
		"Never: compact, list-500.", "2 of 4 combinations were seen.", "1 of 1 combinations were seen.", html.Generator, "4, of 2 kinds of 3", "<dd>9</dd></div><div><dt>steps",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Count(page, "<h3>P</h3>") != 1 {
		t.Error("findings of one cause do not stand together")
	}
	for _, bad := range []string{"http://", "https://", " src=", "<link", "@import", "url(", "<script", `href="javascript`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q: it must load nothing and run nothing", bad)
		}
	}
	const measured = `<section aria-labelledby="measured">`
	e.Took *= 7
	other := renderEnsemble(t, e)
	a, x, _ := strings.Cut(page, measured)
	b, y, _ := strings.Cut(other, measured)
	if a != b || x == y {
		t.Error("the time that it took is not where it belongs")
	}
	if again := renderEnsemble(t, e); again != other {
		t.Error("two pages of the same runs differ")
	}
	if expected := renderEnsemble(t, &html.Ensemble{Verdict: "PASS  9 runs", Runs: 9, Properties: []string{"A", "B", "C"}, Expected: []string{"B"}}); !strings.Contains(
		expected, "None: 2 properties held after every step of 9 runs, and B broke where the scenario expects it.") {
		t.Errorf("the page says that what broke as expected held:\n%s", expected)
	}
	if pass := renderEnsemble(t, &html.Ensemble{Verdict: "PASS  9 runs", Runs: 9}); !strings.Contains(pass, `class="verdict pass"`) || !strings.Contains(pass, "None: 0 properties held after every step of 9 runs.") {
		t.Error("the page of runs that pass does not say so")
	}
	for _, name := range hostile {
		text := renderEnsemble(t, ensemble(name))
		if body := strings.ToLower(text); strings.Contains(body, "<img") || strings.Contains(body, "<script") || strings.Contains(body, "<svg") || !bytes.Contains([]byte(text), []byte("</html>")) {
			t.Errorf("%q is not escaped", name)
		}
	}
	big := ensemble("x")
	for n := range 5000 {
		big.Findings = append(big.Findings, html.Finding{Property: fmt.Sprint("P", n), Reason: strings.Repeat("r", 1000), Message: strings.Repeat("m", 1000), Again: []string{strings.Repeat("c", 1000)}})
		big.Coverage.Meet(fmt.Sprint("fault-", n), reports.StateLists)
		big.Coverage.Pair(fmt.Sprint("fault-", n), fmt.Sprint("fault-", n+1))
	}
	if text := renderEnsemble(t, big); len(text) > html.MaxBytes || !strings.Contains(text, "The first 200 of 5003 findings.") {
		t.Errorf("a page of %d bytes", len(text))
	}
}

// It fits a phone, in both color schemes, and the browser has nothing to say of it.
func TestBrowserEnsemble(t *testing.T) {
	b := startChromium(t)
	for _, scheme := range []string{"light", "dark"} {
		b.open(renderEnsemble(t, ensemble("watch-close")), 390, 844, scheme)
		if got := b.eval("String(document.documentElement.scrollWidth)"); got != "390" {
			t.Errorf("at 390 pixels, %s, the page is %s wide", scheme, got)
		}
		if got := b.eval("String(document.querySelectorAll('.scrolls[tabindex=\"0\"]').length)"); got != "4" {
			t.Errorf("%s tables can be reached by keyboard, want 4", got)
		}
	}
	b.clean()
}
