package properties_test

import (
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

// A broken server leaves an object out of a streaming list, and shows it in the next one. The handler is behind: when it is told of the
// deletion, the Indexer holds the very same object again. That is no notification before its time.
const seenAgain = `resource pods
create pods default/a
informer i1 pods handlers=h1 queue=delta watch-list=on
settle
hold h1
update pods default/a
settle
fault i1 watch=410
fault i1 watch=drop
advance 3s
fault i1 watch=410
advance 3s
release h1
settle
log h1
----
h1 add default/a rv=1 initial
h1 update default/a rv=2 old=1
h1 delete default/a unknown-final-state rv=2
h1 add default/a rv=2
`

func TestI62StoreBeforeNotifyOfBrokenServer(t *testing.T) {
	s, err := scenarios.Parse("seen_again.sim", []byte(seenAgain))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
		if res := checked(t, s, kind, 1, "fifo", ""); !res.Passed() {
			t.Errorf("%s: %s", kind.Name, res.Verdict())
		}
	}
}

// After a panic, client-go's listener rests with the next notification in its hands (I85). The handler is removed meanwhile, so it is never told
// that the object of that notification is gone.
const takenBeforeRemoval = `resource pods
informer i1 pods handlers=h1 queue=delta
handle h1 panics=1
settle
create pods default/a default/b
settle
remove h1
delete pods default/b
settle
advance 5s
`

func TestI62StoreBeforeNotifyOfRemovedHandler(t *testing.T) {
	s, err := scenarios.Parse("taken_before_removal.sim", []byte(takenBeforeRemoval))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []subjects.Kind{stack.Kind, clientgo.Kind} {
		if res := checked(t, s, kind, 1, "fifo", ""); !res.Passed() {
			t.Errorf("%s: %s", kind.Name, res.Verdict())
		}
	}
}
