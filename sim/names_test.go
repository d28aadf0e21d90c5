package sim

import "testing"

type named string

func (n named) Name() string { return string(n) }
func (named) Apply(Choice)   {}

// Relatives are found by name, whichever was registered first, and belong to the life that has the name now.
func TestOwnerAndInner(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	conn := k.Register(named("conn/i1"))
	if id, ok := k.Inner(conn); ok {
		t.Errorf("conn/i1 is the connection of actor %d, before there is an i1", id)
	}
	if id, ok := k.ActorByName("i1"); ok {
		t.Errorf("actor %d is i1, before there is one", id)
	}
	informer, handler := k.Register(named("i1")), k.Register(named("i1/h/1"))
	deep := k.Register(named("x/i1/h/1"))
	for _, test := range []struct {
		what string
		of   func(ActorID) (ActorID, bool)
		id   ActorID
		want ActorID
		any  bool
	}{
		{"the owner of i1/h/1", k.Owner, handler, informer, true},
		{"the owner of i1", k.Owner, informer, informer, true},
		{"the owner of conn/i1", k.Owner, conn, 0, false},
		{"the inner of conn/i1", k.Inner, conn, informer, true},
		{"the inner of i1", k.Inner, informer, informer, true},
		{"the inner of i1/h/1", k.Inner, handler, 0, false},
		{"the inner of x/i1/h/1", k.Inner, deep, handler, true},
		{"the owner of nobody", k.Owner, 99, 0, false},
		{"the inner of nobody", k.Inner, 99, 0, false},
	} {
		if id, ok := test.of(test.id); ok != test.any || ok && id != test.want {
			t.Errorf("%s is %d, %v; want %d, %v", test.what, id, ok, test.want, test.any)
		}
	}
	next := k.TakeOver(named("i1"))
	for _, id := range []ActorID{handler, informer} {
		if owner, ok := k.Owner(id); !ok || owner != next {
			t.Errorf("%s belongs to %d, %v; want the next life, %d", k.ActorName(id), owner, ok, next)
		}
	}
}
