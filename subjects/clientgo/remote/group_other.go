//go:build !unix

package remote

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }
