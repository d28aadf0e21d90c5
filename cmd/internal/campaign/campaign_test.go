package campaign

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The shards of a range have each of its seeds once, whatever their number.
func TestShardsHaveEverySeedOnce(t *testing.T) {
	for _, a := range []Asked{
		{First: 1, Last: 1, Shards: 1}, {First: 1, Last: 1, Shards: 3}, {First: 0, Last: 9, Shards: 4}, {First: 7, Last: 19, Shards: 13}, {First: 7, Last: 20, Shards: 13},
		{First: math.MaxUint64 - 9, Last: math.MaxUint64 - 1, Shards: 2}, {First: math.MaxUint64 - 9, Last: math.MaxUint64, Shards: 2},
	} {
		var seeds []uint64
		for shard := uint64(1); shard <= a.Shards; shard++ {
			for n := range a.Runs(shard) {
				seeds = append(seeds, a.Seed(shard, n))
			}
		}
		slices.Sort(seeds)
		for n, seed := range seeds {
			if seed != a.First+uint64(n) {
				t.Fatalf("%+v: seed %d is number %d", a, seed, n)
			}
		}
		if n := uint64(len(seeds)); n != min(a.Last, math.MaxUint64-1)-a.First+1 {
			t.Errorf("%+v: the shards have %d seeds", a, n)
		}
	}
	if a := (Asked{First: 5, Last: math.MaxUint64, Shards: 3}); a.Runs(2) != math.MaxUint64/3-2 || a.Seed(2, 10) != 36 || a.Seeds() != "5.." {
		t.Errorf("without an end: %d runs, the tenth is %d, seeds %s", a.Runs(2), a.Seed(2, 10), a.Seeds())
	}
}

// What is missing is said with the seeds, for each way in which a shard ends.
func TestMissing(t *testing.T) {
	bounded, open := Asked{First: 1, Last: 100, Shards: 4}, Asked{First: 1, Last: math.MaxUint64, Shards: 4}
	for _, tt := range []struct {
		asked  Asked
		shards []*Shard
		merged bool
		want   string
	}{
		{bounded, []*Shard{{Index: 2, Done: 25, Ended: Complete}}, false, ""},
		{bounded, []*Shard{{Index: 2, Done: 3, Ended: TimeUp}}, false, ""},
		{bounded, []*Shard{{Index: 2, Done: 24, Ended: AtFinding}}, false, "shard 2 of 4 stopped at a finding: 1 seed not run, from 98 to 100, one of every 4"},
		{bounded, []*Shard{{Index: 2, Done: 3}}, false, "shard 2 of 4 was killed, or still runs: 22 seeds not run, from 14 to 100, one of every 4"},
		{open, []*Shard{{Index: 2, Done: 3, Ended: Interrupted}}, false, "shard 2 of 4 was interrupted before seed 14"},
		{bounded, []*Shard{{Index: 2, Done: 25, Ended: Complete}}, true, "the shards 1 3 4 of 4 are missing"},
		{Asked{First: 1, Last: 2, Shards: 4}, []*Shard{{Index: 2, Done: 1, Ended: Complete}}, true, "shard 1 of 4 is missing: from 1 to 2, one of every 4"},
		{Asked{First: 1, Last: 9, Shards: 1}, []*Shard{{Index: 1, Done: 4, Ended: Failed}}, false, "the campaign failed: 5 seeds not run, from 5 to 9"},
	} {
		c := &Campaign{Asked: tt.asked, Shards: tt.shards, Merged: tt.merged}
		if got := strings.Join(c.Missing(), "; "); got != tt.want {
			t.Errorf("%+v %+v: %q, want %q", tt.asked, *tt.shards[0], got, tt.want)
		}
	}
}

// Only a campaign that has made all runs that it was asked for, or had the time it was given, passes.
func TestWhatIsCutShortIsNoPass(t *testing.T) {
	for ended, word := range map[string]string{Complete: "PASS", TimeUp: "PASS", Interrupted: "OPEN", Failed: "OPEN", "": "OPEN"} {
		c := New(Asked{Subject: "stack", First: 1, Last: 5, Shards: 1}, 1)
		c.Shards[0].Done, c.Shards[0].Ended = 3, ended
		if got := c.Verdict(); !strings.HasPrefix(got, word+"  3 runs, ") {
			t.Errorf("ended %q: %s, want %s", ended, got, word)
		}
	}
}

// A campaign whose time was up before its first run ended has checked nothing, unless there was nothing to run.
func TestNothingIsNoPass(t *testing.T) {
	for _, tt := range []struct {
		shard, done uint64
		want        string
	}{
		{2, 0, "OPEN  nothing was checked: it ended before the first run did"}, {2, 1, "PASS  1 run, 0 properties held after every step of each"},
		{7, 0, "PASS  0 runs: there are fewer seeds than shards"},
	} {
		c := New(Asked{Subject: "stack", First: 1, Last: 5, Shards: 7}, tt.shard)
		c.Shards[0].Done, c.Shards[0].Ended = tt.done, TimeUp
		var xml strings.Builder
		if err := c.WriteJUnit(&xml); err != nil {
			t.Fatal(err)
		}
		if c.Verdict() != tt.want || strings.Contains(xml.String(), `errors="1"`) != strings.HasPrefix(tt.want, "OPEN") {
			t.Errorf("%+v: %s\n%s", tt, c.Verdict(), xml.String())
		}
	}
}

// A state that this program has not written is refused, and never leads out of its folder.
func TestLoadRefuses(t *testing.T) {
	good := New(Asked{Subject: "stack", First: 1, Last: 9, Shards: 1}, 1)
	good.Findings = []*Finding{{Name: "P-1"}}
	for want, change := range map[string]func(map[string]any){
		"":                             func(map[string]any) {},
		"it is not the state of":       func(m map[string]any) { delete(m, "informersimCampaign") },
		"it has the format 7":          func(m map[string]any) { m["informersimCampaign"] = 7 },
		"it lacks what was asked for":  func(m map[string]any) { m["parts"] = []any{} },
		"it has a shard that cannot":   func(m map[string]any) { m["parts"] = []any{map[string]any{"index": 2}} },
		"it has a finding without a p": func(m map[string]any) { m["findings"] = []any{map[string]any{"name": "../x"}} },
		"it is not readable":           func(m map[string]any) { m["asked"] = 1 },
	} {
		data, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		change(m)
		if data, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = Load(dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, the error is %v", want, err)
		}
	}
}

// A finding replaces an earlier one of its name, and nothing else.
func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "found")
	l, x := Loose(dir), &Finding{Property: "P", Reason: "r"}
	x.SetName()
	for _, files := range []map[string][]byte{{"a": nil, "b/c": []byte("1")}, {"b/c": []byte("2")}} {
		if err := l.Keep(x, files); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(l.FindingPath(x), "b/c")); err != nil || string(data) != "2" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(l.FindingPath(x), "a")); err == nil {
		t.Error("a file of the earlier finding is left")
	}
	other := &Finding{Property: "Q"}
	other.SetName()
	if err := os.MkdirAll(l.FindingPath(other), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := l.Keep(other, nil); err == nil || !strings.Contains(err.Error(), "is there and not a finding's folder") {
		t.Errorf("a folder of someone else's: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

// A merge that ends halfway leaves its folder empty, and one that a kill has interrupted leaves nothing once the campaign goes on.
func TestNothingHalfIsLeft(t *testing.T) {
	dir := t.TempDir()
	shard, out := filepath.Join(dir, "shard"), filepath.Join(dir, "sum")
	asked := Asked{Subject: "stack", First: 1, Last: 20, Shards: 1}
	folder, err := Begin(shard)
	if err != nil {
		t.Fatal(err)
	}
	c := New(asked, 1)
	for seed, property := range []string{"P", "Q"} {
		x := &Finding{Property: property, Seed: uint64(seed)}
		c.Find(x)
		if err := folder.Keep(x, map[string][]byte{"a": nil}); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Save(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	last := folder.FindingPath(c.Findings[1])
	if err := os.Rename(last, last+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), []string{shard}, out); err == nil || !strings.Contains(err.Error(), "the files of the finding Q-") || !strings.Contains(err.Error(), "copy the folder of the campaign anew") {
		t.Fatalf("a finding is missing: %v", err)
	}
	if err := os.Rename(last+"-away", last); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), []string{shard}, out); err != nil {
		t.Errorf("the second time: %v", err)
	}
	halves := []string{filepath.Join(shard, findings, ".informersim-1"), filepath.Join(shard, ".informersim-2")}
	young := filepath.Join(shard, ".informersim-3") // somebody else's who still runs
	before := time.Now().Add(-2 * settled)
	for _, half := range append(halves, young) {
		if err := os.MkdirAll(filepath.Join(half, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if half == young {
			continue
		}
		if err := os.Chtimes(half, before, before); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := Resume(shard, asked, 1); err != nil {
		t.Fatal(err)
	}
	for _, half := range halves {
		if _, err := os.Stat(half); err == nil {
			t.Errorf("%s is left", half)
		}
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("what is still being written is gone: %v", err)
	}
}

// Of equal findings of two shards the lowest seed stands for both, with its files.
func TestMergeTakesTheLowestSeed(t *testing.T) {
	dir := t.TempDir()
	asked := Asked{Subject: "stack", First: 1, Last: 20, Shards: 2}
	var dirs []string
	for shard, seed := range map[uint64]uint64{1: 15, 2: 4} {
		c := New(asked, shard)
		c.Shards[0].Done, c.Shards[0].Ended, c.Shards[0].Failing = 10, Complete, 2
		x := &Finding{Property: "P", Shape: "delete", Seed: seed}
		c.Find(x)
		c.Count(x, seed+2)
		at := filepath.Join(dir, "shard", string(rune('0'+shard)))
		folder, err := Begin(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := folder.Keep(x, map[string][]byte{"seed": []byte{byte(seed)}}); err != nil {
			t.Fatal(err)
		}
		if err := folder.Save(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, at)
	}
	out := filepath.Join(dir, "sum")
	c, err := Merge(context.Background(), dirs, out)
	if err != nil {
		t.Fatal(err)
	}
	x := c.Findings[0]
	if len(c.Findings) != 1 || x.Seed != 4 || x.Count != 4 || !slices.Equal(x.Seeds, []uint64{4, 6, 15, 17}) {
		t.Errorf("the findings are %+v", x)
	}
	if data, err := os.ReadFile(filepath.Join((&Folder{out}).FindingPath(x), "seed")); err != nil || !slices.Equal(data, []byte{4}) {
		t.Errorf("its files are those of %v: %v", data, err)
	}
}

// Two defects whose runs look the same are two findings if they break the property in different ways. Names and what else a message says do not count.
func TestNamesTellDefectsApart(t *testing.T) {
	named := func(reason string) string {
		f := Finding{Property: "HandlerGrammar", Reason: "HandlerGrammar: " + reason, Shape: "delete"}
		f.SetName()
		return f.Name
	}
	add := named("handler iN/hN was notified of an add of KEY, but already has it at rv=N")
	if again := named("handler iN/cN was notified of an add of other/a, but has it at rv=N, too"); again != add {
		t.Errorf("%s and %s are one finding", add, again)
	}
	if update := named("handler iN/hN was notified of an update of KEY to an object with another uid (ID, was ID)"); update == add {
		t.Errorf("%s is the name of two findings", add)
	}
}

// A defect that shows often does not hide one that breaks runs for the same reason and is rare: some of its runs are shrunk for ever.
func TestKnownLooksAgain(t *testing.T) {
	c := New(Asked{First: 1, Last: 1000, Shards: 1}, 1)
	shrunk := []uint64{}
	for seed := uint64(1); seed <= 100; seed++ {
		if known := c.Known("P: why"); known != nil {
			c.Count(known, seed)
			continue
		}
		shrunk = append(shrunk, seed)
		c.Find(&Finding{Property: "P", Reason: "P: why", Shape: "delete", Seed: seed})
	}
	if want := []uint64{1, 2, 3, 4, 6, 10, 18, 34, 66}; !slices.Equal(shrunk, want) || c.Findings[0].Count != 100 {
		t.Errorf("the seeds %v were shrunk, want %v; %d were counted", shrunk, want, c.Findings[0].Count)
	}
	if c.Find(&Finding{Property: "P", Reason: "P: why", Shape: "update", Seed: 129}); len(c.Findings) != 2 || c.Known("P: why") != nil {
		t.Errorf("a new shape makes %d findings, and others are looked for: %t", len(c.Findings), c.Known("P: why") == nil)
	}
}

// What is another program is named: it may be the same informersim with another client-go.
func TestOtherBuildsAreNamed(t *testing.T) {
	asked := func(client, language, program string) *Asked {
		build := map[string]string{"informersim": "devel", "client-go": client}
		if language != "" {
			build["go"] = language
		}
		return &Asked{Build: build, Program: program}
	}
	one := asked("in here, build 1", "go1", "x")
	for want, other := range map[string]*Asked{
		"": asked("in here, build 1", "go1", "x"),
		"another build of informersim: devel (program x), not devel (program y)": asked("in here, build 1", "go1", "y"),
		"another client-go: in here, build 1, not in here, build 2":              asked("in here, build 2", "go1", "x"),
		"another go: go1, not go2":     asked("in here, build 1", "go2", "x"),
		"another go: go1, not unknown": asked("in here, build 1", "", "x"),
	} {
		if got := one.differs(other); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := asked("c", "", "x").differs(asked("c", "go1", "x")); got != "an unknown build of informersim" {
		t.Errorf("%q", got)
	}
}
