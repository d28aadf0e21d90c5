package simtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// The file has the end of the log, from the beginning of a line on, at every moment, also when there was more than it holds.
func TestLogTailKeepsTheEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	tail, err := newLogTail(name)
	if err != nil {
		t.Skip(err) // the system lacks such memory
	}
	content := func() string {
		data, err := os.ReadFile(name)
		if err != nil || len(data) != wire.LogTail {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		text, rest, _ := bytes.Cut(data, []byte{0})
		if len(bytes.Trim(rest, "\x00")) > 0 {
			t.Errorf("after the log's end comes %.40q", bytes.Trim(rest, "\x00"))
		}
		return string(text)
	}
	for n := range 20_000 {
		tail.add(fmt.Sprintf("line %d\n", n))
		if n%1000 == 999 {
			got := content()
			first, _, _ := strings.Cut(got, "\n")
			if !strings.HasSuffix(got, fmt.Sprintf("\nline %d\n", n)) || !strings.HasPrefix(first, "line ") {
				t.Fatalf("after line %d the log begins with %q and ends with %q", n, first, got[max(0, len(got)-20):])
			}
		}
	}
	tail.add(strings.Repeat("x", 2*wire.LogTail) + "\n")
	if got := content(); !strings.HasSuffix(got, "xxx\n") {
		t.Errorf("after a line that is too long the log ends with %q", got[max(0, len(got)-20):])
	}
	tail.reset()
	if got := content(); got != "" {
		t.Errorf("another run begins with %.20q", got)
	}
}
