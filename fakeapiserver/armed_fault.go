package fakeapiserver

import (
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// armedFault is a fault that waits for a victim.
type armedFault struct {
	id    int
	fault fault.Fault
	spec  *fault.Spec
	left  int
}
