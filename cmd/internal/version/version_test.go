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
