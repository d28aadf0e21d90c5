package sim

// Toggle is one choice of an actor that is offered or not. The zero value is not offered.
type Toggle struct {
	on     bool
	choice Choice
}

// Set offers or withdraws the choice; it does nothing if that is so already.
func (t *Toggle) Set(k *Kernel, id ActorID, kind Kind, want bool) {
	if want != t.on { // apart from flip, so that it is inlined
		t.flip(k, id, kind, want)
	}
}

func (t *Toggle) flip(k *Kernel, id ActorID, kind Kind, want bool) {
	if t.on = want; want {
		t.choice = k.Offer(id, kind, 0)
	} else {
		k.Withdraw(t.choice)
	}
}

// SetSince is Set for a choice that has been possible since that stamp: see Kernel.OfferSince.
func (t *Toggle) SetSince(k *Kernel, id ActorID, kind Kind, want bool, stamp uint64) {
	if want && !t.on {
		t.on, t.choice = true, k.OfferSince(id, kind, 0, stamp)
		return
	}
	t.Set(k, id, kind, want)
}

// Offered reports whether the choice is offered.
func (t *Toggle) Offered() bool { return t.on }

// Taken says that the choice was picked, and is no longer offered.
func (t *Toggle) Taken() { t.on = false }
