package version

import (
	"runtime/debug"
	"testing"
)

func TestCommitOf(t *testing.T) {
	revision, clean, dirty := debug.BuildSetting{Key: "vcs.revision", Value: "abc"}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, tt := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{dirty}, ""},
		{[]debug.BuildSetting{revision}, "abc"},
		{[]debug.BuildSetting{clean, revision}, "abc"},
		{[]debug.BuildSetting{dirty, revision}, "abc+dirty"},
	} {
		if got := commitOf(tt.settings); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.settings, got, tt.want)
		}
	}
}

// What stands in for a release is not what its version says: what go.mod replaces, what a workspace has, and what a vendor folder has, whose files anyone can edit.
func TestVersionOf(t *testing.T) {
	const release, sum = "v0.37.2", "h1:x"
	for _, tt := range []struct {
		module  debug.Module
		want    string
		changed bool
		sealed  bool
	}{
		{debug.Module{Version: release, Sum: sum}, "v0.37.2", false, true},
		{debug.Module{Version: release, Replace: &debug.Module{Path: "../client-go", Version: "(devel)"}}, "v0.37.2 replaced by ../client-go", true, false},
		{debug.Module{Version: release, Replace: &debug.Module{Path: "my/fork", Version: "v0.1.0-x", Sum: sum}}, "v0.37.2 replaced by my/fork v0.1.0-x", true, true},
		{debug.Module{Version: release, Replace: &debug.Module{Path: "my/fork", Version: "v0.1.0-x"}}, "v0.37.2 replaced by my/fork v0.1.0-x in a vendor folder", true, false},
		{debug.Module{Version: release}, "v0.37.2 in a vendor folder", true, false},
		{debug.Module{Version: "(devel)"}, "(devel) in a go.work", true, false},
		{debug.Module{Version: "v0.38.0", Sum: sum}, "v0.38.0", true, true},
	} {
		if got := versionOf(&tt.module); got != tt.want {
			t.Errorf("it is %q, want %q", got, tt.want)
		}
		if got := changed(&tt.module, release); got != tt.changed {
			t.Errorf("%s is not %s: %v", tt.want, release, got)
		}
		if got := sealed(&tt.module); got != tt.sealed {
			t.Errorf("%s says what is in its files: %v", tt.want, got)
		}
	}
}
