package main

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// What a release cannot be held to follows from the table, and from what properties say that they need.
func TestUnjudgedOfReleases(t *testing.T) {
	const two = "not judged: BackoffHonoured, of whether a watch that is refused lengthens the wait after a list that fails: client-go has it since v0.28"
	for version, want := range map[string][]string{
		"v0.26.15": {
			two,
			"not judged: InitialListFlag: client-go has it since v0.27", "not judged: HandlersSync, of handlers: ", "not judged: SyncedAfterInitialList, of handlers: ",
			"not judged: QueueNoLostKey, of whether a retry is late: ", "not judged: BackoffHonoured, of how long an informer waits at most: ",
		},
		"v0.27.16": {two, "not judged: QueueNoLostKey, of whether a retry is late: client-go has it since v0.31", "not judged: BackoffHonoured, of how long an informer waits at most: "},
		"v0.31.14": {"not judged: BackoffHonoured, of how long an informer waits at most: client-go has it since v0.36"},
		"v0.36.3":  nil,
	} {
		r, err := releases.Parse(version)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		writeUnjudged(&b, subjects.Kind{Name: r.Subject(), Lacks: r.Lacks()})
		if strings.Count(b.String(), "\n") != len(want) {
			t.Errorf("%s: %q", version, b.String())
		}
		for _, line := range want {
			if !strings.Contains(b.String(), line) {
				t.Errorf("%s: %q is not in %q", version, line, b.String())
			}
		}
	}
}
