//go:build !race

package simtest

// races is how many data races the race detector has reported in this process.
func races() int { return 0 }
