//go:build unix

package simtest

import (
	"os"
	"syscall"
)

// mapped returns a file's content as memory.
func mapped(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}
