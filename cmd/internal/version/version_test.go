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

// What go.mod replaces is not what its version says.
func TestVersionOf(t *testing.T) {
	for want, by := range map[string]*debug.Module{
		"v0.37.2":                              nil,
		"v0.37.2 replaced by ../client-go":     {Path: "../client-go", Version: "(devel)"},
		"v0.37.2 replaced by my/fork v0.1.0-x": {Path: "my/fork", Version: "v0.1.0-x"},
	} {
		if got := versionOf(&debug.Module{Path: "k8s.io/client-go", Version: "v0.37.2", Replace: by}); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
