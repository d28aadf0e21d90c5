package subjects_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
)

func TestLastWords(t *testing.T) {
	for said, want := range map[string]string{
		"":                       "",
		"a warning\nno more\n":   "",
		"do not panic: all well": "",
		"warning\npanic: oh no\n\ngoroutine 7 [running]:\n":       "panic: oh no\n\ngoroutine 7 [running]:",
		"fatal error: concurrent map writes\n":                    "fatal error: concurrent map writes",
		"I1127 a\nF1127 16:00:01.123456      42 queue.go:7] no\n": "F1127 16:00:01.123456      42 queue.go:7] no",
		"panic: a" + strings.Repeat("\nb", 100):                   "panic: a" + strings.Repeat("\nb", 29),
	} {
		if got := subjects.LastWords(said); got != want {
			t.Errorf("of %q it says %q, want %q", said, got, want)
		}
	}
}
