//go:build unix

package simtest

import "syscall"

const canHaveWorkers = true

// keepFromChildren has the programs that this process starts not inherit files.
func keepFromChildren(files ...int) {
	for _, f := range files {
		syscall.CloseOnExec(f)
	}
}
