//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package simtest

// lockFile does nothing here: two test processes that start at the same time build twice.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }
