//go:build !no_log_state

package bubble

import (
	"io"

	"k8s.io/klog/v2"
)

// mute silences klog.
func mute() (restore func()) {
	log := klog.CaptureState()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	return log.Restore
}
