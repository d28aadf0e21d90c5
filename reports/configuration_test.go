package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
)

// A verdict names the configuration of each informer, those with the same one together, and no more than can be read.
func TestConfigurationsInText(t *testing.T) {
	text := func(all ...reports.Configuration) []string {
		var b strings.Builder
		if err := reports.WriteText(&b, reports.Report{Run: &reports.Run{Informers: all}}); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "informer") || strings.HasPrefix(line, "and ") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	of := func(name string, page int64) reports.Configuration {
		return reports.Configuration{Informer: name, Queue: "delta", Page: page}
	}
	var same, different []reports.Configuration
	for n := range 9 {
		same = append(same, of(fmt.Sprintf("i%d", n), 0))
		different = append(different, of(fmt.Sprintf("i%d", n), int64(n)))
	}
	const plain = "queue=delta watch-list=off page=0 resync=0s"
	for _, test := range []struct {
		all  []reports.Configuration
		want []string
	}{
		{nil, nil},
		{
			[]reports.Configuration{of("a", 0), {Informer: "b", Queue: "atomic", WatchList: true, Page: 2, Resync: 90 * time.Second, Replica: "choice"}, of("c", 0)},
			[]string{"informers a, c: " + plain, "informer b: queue=atomic watch-list=on page=2 resync=1m30s replica=choice"},
		},
		{same, []string{"informers i0, i1, i2, i3, 5 more: " + plain}},
		{different[:6], []string{
			"informer i0: " + plain, "informer i1: queue=delta watch-list=off page=1 resync=0s", "informer i2: queue=delta watch-list=off page=2 resync=0s",
			"informer i3: queue=delta watch-list=off page=3 resync=0s", "informer i4: queue=delta watch-list=off page=4 resync=0s", "informer i5: queue=delta watch-list=off page=5 resync=0s",
		}},
	} {
		if got := text(test.all...); !slices.Equal(got, test.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
	if got := text(different...); len(got) != 6 || got[5] != "and 4 more informers" {
		t.Errorf("of nine it tells\n%s", strings.Join(got, "\n"))
	}
}

// A summary has the configurations and the time in which the run converged.
func TestConfigurationsInJSON(t *testing.T) {
	all := []reports.Configuration{
		{Informer: "i1", Queue: "inorder", WatchList: true, Page: 500, Resync: time.Minute, Replica: "1"}, {Informer: "i2", Queue: "delta"},
	}
	var b bytes.Buffer
	if err := reports.WriteJSON(&b, reports.Report{Run: &reports.Run{Informers: all, Virtual: time.Hour, Converging: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"informers":[{"informer":"i1","queue":"inorder","watchList":true,"page":500,"resyncNs":60000000000,"replica":"1"},{"informer":"i2","queue":"delta","watchList":false,"page":0,"resyncNs":0}]`,
		`"virtualNs":3600000000000,"convergingNs":60000000000,`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s lacks %s", &b, want)
		}
	}
	var s reports.Summary
	if err := json.Unmarshal(b.Bytes(), &s); err != nil || !slices.Equal(s.Informers, all) || s.ConvergingNs != int64(time.Minute) {
		t.Errorf("%v: %+v", err, s)
	}
}

// Searches of several seeds say together what one says: how many runs there were, within which bounds, and that some were too long for them.
func TestEnsembleOfSearches(t *testing.T) {
	var e reports.Ensemble
	for n := 1; n <= 2; n++ {
		e.Add(&reports.Run{Steps: 10, Hash: uint64(n), Search: &reports.Search{States: 100 * n, Runs: 10 * n, Cut: n, Steps: 500, Delays: 2, Early: 1, Depth: 50, Finished: n > 1}})
	}
	var b strings.Builder
	if err := e.WriteText(&b, time.Second); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nPASS  2 searches, 0 properties held after every step of every run\n      1000 steps · ",
		"      exhaustive: not every run with at most 0 faults and 2 delays, time passing early at most 1 time: those of more than 50 steps were not branched after these\n" +
			"      300 states in 30 runs to the end and 3 that came to a known state\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// An ensemble says over which configurations it went, and how much of its virtual time was spent to converge.
func TestEnsembleText(t *testing.T) {
	e := reports.Ensemble{Scenario: "s", Subject: "stack", First: 1, Last: 3}
	text := func() string {
		var b strings.Builder
		if err := e.WriteText(&b, time.Second); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := text(); strings.Contains(got, "informers") || strings.Contains(got, "converge") {
		t.Errorf("of no runs it says\n%s", got)
	}
	for n, c := range []reports.Configuration{
		{Queue: "atomic", Page: 500, Resync: 2 * time.Minute, Replica: "0"},
		{Queue: "delta", WatchList: true, Page: 2, Resync: 30 * time.Second, Replica: "choice"},
		{Queue: "atomic", Page: 0, Replica: "0"},
	} {
		e.Add(&reports.Run{Steps: 10, Virtual: 20 * time.Minute, Converging: time.Duration(n) * time.Minute, Hash: uint64(n), Informers: []reports.Configuration{c}})
	}
	for _, want := range []string{
		"      30 steps · 1h0m0s of virtual time, 3m0s of it to converge · 0 faults injected · 3 distinct runs\n",
		"      informers: queue delta ×1 atomic ×2 · watch-list off ×2 on ×1 · page 0 ×1 2 ×1 500 ×1 · resync 0s ×1 30s ×1 2m0s ×1 · replica choice ×1 0 ×2\n",
	} {
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
