package main

import (
	"strings"
	"testing"
)

// A bar stays within one row, whatever the width, and wherever its line begins.
func TestBarIsOneRow(t *testing.T) {
	for _, tt := range []struct {
		width      int
		text, want string
	}{
		{10, "\r| seeds (123/-, 9 seeds/s)", "\r| seeds ("},
		{10, "\r             \r", "\r         \r"},
		{10, "short", "short"},
		{10, "ünü·ünü·ünü", "ünü·ünü·ü"},
		{0, "\rof a terminal that does not tell", "\rof a terminal that does not tell"},
	} {
		var out strings.Builder
		n, err := (&oneRow{&out, func() int { return tt.width }}).Write([]byte(tt.text))
		if out.String() != tt.want || n != len(tt.text) || err != nil {
			t.Errorf("%d columns: %q became %q (%d, %v), want %q", tt.width, tt.text, out.String(), n, err, tt.want)
		}
	}
}
