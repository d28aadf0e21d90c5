package library

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// TestLibraryAgrees makes all checks of client-go as it is, with several draws each.
func TestLibraryAgrees(t *testing.T) {
	for turn := range uint64(100 * len(checks)) {
		synctest.Test(t, func(t *testing.T) {
			for _, o := range Check(turn, synctest.Wait) {
				t.Errorf("turn %d: %s: %s, want %s", turn, o.Call, o.Got, o.Want)
			}
		})
	}
}

// TestCheckTellsOnce says how a check reads: the first call that was wrong, of which part, and what the model says.
func TestCheckTellsOnce(t *testing.T) {
	c := &check{part: "Heap"}
	c.is("List", []string{"a@1"}, []string{"a@1"})
	c.is("Pop", "a@1", "b@2")
	c.refused("Add", nil)
	if got, want := fmt.Sprint(c.wrong), "[{Heap: Pop a@1 b@2}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
