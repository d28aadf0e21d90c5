package gates

import (
	"errors"
	"strings"
	"testing"
)

// A call of a running informer that nothing lets return is told of, with the place where it waits; what it does once the informer stops is not.
func TestCallThatDoesNotReturn(t *testing.T) {
	var told []Event
	mustHost(t, 1, func() {
		g, err := Enter(0, func(e *Event) { told = append(told, *e) })
		if err != nil {
			t.Error(err)
			return
		}
		i := &informer{g: g, queue: &queueView{}}
		wanted := errors.New("an error of the call")
		if err := i.call("RemoveEventHandler", func() error { return wanted }); err != wanted || len(told) > 0 {
			t.Errorf("a call that returns: %v, and %v was told", err, told)
		}
		never := make(chan struct{})
		err = i.call("AddEventHandler", func() error {
			<-never
			panic("send on closed channel")
		})
		if err == nil {
			t.Error("a call that does not return has no error")
		}
		close(never)
		g.b.Quiesce()
	})
	if len(told) != 1 || told[0].What != Blocked || !strings.Contains(told[0].Key, "AddEventHandler does not return") || !strings.Contains(told[0].Key, "chan receive in ") {
		t.Errorf("told %+v", told)
	}
}
