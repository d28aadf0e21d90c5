package fakeapiserver

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// armedTrigger is a fault that waits for its trigger.
type armedTrigger struct {
	id    int
	fault fault.Fault
	left  int
}

func (t *armedTrigger) matches(event string, cl *Client, r *store.Resource, key, kind string) bool {
	w := t.fault.After
	want := w.Event
	if want == "" {
		want = fault.TriggerFrame
	}
	return want == event &&
		(w.Client == "" || cl != nil && strings.TrimPrefix(w.Client, "conn/") == strings.TrimPrefix(cl.name, "conn/")) &&
		(w.Resource == "" || r != nil && w.Resource == r.Plural) &&
		(w.Key == "" || w.Key == key) &&
		(w.Type == "" || strings.EqualFold(w.Type, kind))
}
