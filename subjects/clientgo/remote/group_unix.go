//go:build unix

package remote

import "syscall"

// ownGroup keeps a Ctrl-C in the terminal from the guest, which ends when its input does.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
