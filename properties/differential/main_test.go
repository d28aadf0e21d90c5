package differential_test

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // little of what a run leaves lives: by default, a third of the time would go into collecting it
	os.Exit(m.Run())
}
