package properties_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
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

// storedWorld is a world of which only the kernel is asked.
type storedWorld struct {
	properties.World
	k *sim.Kernel
}

func (w storedWorld) Kernel() *sim.Kernel                    { return w.k }
func (storedWorld) InformerOf(sim.ActorID) subjects.Informer { return nil }

type storedActor struct{}

func (storedActor) Name() string     { return "i1/h1" }
func (storedActor) Apply(sim.Choice) {}

// Where it is known what the Indexer held when the handler was called, that is judged, for the next notification only.
func TestI62StoreBeforeNotifyDuringCall(t *testing.T) {
	for what, test := range map[string]struct {
		stored, reached int64
		detail          string
		rv              int64
		want            string
	}{
		"an add before it is stored":        {0, 0, subjects.NotifyAdd, 5, "told before that was stored"},
		"an update before it is stored":     {4, 4, subjects.NotifyUpdate, 5, "told before that was stored"},
		"an update that is stored":          {5, 5, subjects.NotifyUpdate, 5, ""},
		"an update, and something newer":    {7, 7, subjects.NotifyUpdate, 5, ""},
		"an update, and a deletion since":   {0, 5, subjects.NotifyUpdate, 5, ""},
		"a deletion before it is stored":    {4, 4, subjects.NotifyDelete, 5, "told before the deletion was stored"},
		"a tombstone before it is stored":   {4, 4, subjects.NotifyUnknown, 4, "told before the deletion was stored"},
		"a deletion that is stored":         {0, 4, subjects.NotifyDelete, 5, ""},
		"a deletion, and it is there anew":  {6, 6, subjects.NotifyDelete, 5, ""},
		"a tombstone, and it is there anew": {6, 6, subjects.NotifyUnknown, 4, ""},
	} {
		k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})
		w, id := storedWorld{k: k}, k.Register(storedActor{})
		check := properties.StoreBeforeNotify.New()
		notify := sim.Record{Kind: subjects.KindNotify, Actor: id, Key: "default/a", RV: test.rv, Detail: test.detail}
		if v := check.Record(w, &sim.Record{Kind: subjects.KindStored, Actor: id, Key: "default/a", RV: test.stored, N: test.reached}); v != nil {
			t.Errorf("%s: it breaks before the notification: %s", what, v.Message)
		}
		v := check.Record(w, &notify)
		if (v != nil) != (test.want != "") || v != nil && !strings.Contains(v.Message, test.want) {
			t.Errorf("%s: %+v, want %q", what, v, test.want)
		}
		if v := check.Record(w, &notify); v != nil {
			t.Errorf("%s: the next notification breaks it, too: %s", what, v.Message)
		}
	}
}
