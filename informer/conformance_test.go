package informer

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewriteConformance = flag.Bool("rewrite", os.Getenv("REWRITE") != "", "rewrite doc/conformance.md (twin: REWRITE=1)")

const (
	conformanceFile = "doc/conformance.md"
	behavioursMax   = 99 // I1 to I99; from I100 on they are the apiserver's
)

// behaviours names the 99 in a few words, as a guide for the reader of the table.
var behaviours = strings.Split(strings.TrimSpace(`
first LIST at "0", relist at the last, "" when that is unavailable
what makes a resourceVersion unavailable
410 or too-large LIST: one retry at ""
what counts as too large
limits of lists
paginated result latches only from "0"
pager clears RV; page 1's RV counts
expired continue: full list
cancel during LIST: no Replace
Replace before the last RV is set
list errors: error handler, then backoff
outer backoff 800ms to 30s
watch-list first unless unsupported
watch-list options
temporary store, transformer may run twice
complete at the annotated bookmark, same stream goes on
410 or too-large: at once with RV ""
429 or refused: backoff that ignores cancellation
other errors: LIST for this cycle
closed without bookmark: at once again
nothing within a second: LIST
missing bookmark: a warning each 10s
fresh temporary store each time
consistency detector
watch options and timeouts
from ""/"0": no RV before a non-ADDED event
RV advances with every accepted event
bookmarks never reach handlers
unacceptable events are skipped
store errors: logged, RV advances
clean close: watch again
very short watch: relist
open errors: backoff or handler
in-stream errors by class
after a 410 the last RV is tried first
REST retries
what a stream's end becomes
resync timer runs only while watching
a resync error ends the watch
a write before Replace: synced
first Replace sets the count
Close drains
transformer skips tombstones and Sync
DeltaFIFO: one entry per key
DeltaFIFO: adjacent deletions merge
DeltaFIFO: unknown deletions ignored
DeltaFIFO: Replace
DeltaFIFO: Replaced behind a pending Deleted
DeltaFIFO: initial count
DeltaFIFO: Resync
DeltaFIFO: Done before the last item is processed
RealFIFO: every event, in order
RealFIFO: unknown deletions queued
RealFIFO: tombstones first
RealFIFO: count falls after processing
RealFIFO: KnownObjects mandatory
atomic: ReplacedAll, SyncAll, Bookmark
atomic: empty list synced when processed
atomic: deletions found when processed
atomic: unlocked while processing
batches
store before notification
existence decides between add and update
Deleted without existence check
ReplacedAll: one Replace, deletions first
SyncAll: updates without a write
batch: one transaction, then callbacks
errors drop the item
delete and recreate across a gap: one update
store RV: last write, Replace or Bookmark
index function error panics
empty index sets go
AddIndexers backfills and conflicts
IndexKeys sorted
sync updates to syncing listeners
new listeners are syncing
shouldResync
resync periods
late handler
after stop
RemoveEventHandler
ShutDownEventHandler
stalled handler holds nobody up
sequential per handler
handler panic
registration HasSynced
informer HasSynced
stop order
setters fail after start
mutation detector
factory: one per type, Start incremental
factory: WaitForCacheSync
factory: Shutdown
workqueue: dedupe, re-queue on Done
workqueue: shutdown
workqueue: drain
workqueue: AddAfter
workqueue: who ends the delaying loop
workqueue: default limiter
`), "\n")

// comparisons are parts of the names of tests that compare with client-go, and say of no behaviour in particular what is right.
var comparisons = regexp.MustCompile("Differential|AgainstClientGo")

// citation is a test that cites a behaviour in its name or in its comment.
type citation struct{ file, test string }

var citedNumber = regexp.MustCompile(`I(\d+)(?: to I(\d+))?`)

// citations walks the tests below this folder.
func citations(t *testing.T) map[int][]citation {
	t.Helper()
	cited := map[int][]citation{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || path == "conformance_test.go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
				continue
			}
			for _, n := range numbersIn(fn.Name.Name + " " + fn.Doc.Text()) {
				cited[n] = append(cited[n], citation{filepath.ToSlash(path), fn.Name.Name})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cited
}

// numbersIn reads I47, I14I16 and "I40 to I61".
func numbersIn(text string) (numbers []int) {
	for _, m := range citedNumber.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
		for n := from; n <= min(to, behavioursMax); n++ {
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	return numbers
}

// TestConformanceTable fails if a behaviour of the informer specification has no test that fixes it, or if the table in doc
// names one that does not.
func TestConformanceTable(t *testing.T) {
	if len(behaviours) != behavioursMax {
		t.Fatalf("%d behaviours are named, want %d", len(behaviours), behavioursMax)
	}
	cited := citations(t)
	var table strings.Builder
	table.WriteString("# Where each behaviour is fixed\n\n" +
		"Generated by `go test ./informer -run ConformanceTable -rewrite`. The numbers are those of the informer specification.\n" +
		"Tests named Differential or AgainstClientGo compare with client-go itself; the others say what is right.\n\n" +
		"| | behaviour | tests |\n|---|---|---|\n")
	for n := 1; n <= behavioursMax; n++ {
		if !slices.ContainsFunc(cited[n], func(c citation) bool { return !comparisons.MatchString(c.test) }) {
			t.Errorf("I%d (%s) has no test of its own: name it in one", n, behaviours[n-1])
		}
		var tests []string
		for _, c := range cited[n] {
			tests = append(tests, fmt.Sprintf("[%s](../%s)", c.test, c.file))
		}
		slices.Sort(tests)
		fmt.Fprintf(&table, "| I%d | %s | %s |\n", n, behaviours[n-1], strings.Join(tests, ", "))
	}
	if *rewriteConformance {
		if err := os.WriteFile(conformanceFile, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	checkStoredTable(t, cited)
}

var storedCitation = regexp.MustCompile(`\[(\w+)\]\(\.\./([^)]+)\)`)

// checkStoredTable fails if the stored table has no row for a behaviour, or names a test that does not fix it any more. That
// it does not name a new one is no error.
func checkStoredTable(t *testing.T, cited map[int][]citation) {
	t.Helper()
	stored, err := os.ReadFile(conformanceFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int]string{}
	for line := range strings.Lines(string(stored)) {
		var n int
		if _, err := fmt.Sscanf(line, "| I%d |", &n); err == nil {
			rows[n] = line
		}
	}
	for n := 1; n <= behavioursMax; n++ {
		named := storedCitation.FindAllStringSubmatch(rows[n], -1)
		if len(named) == 0 {
			t.Errorf("%s has no test for I%d: go test ./informer -run ConformanceTable -rewrite", conformanceFile, n)
		}
		for _, m := range named {
			if !slices.Contains(cited[n], citation{file: m[2], test: m[1]}) {
				t.Errorf("%s names %s in %s for I%d, which does not cite it: go test ./informer -run ConformanceTable -rewrite",
					conformanceFile, m[1], m[2], n)
			}
		}
	}
}

func TestNumbersIn(t *testing.T) {
	for text, want := range map[string]string{
		"TestI47Replace": "[47]", "TestI14I16Watch": "[14 16]", "(I40 to I43)": "[40 41 42 43]", "I98 to I111": "[98 99]", "IPv4": "[]",
	} {
		if got := fmt.Sprint(numbersIn(text)); got != want {
			t.Errorf("numbers in %q: %s, want %s", text, got, want)
		}
	}
}
