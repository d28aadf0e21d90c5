package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/subjects"
)

// flawed is a stack with a defect, and flawedElsewhere the same one in processes of its own.
func flawed() subjects.Kind {
	for _, m := range mutants.All() {
		if m.Name == "replace-without-tombstones" {
			k := m.Kind
			k.Name = "flawed"
			return k
		}
	}
	panic("there is no mutant replace-without-tombstones")
}

func flawedElsewhere() subjects.Kind {
	k := flawed()
	k.Name = "flawed-elsewhere"
	k.Host = func(_ uint64, run func()) error { run(); return nil }
	return k
}

// withFlawed makes both known, here and in child processes.
func withFlawed(t *testing.T) {
	t.Helper()
	t.Setenv(asCommand, "flawed")
	withSubject(t, flawed())
	withSubject(t, flawedElsewhere())
}

func campaignIn(t *testing.T, dir string) *campaign.Campaign {
	t.Helper()
	c, err := campaign.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameBut compares what two campaigns have done and found, and not how long it took.
func sameBut(t *testing.T, what string, got, want *campaign.Campaign) {
	t.Helper()
	say := func(c *campaign.Campaign) string {
		for _, s := range c.Shards {
			s.Took = 0
		}
		for _, f := range c.Findings {
			f.Notes = slices.DeleteFunc(f.Notes, func(note string) bool { return strings.Contains(note, errTwinLate.Error()) }) // a busy machine's
		}
		data, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if g, w := say(got), say(want); g != w {
		t.Errorf("%s: it is\n%s\nwant\n%s", what, g, w)
	}
}

// The page about all runs is that of fuzz --report and of report DIR, but for the links; it replaces nothing but such a page.
func TestFuzzReport(t *testing.T) {
	oneGoroutine(t)
	inTemp(t, nil)
	withFlawed(t)
	got := command(t, "fuzz", "--seeds", "1..40", "--keep-going", "--subject", "flawed", "--shrink", "1s", "--out", "all", "--report", "all.html")
	if got.code != exitBroken {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	own := command(t, "report", "all")
	if path := filepath.Join("all", "report.html"); own.code != exitOK || own.stdout != path+"\n" {
		t.Fatalf("exit code %d: %s%s", own.code, own.stdout, own.stderr)
	}
	c := campaignIn(t, "all")
	one, two := readFile(t, "all.html"), readFile(t, filepath.Join("all", "report.html"))
	link := "findings/" + c.Findings[0].Name + "/report.html"
	if !strings.Contains(one, `href="all/`+link+`"`) || !strings.Contains(two, `href="`+link+`"`) || strings.ReplaceAll(one, "all/findings", "findings") != two {
		t.Error("the two pages differ, or do not link the findings' reports")
	}
	if len(c.Shards[0].Coverage.Meets) == 0 || !strings.Contains(one, `<th scope="row">watch-410</th>`) || !strings.Contains(one, "<h3>ReplaceDeletesMissing</h3>") {
		t.Errorf("the page lacks what happened; the counts are %+v", c.Shards[0].Coverage)
	}
	if err := os.WriteFile("notes.txt", []byte("notes"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"fuzz", "--seeds", "1", "--report", "notes.txt"}, {"fuzz", "--seeds", "1", "--report", ""}, {"report", "all", "-o", "notes.txt"}, {"report", "."}, {"report", "all", "--format", "perfetto"},
	} {
		if got := command(t, args...); got.code != exitBadInput || readFile(t, "notes.txt") != "notes" {
			t.Errorf("%q: exit code %d\n%s", args, got.code, got.stderr)
		}
	}
}

// The first finding ends the command. It is shrunk and kept in a folder, from which the commands of its README show it again.
func TestFuzzFindsAndKeeps(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	for _, subject := range []string{"flawed", "flawed-elsewhere"} {
		got := command(t, "fuzz", "--seeds", "1..3000", "--subject", subject, "--out", subject)
		if got.code != exitBroken {
			t.Fatalf("%s: exit code %d: %s%s", subject, got.code, got.stdout, got.stderr)
		}
		c := campaignIn(t, subject)
		if len(c.Findings) != 1 || c.Shards[0].Ended != campaign.AtFinding || c.Shards[0].Failing != 1 {
			t.Fatalf("%s: the campaign is %+v", subject, c)
		}
		x := c.Findings[0]
		dir := filepath.Join(subject, "findings", x.Name)
		for _, want := range []string{"ReplaceDeletesMissing-", "FAIL  ReplaceDeletesMissing", "in the folder " + dir, "FAIL  1 finding in"} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s: %q is missing in\n%s", subject, want, got.stdout)
			}
		}
		if !x.Complete || len(x.Again) < 2 || len(x.Notes) > 0 {
			t.Errorf("%s: the finding is %+v", subject, x)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		if page := readFile(t, "report.html"); !strings.Contains(page, "breaks ReplaceDeletesMissing at step ") || !strings.Contains(page, "it was shrunk from") {
			t.Errorf("%s: the report does not say what broke, or that it was shrunk", subject)
		}
		for _, again := range x.Again {
			if !strings.Contains(string(readme), again) {
				t.Errorf("%s: the README lacks %q:\n%s", subject, again, readme)
			}
			shown := command(t, strings.Fields(again)[1:]...)
			if shown.code != exitBroken || !strings.Contains(shown.stdout, "FAIL  ReplaceDeletesMissing") {
				t.Errorf("%s: %s has exit code %d: %s%s", subject, again, shown.code, shown.stdout, shown.stderr)
			}
		}
		t.Chdir("../../..")
	}
	if a, b := campaignIn(t, "flawed"), campaignIn(t, "flawed-elsewhere"); a.Findings[0].Name != b.Findings[0].Name || a.Findings[0].Seed != b.Findings[0].Seed {
		t.Errorf("in processes of its own the stack has the finding %+v, and here %+v", b.Findings[0], a.Findings[0])
	}
}

// seeds is how many seeds a campaign with several findings has: fewer with -short, since the race detector makes each several times as long.
func seeds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// keepGoing are the arguments of such a campaign, and more of them.
func keepGoing(seeds int, more ...string) []string {
	return append([]string{"fuzz", "--subject", "flawed", "--keep-going", "--seeds", fmt.Sprintf("1..%d", seeds)}, more...)
}

// An interrupted campaign that is resumed ends as one that was never interrupted, also where Ctrl-C comes during a search.
func TestFuzzResumes(t *testing.T) {
	for _, shrink := range []string{"1m", "0"} {
		t.Run("shrink "+shrink, func(t *testing.T) { resumes(t, shrink) })
		if testing.Short() {
			break // what comes next is the same with less in it
		}
	}
}

func resumes(t *testing.T, shrink string) {
	inTemp(t, nil)
	withFlawed(t)
	args := keepGoing(seeds(20), "--shrink", shrink)
	if got := command(t, append(slices.Clone(args), "--out", "whole")...); got.code != exitBroken {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	var last outcome
	times := 0
	for ended := ""; ended != campaign.Complete; times++ {
		ctx, cancel := context.WithCancel(t.Context())
		if times < 10 {
			time.AfterFunc(40*time.Millisecond, cancel)
		}
		last = commandIn(ctx, append(slices.Clone(args), "--out", "parts", "--resume", "--workers", "3")...)
		cancel()
		ended = campaignIn(t, "parts").Shards[0].Ended
	}
	t.Logf("it took %d times", times)
	if last.code != exitBroken {
		t.Errorf("at last the exit code is %d: %s", last.code, last.stderr)
	}
	parts := campaignIn(t, "parts")
	sameBut(t, "resumed", parts, campaignIn(t, "whole"))
	kept, err := filepath.Glob("parts/findings/*")
	if err != nil || len(kept) != len(parts.Findings) {
		t.Errorf("%v: of %d findings there are the folders %v", err, len(parts.Findings), kept)
	}
}

// What is gone of a finding is made anew by a campaign that goes on, and missed by merge: the seed is done, so nothing else would show it.
func TestFuzzFindsAgainWhatIsGone(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	args := keepGoing(seeds(40), "--out", "out", "--resume")
	if got := command(t, args...); got.code != exitBroken {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	before := campaignIn(t, "out")
	if len(before.Findings) < 2 {
		t.Fatalf("there are %d findings", len(before.Findings))
	}
	first := filepath.Join("out/findings", before.Findings[0].Name)
	trace := filepath.Join("out/findings", before.Findings[1].Name, traceFile)
	was, err := os.ReadFile(trace)
	if err := errors.Join(err, os.RemoveAll(first), os.Remove(trace)); err != nil {
		t.Fatal(err)
	}
	if got := command(t, "merge", "out", "--out", "sum"); got.code != exitBadInput || !strings.Contains(got.stderr, "the files of the finding "+before.Findings[0].Name) {
		t.Errorf("merge has exit code %d: %s", got.code, got.stderr)
	}
	got := command(t, args...)
	if got.code != exitBroken || strings.Count(got.stderr, "are gone or cut short; making the run of seed ") != 2 {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	sameBut(t, "what goes on", campaignIn(t, "out"), before)
	if _, err := os.Stat(filepath.Join(first, scenarioFile)); err != nil {
		t.Error(err)
	}
	if is, err := os.ReadFile(trace); err != nil || !bytes.Equal(is, was) {
		t.Errorf("%v: the trace has %d bytes, and had %d", err, len(is), len(was))
	}
	if got := command(t, args...); strings.Contains(got.stderr, "gone") {
		t.Errorf("something is still gone: %s", got.stderr)
	}
	if err := os.WriteFile(trace, was[:len(was)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if got, want := command(t, "merge", "out", "--out", "sum"), fmt.Sprintf("%s was cut short: it has %d of %d bytes", trace, len(was)/2, len(was)); got.code != exitBadInput || !strings.Contains(got.stderr, want) {
		t.Errorf("merge of half a trace has exit code %d: %s", got.code, got.stderr)
	}
	if got := command(t, args...); got.code != exitBroken || strings.Count(got.stderr, "are gone or cut short; making the run of seed ") != 1 {
		t.Errorf("half a trace: exit code %d: %s", got.code, got.stderr)
	}
	if got := command(t, "merge", "out", "--out", "sum"); got.code != exitBroken {
		t.Errorf("merge has exit code %d: %s", got.code, got.stderr)
	}
}

// While one process writes to a folder, no other one does; it goes on when that has ended.
func TestFuzzHasItsFolderAlone(t *testing.T) {
	inTemp(t, nil)
	before := outPatience
	t.Cleanup(func() { outPatience = before })
	outPatience = 50 * time.Millisecond
	args := []string{"fuzz", "--seeds", "1..3", "--out", "out", "--resume"}
	if got := command(t, args...); got.code != exitOK {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	release, err := launcher.LockFolder(t.Context(), "out")
	if err != nil {
		t.Fatal(err)
	}
	if got := command(t, args...); got.code != exitBadInput || got.stderr != "error: --out: another informersim fuzz writes to out; wait for its end, or name another folder\n" {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
	release()
	if got := command(t, args...); got.code != exitOK {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// What shards find, merged, is what one machine finds.
func TestFuzzShards(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	n := seeds(48)
	if got := command(t, keepGoing(n, "--out", "whole")...); got.code != exitBroken {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	whole := campaignIn(t, "whole")
	if whole.Shards[0].Failing < 5 || uint64(len(whole.Findings)) >= whole.Shards[0].Failing {
		t.Fatalf("%d runs fail and make %d findings: nothing is tested", whole.Shards[0].Failing, len(whole.Findings))
	}

	for _, shard := range []string{"1/3", "2/3", "3/3"} {
		if got := command(t, keepGoing(n, "--shard", shard, "--out", "shard"+shard[:1])...); got.code != exitBroken {
			t.Errorf("shard %s: exit code %d: %s", shard, got.code, got.stderr)
		}
	}
	got := command(t, "merge", "shard1", "shard2", "shard3", "--out", "sum", "--junit", "sum.xml")
	if got.code != exitBroken {
		t.Errorf("merge: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	sum := campaignIn(t, "sum")
	st, wt := sum.Total(), whole.Total()
	if st.Done != wt.Done || st.Failing != wt.Failing || st.Steps != wt.Steps || st.Virtual != wt.Virtual {
		t.Errorf("the shards have done %+v together, one machine %+v", st, wt)
	}
	if len(sum.Missing()) > 0 {
		t.Errorf("it says that something is missing: %v", sum.Missing())
	}
	for _, x := range sum.Findings {
		if _, err := os.Stat(filepath.Join("sum/findings", x.Name, "README.md")); err != nil {
			t.Error(err)
		}
	}
	if got := command(t, "merge", "shard3", "shard1", "--out", "two"); got.code != exitBroken ||
		!strings.Contains(got.stdout, fmt.Sprintf("shard 2 of 3 is missing: from 2 to %d, one of every 3", n)) {
		t.Errorf("merge of two: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// A shard that is missing, or not done, makes a campaign without findings undecided.
func TestMergeNamesWhatIsMissing(t *testing.T) {
	inTemp(t, nil)
	for _, shard := range []string{"1/3", "2/3"} {
		if got := command(t, "fuzz", "--seeds", "30", "--shard", shard, "--out", shard[:1]); got.code != exitOK {
			t.Fatalf("shard %s: exit code %d: %s%s", shard, got.code, got.stdout, got.stderr)
		}
	}
	got := command(t, "merge", "1", "2", "--out", "sum")
	if got.code != exitUndecided || !strings.Contains(got.stdout, "OPEN  20 runs") || !strings.Contains(got.stdout, "shard 3 of 3 is missing: from 3 to 30, one of every 3") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	t.Setenv(jobIndex, "2")
	got = command(t, "fuzz", "--seeds", "30", "--shard", "job/3", "--out", "3", "--for", "1ns")
	nothing := strings.Contains(got.stdout, "OPEN  nothing was checked") // unless a run is faster than that
	if !strings.Contains(got.stdout, "shard 3 of 3") || nothing != (got.code == exitUndecided) || !nothing && got.code != exitOK {
		t.Errorf("shard job/3: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "fuzz", "--seeds", "2", "--shard", "3/3"); got.code != exitOK || !strings.Contains(got.stdout, "PASS  0 runs: there are fewer seeds than shards") {
		t.Errorf("a shard without seeds: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "merge", "1", "2", "3", "--out", "all"); got.code != exitOK {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	for _, refused := range []struct{ args, want string }{
		{"merge 1 2 --out sum", "error: --out: sum is not empty"},
		{"merge 1 1 --out x", "error: 1 and 1 both hold shard 1 of 3; leave one of them out"},
		{"merge sum 1 --out x", "error: sum holds shards that are merged already"},
		{"merge . --out x", "error: .: there is no campaign in it"},
		{"merge nowhere --out x", "error: nowhere: there is no such folder, so there is no campaign in it; check the path"},
		{"merge 1", "error: merge needs --out"},
		{"merge", "error: merge was given 0 arguments; usage: informersim merge DIR... --out DIR"},
	} {
		if got := command(t, strings.Fields(refused.args)...); got.code != exitBadInput || !strings.Contains(got.stderr, refused.want) {
			t.Errorf("%s: exit code %d: %s", refused.args, got.code, got.stderr)
		}
	}
}

// Files are a corpus: each seed plays one of them, and any order of them.
func TestFuzzPlaysFiles(t *testing.T) {
	inTemp(t, map[string]string{"one.sim": small, "two.sim": small, "fails.sim": small + "\ndelete pods default/b\n"})
	got := command(t, "fuzz", "one.sim", "two.sim", "--seeds", "40", "--out", "out", "--json")
	if got.code != exitOK || !strings.Contains(got.stdout, `"verdict":"pass"`) {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if c := campaignIn(t, "out"); len(c.Asked.Corpus) != 2 || c.Shards[0].Done != 40 {
		t.Errorf("the campaign is %+v", c)
	}
	if got := command(t, "fuzz", "one.sim", "fails.sim", "--seeds", "40"); got.code != exitBadInput || !strings.Contains(got.stderr, `fails.sim:9:1: delete pods default/b: pods "b" not found`) {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// Flags that cannot be meant, and folders that are not the campaign's, are refused before any run.
func TestFuzzRefuses(t *testing.T) {
	inTemp(t, map[string]string{"good.sim": small, "other.sim": small + "\n# more\n", "full/x": "", "file": "x", "notes.txt": "mine"})
	if got := command(t, "fuzz", "--seeds", "1..10", "--out", "done"); got.code != exitOK {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "fuzz", "good.sim", "--seeds", "1..10", "--out", "corpus"); got.code != exitOK {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if err := os.MkdirAll("broken", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("broken/campaign.json", []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"--seeds x", `--seeds "x": write a number like 1000`},
		{"--seeds 0", "--seeds must be at least 1"},
		{"--seeds 9..5", "--seeds 9..5 is an empty range"},
		{"--seeds 18446744073709551615..", `--seeds "18446744073709551615..": write a number like 1000`},
		{"--seeds", "flag needs an argument: --seeds"},
		{"--for -1s", "--for -1s is negative"},
		{"--shrink -1s", "--shrink -1s is negative"},
		{"--workers 0", "--workers 0: at least 1 run"},
		{"--timeout -1s", "--timeout -1s is negative"},
		{"--shard 3", `--shard "3": write the part and the number of parts, like 2/5`},
		{"--shard 0/5", "--shard 0/5: the parts of 5 are 1 to 5"},
		{"--shard 6/5", "--shard 6/5: the parts of 5 are 1 to 5"},
		{"--shard 1/0", `--shard "1/0": write`},
		{"--shard job/5", "--shard job/5: $JOB_COMPLETION_INDEX is not set"},
		{"--subject stak", `there is no subject "stak"; did you mean "stack"?`},
		{"--resume", "--resume needs the --out"},
		{"nothing.sim", "nothing.sim: there is no such file"},
		{"--out full", "--out: full is not empty; name a folder that is, or that is yet to be made"},
		{"--out full --resume", "--out: full is not empty"},
		{"--out file", "--out: "},
		{"--out file/x", "--out: "},
		{"--out done --seeds 1..10", "--out: done has the results of an earlier run; go on with it with --resume, or name another folder"},
		{"--out done --seeds 1..11 --resume", "--resume: done was made with --seeds 1..10, not 1..11; resume it with what it was begun with, or name another --out"},
		{"--out done --seeds 1..10 --subject client-go --resume", "--resume: done was made with --subject stack, not client-go"},
		{"--out done --seeds 1..10 --shard 1/2 --resume", "--resume: done was made with shards of 1, not of 2"},
		{"--out done --seeds 1..10 good.sim --resume", "--resume: done was made with generated scenarios, not files"},
		{"--out corpus --seeds 1..10 other.sim --resume", "--resume: corpus was made with other files: good, not other"},
		{"--out corpus --seeds 1..10 --resume", "--resume: corpus was made with files, not generated scenarios"},
		{"--out broken --resume", "--resume: broken/campaign.json: it is not readable as the state of a campaign: unexpected end of JSON input; name another folder. What was found is still in broken/findings"},
		{"--junit notes.txt", "--junit: notes.txt exists and is not a JUnit report"},
		{"--junit full", "--junit: full is a directory"},
	} {
		got := command(t, append([]string{"fuzz"}, strings.Fields(tt.args)...)...)
		if got.code != exitBadInput || !strings.Contains(got.stderr, "error: "+tt.want) {
			t.Errorf("fuzz %s: exit code %d: %s%s", tt.args, got.code, got.stdout, got.stderr)
		}
	}
	if got := command(t, "fuzz", "--out", "done", "--seeds", "1..10", "--resume"); got.code != exitOK || !strings.Contains(got.stdout, "PASS  10 runs") {
		t.Errorf("a complete campaign that is resumed: exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("these files are left: %v", left)
	}
}

// A scenario that expects a violation passes with it, and fuzz does not say that the property held.
func TestFuzzOfWhatMustFail(t *testing.T) {
	inTemp(t, map[string]string{"must.sim": "expect violation WorkDrains\nresource pods\ncreate pods default/a default/b\ninformer i1 pods\nworker c1 i1\nhandle c1 panics=1\nsettle\n", "small.sim": small})
	for _, subject := range []string{"stack", "client-go"} {
		args := []string{"fuzz", "must.sim", "small.sim", "--seeds", "1..20", "--subject", subject, "--out", subject, "--junit", subject + ".xml"}
		got := command(t, args...)
		want := regexp.MustCompile(`PASS  20 runs, of which ([1-9]) broke what their scenario expects \(WorkDrains\); all other properties held`)
		if got.code != exitOK || !want.MatchString(got.stdout) {
			t.Errorf("%s: exit code %d: %s%s", subject, got.code, got.stdout, got.stderr)
		}
		if xml, err := os.ReadFile(subject + ".xml"); err != nil || strings.Contains(string(xml), `name="WorkDrains"`) || !strings.Contains(string(xml), `name="HandlersConverge"`) {
			t.Errorf("%s: the JUnit report says %s, %v", subject, xml, err)
		}
		if got := command(t, "merge", subject, "--out", subject+"-sum"); got.code != exitOK || !want.MatchString(got.stdout) {
			t.Errorf("%s, merged: exit code %d: %s%s", subject, got.code, got.stdout, got.stderr)
		}
	}
}

// A campaign that ends because too many seeds have no verdict is undecided, which is no bad input.
func TestFuzzEndsWithoutVerdicts(t *testing.T) {
	inTemp(t, nil)
	got := command(t, "fuzz", "--seeds", "1..50", "--timeout", "1ns", "--out", "out")
	if got.code != exitUndecided || !strings.Contains(got.stdout, "OPEN  10 seeds of 10 runs without a verdict") || !strings.Contains(got.stdout, "the campaign failed: 40 seeds not run, from 11 to 50") ||
		!strings.Contains(got.stderr, "\nnot decided: 10 seeds have no verdict, which is too many to go on\n") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// leftovers are hidden files.
func leftovers(t *testing.T) (left []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".informersim-") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// What is written for machines says the same as the text.
func TestFuzzTellsMachines(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	t.Setenv("GITHUB_STEP_SUMMARY", "summary.md")
	n := seeds(60)
	got := command(t, keepGoing(n, "--json", "--junit", "results.xml")...)
	if got.code != exitBroken {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	var names []string
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	for _, line := range lines[:len(lines)-1] {
		var x struct{ Finding campaign.Finding }
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		names = append(names, x.Finding.Name)
	}
	var end struct {
		Summary struct {
			Verdict  string
			Runs     int
			Findings []campaign.Finding
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
		t.Fatal(err)
	}
	if end.Summary.Verdict != "fail" || end.Summary.Runs != n || len(end.Summary.Findings) != len(names) {
		t.Errorf("the end is %+v", end)
	}
	for _, file := range []string{"results.xml", "summary.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen := regexp.MustCompile(`ReplaceDeletesMissing-[0-9a-f]{8}`).FindAllString(string(data), -1)
		slices.Sort(seen)
		want := slices.Sorted(slices.Values(names))
		if !slices.Equal(slices.Compact(seen), want) {
			t.Errorf("%s has the findings %v, want %v", file, seen, want)
		}
	}
}

// A finding that cannot be kept is reported, and found again when there is room.
func TestFuzzLosesNothingWithoutRoom(t *testing.T) {
	inTemp(t, nil)
	withFlawed(t)
	args := []string{"fuzz", "--subject", "flawed", "--seeds", "1..100", "--shrink", "0", "--out", "out", "--resume"}
	if got := command(t, append(args, "--for", "1ns")...); got.code != exitUndecided && got.code != exitOK { // one run may be faster
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if err := os.WriteFile("out/findings", nil, 0o666); err != nil { // where a folder is needed
		t.Fatal(err)
	}
	got := command(t, args...)
	lost := regexp.MustCompile(`FAIL  1 finding after (\d+) runs?, which could not be kept`).FindStringSubmatch(got.stdout)
	if got.code != exitBroken || lost == nil || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") ||
		!strings.Contains(got.stderr, "error: the finding is not kept: mkdir out/findings") {
		t.Fatalf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	before, err := strconv.Atoi(lost[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("out/findings"); err != nil {
		t.Fatal(err)
	}
	if got := command(t, args...); got.code != exitBroken || !strings.Contains(got.stdout, fmt.Sprintf("FAIL  1 finding in %d runs", before+1)) {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if files := globbed(t, "out/findings/*/README.md"); files == "" {
		t.Error("it is not kept")
	}
}

// A summary does not say that results are in a folder that could not take them.
func TestFuzzSaysWhatItCannotSave(t *testing.T) {
	inTemp(t, nil)
	const file = "out/campaign.json"
	ended := make(chan outcome, 1)
	go func() { ended <- command(t, "fuzz", "--out", "out", "--for", "3s", "--workers", "1") }()
	for stop := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(stop) {
			t.Fatal("the campaign does not begin")
		}
	}
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o777)); err != nil { // where a file is needed
		t.Fatal(err)
	}
	got := <-ended
	if got.code != exitBadInput || !strings.Contains(got.stderr, "error: --out: ") || strings.Contains(got.stdout, "results in") ||
		!strings.Contains(got.stdout, "      out lacks what could not be written: the same command with --resume goes on from what it has\n") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// Seeds without a verdict are named and left out; what else is found comes first.
func TestFuzzGoesOnWithoutVerdicts(t *testing.T) {
	inTemp(t, nil)
	t.Setenv(asCommand, "true")
	t.Setenv(dying, "kill 17")
	got := command(t, "fuzz", "--subject", "client-go", "--seeds", "17..22", "--out", "out", "--junit", "out.xml")
	if got.code != exitUndecided || !strings.Contains(got.stdout, "OPEN  1 seed of 6 runs without a verdict") || !strings.Contains(got.stderr, "alone: informersim fuzz --seeds 17..17 --subject client-go") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if data, err := os.ReadFile("out.xml"); err != nil || !strings.Contains(string(data), `<testcase classname="informersim.fuzz.client-go" name="seed 17">`) {
		t.Errorf("%v: %s", err, data)
	}
	t.Setenv(dying, "panic 19")
	got = command(t, "fuzz", "--subject", "client-go", "--seeds", "18..22", "--out", "panics")
	if got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  NoPanic") || !strings.Contains(got.stdout, "panic: a defect") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if dir := filepath.Dir(globbed(t, "panics/findings/NoPanic-*/README.md")); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "original/seed19.sim")); err != nil {
			t.Error(err)
		}
	}
}

// Runs that end their processes in one way are one finding.
func TestFuzzKnowsCrashesAgain(t *testing.T) {
	inTemp(t, nil)
	t.Setenv(asCommand, "crash")
	withSubject(t, crashing)
	got := command(t, "fuzz", "--subject", "crashing", "--seeds", "1..5", "--keep-going", "--out", "out")
	c := campaignIn(t, "out")
	if got.code != exitBroken || len(c.Findings) != 1 || c.Findings[0].Count != 5 || c.Findings[0].Property != "NoPanic" {
		t.Errorf("exit code %d: %+v\n%s%s", got.code, c.Findings, got.stdout, got.stderr)
	}
	var kept campaign.Finding
	meta, err := os.ReadFile(globbed(t, "out/findings/NoPanic-*/finding.json"))
	if err := errors.Join(err, json.Unmarshal(meta, &kept)); err != nil || kept.Count != 5 || len(kept.Seeds) != 5 {
		t.Errorf("%v: its file says %s", err, meta)
	}
	readme, err := os.ReadFile(globbed(t, "out/findings/NoPanic-*/README.md"))
	if err != nil || !strings.Contains(string(readme), "panic: on a goroutine") || !strings.Contains(string(readme), "informersim run original/seed1.sim --seed 1") {
		t.Errorf("%v: %s", err, readme)
	}
}

// Whatever is wrong with the trace of a finding, it is kept, and the user is told what broke.
func TestFuzzKeepsWhatItCannotShrink(t *testing.T) {
	x := &foundRun{Files: map[string][]byte{}}
	x.Again = []string{"informersim run original/seed7.sim --seed 7"}
	x.note("not shrunk: run.trace.jsonl:9: step 5 follows step 5")
	x.asItIs(&reports.Run{Violation: &reports.Violation{Property: "ServerAgrees", Message: "pods \"a\" not found"}}, []byte("a trace\n"))
	if got := string(x.Files[traceFile]); got != "a trace\n" {
		t.Errorf("the trace is %q", got)
	}
	for _, want := range []string{"FAIL  ServerAgrees", `pods "a" not found`, "step 5 follows step 5", x.Again[0]} {
		if !strings.Contains(string(x.Files[storyFile]), want) {
			t.Errorf("the story lacks %q:\n%s", want, x.Files[storyFile])
		}
	}
}
