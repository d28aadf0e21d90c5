package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
)

// Only a terminal gets colors, and nothing that comes from a file becomes one.
func TestPainter(t *testing.T) {
	var out bytes.Buffer
	for _, w := range []interface{ Write([]byte) (int, error) }{&out, reports.NewPlainWriter(&out)} {
		if got := painter(w); got != w {
			t.Errorf("what is no terminal gets %T", got)
		}
	}
	p := &painting{&out, 80}
	text := "FAIL  a\x1b[32mname at step 1 (0s)\n"
	if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if got := out.String(); !strings.Contains(got, "\x1b[31mFAIL") || !strings.Contains(got, `a\u001b[32mname`) {
		t.Errorf("painted: %q", got)
	}
}
