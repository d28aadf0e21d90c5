package garbage

import (
	"os"
	"runtime/debug"
)

// percent is that of debug.SetGCPercent. A run leaves 400 kB and little of that lives: by default, a third of the time would go into collecting it.
// This takes some 40 MB.
const percent = 800

// CollectSeldom has garbage be collected less often until restore is called, unless $GOGC says how often.
func CollectSeldom() (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
