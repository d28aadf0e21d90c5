package html_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var screenshot = flag.String("screenshot", "", "write the README's picture of a report to this `file`")

// A report in a browser: it begins at the violation, keys and links move the cursor, and nothing goes wrong.
func TestBrowser(t *testing.T) {
	b := startChromium(t)
	b.open(rendered(t, gapTrace(t)), 1280, 900, "light")
	at := func(want, after string) {
		t.Helper()
		if got := b.eval("document.documentElement.dataset.step"); got != want {
			t.Errorf("after %s the cursor is at step %s, want %s", after, got, want)
		}
		row := `document.getElementById(document.getElementById("scroll").getAttribute("aria-activedescendant"))`
		if got := b.eval(row + `.getAttribute("aria-selected") + " " + ` + row + `.textContent`); !strings.HasPrefix(got, "true "+want) {
			t.Errorf("after %s the active row is %q, want a selected one of step %s", after, got, want)
		}
	}
	at("25", "opening")
	if got := b.eval(`document.getElementById("now").textContent`); got != "Step 25, 1.413s: the violation" {
		t.Errorf("the panel says %q", got)
	}
	if got := b.eval(`document.getElementById("state").textContent`); !strings.Contains(got, "pods default/b rv=2 (ADDED)") {
		t.Errorf("the state is %q; the queue should still have default/b", got)
	}
	b.eval(`document.getElementById("scroll").focus()`)
	b.press("ArrowUp", "ArrowUp")
	at("23", "two steps back")
	b.press("ArrowDown")
	at("24", "one forward")
	b.press("Home")
	at("1", "Home")
	b.press("v")
	at("25", "v")
	b.press("Home", "j", "j", "k")
	at("2", "j j k")
	b.eval(`document.getElementById("jump").click()`)
	at("25", "the button Violation")
	b.eval(`document.getElementById("prev").click()`)
	at("24", "the button Previous")
	b.eval(`document.querySelector(".chain a[data-step='16']").click()`)
	at("16", "a link of the evidence")
	if got := b.eval(`document.querySelectorAll("#sheet svg .lost").length`); got != "1" {
		t.Errorf("%s lost arrows are drawn, want that of the deletion", got)
	}
	b.press("-")
	b.press("+", "+")
	at("16", "zooming")
	b.clean()
	for _, scheme := range []string{"light", "dark"} {
		b.open(rendered(t, gapTrace(t)), 390, 844, scheme)
		if got := b.eval("document.documentElement.scrollWidth"); got != "390" {
			t.Errorf("at 390 pixels, %s, the page is %s wide", scheme, got)
		}
	}
	b.clean()
	if *screenshot != "" {
		b.open(rendered(t, gapTrace(t)), 1200, 1520, "light")
		b.screenshot(*screenshot, 1200, 1520)
	}
}

// Names in a trace stay text in the browser, too.
func TestBrowserHostileNames(t *testing.T) {
	b := startChromium(t)
	for _, name := range hostile {
		h, steps, end := long(60, name)
		b.open(render(t, h, steps, end), 1280, 900, "light")
		if got := b.eval(`document.images.length + " " + document.querySelectorAll("[onerror],[onload],[onmouseover]").length + " " + document.scripts.length`); got != "0 0 2" {
			t.Errorf("%q: images, handlers and scripts are %s, want 0 0 2", name, got)
		}
		b.eval(`document.getElementById("scroll").focus()`)
		b.press("ArrowUp", "ArrowUp", "ArrowUp", "v")
		b.clean()
	}
	h, steps, end := long(60, hostile[0])
	b.open(render(t, h, steps, end), 1280, 900, "light")
	if got := b.eval("document.querySelector('h1').textContent"); got != hostile[0]+" is wrong" {
		t.Errorf("the verdict is %q", got)
	}
	if got := b.eval("document.getElementById('panel').textContent"); !strings.Contains(got, hostile[0]) {
		t.Errorf("the panel is %q, want the name in it", got)
	}
}

// A run of 100,000 steps opens, and steps. How long it takes is reported.
func TestBrowserLongRun(t *testing.T) {
	const steps = 100_000
	b := startChromium(t)
	h, all, end := long(steps, "x")
	page := render(t, h, all, end)
	b.open(page, 1280, 900, "light")
	t.Logf("a report of %d steps, %d bytes, was ready %sms after it began to load", steps, len(page), b.eval("Math.round(performance.now())"))
	if got, want := b.eval("document.documentElement.dataset.step"), fmt.Sprint(steps-10); got != want {
		t.Errorf("it begins at step %s, want the violation's %s", got, want)
	}
	b.eval(`(document.getElementById("focus").value = "all", document.getElementById("focus").dispatchEvent(new Event("change")), document.getElementById("scroll").focus())`)
	b.press("Home")
	if got := b.eval("document.documentElement.dataset.step"); got != "1" {
		t.Errorf("Home leads to step %s", got)
	}
	if got := b.eval(`document.querySelectorAll("#sheet .row").length`); len(got) > 2 {
		t.Errorf("%s rows are drawn; only those in view should be", got)
	}
	b.clean()
}
