//go:build !unix

package simtest

import "syscall"

// ownGroup does nothing here.
func ownGroup() *syscall.SysProcAttr { return nil }
