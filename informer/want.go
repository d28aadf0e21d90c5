package informer

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Op is an operation that a Reflector asks its caller to perform.
type Op uint8

// The operations.
const (
	// OpNone: nothing. The Reflector was not started or has stopped.
	OpNone Op = iota
	// OpList: send a LIST and answer with OnPage, OnList or OnListError.
	OpList
	// OpWatch: open a watch and answer with OnWatchOpened or OnWatchOpenError; then hand over its events with OnEvent until
	// OnWatchClosed. The want does not change while the stream is open.
	OpWatch
	// OpSleep: do nothing until Until, then call OnTime.
	OpSleep
)

// String returns the operation's name.
func (o Op) String() string {
	switch o {
	case OpNone:
		return "none"
	case OpList:
		return "list"
	case OpWatch:
		return "watch"
	case OpSleep:
		return "sleep"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Want is the operation that a Reflector is waiting for.
type Want struct {
	// Seq changes with every new want. The caller ends the work of an older one: it cancels the request, closes the stream,
	// stops the timer.
	Seq uint64
	// Op says what to do.
	Op Op
	// Options are the options of the LIST or WATCH request.
	Options metav1.ListOptions
	// Until is when a sleep ends.
	Until time.Time
}
