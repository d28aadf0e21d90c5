package releases

import (
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
)

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"v0.31.14": "v0.31.14", "v0.31": "v0.31.14", BuiltIn: BuiltIn,
		"0.31.14": "did you mean client-go@v0.31.14?", "v1.31.4": "did you mean client-go@v0.31.4?", "1.31": "did you mean client-go@v0.31?",
		"": "is not a release of client-go", "latest": "is not a release of client-go", "v0.31.14-rc.1": "is not a release of client-go", "v0.31.0-rc.1": "write client-go@v0.31 for the newest patch",
		FirstOfNext: FirstOfNext, "v0.38.0-rc.1": "v0.38.0-rc.1", "v0.38.3": "v0.38.3", "v0.38.0-alpha.2": "has not been looked at", "v0.39.0-beta.0": "has not been looked at", "v0.38": "such as client-go@" + FirstOfNext,
		"v0.5.0": "is not one of those that a guest can be built with: v0.17.17 to " + BuiltIn, "v0.17.5": "v0.17.5", "v0.17.4": "no guest can be built with client-go v0.17.4: v0.17.5 is the oldest", "v0.16": "a guest can be built with: v0.17", "v0.99": "a guest can be built with: v0.17",
	} {
		r, err := Parse(version)
		got := r.Version
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
}

// What a release has, an older one may lack; never the other way round.
func TestReleasesOnlyGain(t *testing.T) {
	var before *Release
	for _, m := range All() {
		r, err := Parse(m.NewestVersion())
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			for f := range r.Lacks() {
				if _, lacked := before.Lacks()[f]; !lacked {
					t.Errorf("%s lacks %s, and %s has it", r.Version, f, before.Version)
				}
			}
			for _, tag := range r.Tags() {
				if !slices.Contains(before.Tags(), tag) {
					t.Errorf("%s has the build tag %s, and %s has not", r.Version, tag, before.Version)
				}
			}
		}
		before = &r
	}
	if len(before.Tags()) > 0 || len(before.Lacks()) > 0 || before.Version != BuiltIn {
		t.Errorf("the newest release, %s, lacks %v, with tags %v; it should be the built-in one", before.Version, before.Lacks(), before.Tags())
	}
	oldest, err := Parse(All()[0].NewestVersion())
	if err != nil || !slices.Equal(oldest.Queues(), []subjects.Queue{subjects.QueueDelta}) {
		t.Errorf("the oldest release has the queues %v: %v", oldest.Queues(), err)
	}
}
