//go:build no_log_state

package bubble

import "os"

// mute silences klog, whose state cannot be put back, and which is another module still before v0.19: it writes to os.Stderr. Panics
// do not.
func mute() (restore func()) {
	stderr := os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	os.Stderr = null
	return func() {
		os.Stderr = stderr
		null.Close()
	}
}
