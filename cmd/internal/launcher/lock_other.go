//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package launcher

import "context"

// lock does nothing here: two simultaneous first starts build twice.
func Lock(context.Context, string) (unlock func(), err error) { return func() {}, nil }

// LockFolder does nothing here: it is the user's to have one process work in a folder.
func LockFolder(context.Context, string) (unlock func(), err error) { return func() {}, nil }
