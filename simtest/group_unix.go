//go:build unix

package simtest

import "syscall"

// ownGroup has the engine run in a process group of its own: an interrupt at the terminal is for the test.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
