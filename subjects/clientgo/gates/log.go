//go:build !no_log_state

package gates

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// discardLogs has client-go's log calls end before they format anything: nobody reads what a run logs. The bubble restores the logger.
func discardLogs() { klog.SetLoggerWithOptions(logr.Discard(), klog.ContextualLogger(true)) }
