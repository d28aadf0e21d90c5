package subjects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects"
)

// A history has the last eight calls, and no answer that is longer than a line.
func TestHistory(t *testing.T) {
	var h subjects.History
	if got := h.Texts(); len(got) > 0 {
		t.Errorf("of no calls it has %q", got)
	}
	for n := range 10 {
		h.Add(fmt.Sprintf("call %d", n), n)
	}
	if got := h.Texts(); len(got) != 8 || got[0] != "call 2: 2" || got[7] != "call 9: 9" {
		t.Errorf("it has %q", got)
	}
	h.Add("List", slices.Repeat([]string{"ä"}, 100))
	if got := h.Texts()[7]; !strings.HasSuffix(got, "…") || len(got) > 100 {
		t.Errorf("it says %q", got)
	}
}
