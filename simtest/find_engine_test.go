package simtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/informersim/informersim/simtest"
)

// Where no engine can be built, the failure says why, and what to do.
func TestEngineThatCannotBeBuilt(t *testing.T) {
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) {})
		return
	}
	t.Setenv("INFORMERSIM", "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, home, cache string
		want              string
	}{
		{"", os.Getenv("HOME"), os.Getenv("XDG_CACHE_HOME"), "there is no engine on the PATH, and no Go to build one: get one with go install "},
		{os.Getenv("PATH"), "", "", "there is no folder for a cache"},
		{os.Getenv("PATH"), os.Getenv("HOME"), file, "the engine cannot be built: mkdir " + file},
	} {
		t.Setenv("PATH", test.path)
		t.Setenv("HOME", test.home)
		t.Setenv("XDG_CACHE_HOME", test.cache)
		wantIn(t, runChildWith(t, append(os.Environ(), childEnv+"=1")), test.want, "INFORMERSIM")
	}
}
