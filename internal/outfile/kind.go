package outfile

import (
	"bytes"
	"io"
	"os"
)

// IsTrace tells whether a file begins as a trace does. It does not open what is not a regular file: reading a FIFO would take
// from it.
func IsTrace(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	magic := []byte(`{"trace":"informersim"`)
	mark := []byte("\uFEFF") // which the reader of traces skips
	start := make([]byte, len(mark)+len(magic))
	n, _ := io.ReadFull(f, start)
	return bytes.HasPrefix(bytes.TrimPrefix(start[:n], mark), magic)
}
