//go:build race

package simtest

import "runtime"

// races is how many data races the race detector has reported in this process.
func races() int { return runtime.RaceErrors() }
