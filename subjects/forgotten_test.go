package subjects_test

import (
	"testing"

	"github.com/informersim/informersim/subjects"
)

type kept struct{ next *kept }

var list *kept

// What is reachable is held, and nothing else is.
func TestForgotten(t *testing.T) {
	var f subjects.Forgotten
	list = &kept{next: subjects.ToForget(&f, "what a list goes on with", &kept{})}
	subjects.ToForget(&f, "what nobody has", &kept{})
	if got, want := f.Held(), "what a list goes on with"; got != want {
		t.Errorf("%q is held, want %q", got, want)
	}
	list.next = nil
	if got := f.Held(); got != "nothing" {
		t.Errorf("%q is held once the list has forgotten it", got)
	}
}
