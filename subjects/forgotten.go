package subjects

import (
	"runtime"
	"slices"
	"strings"
	"weak"
)

// Forgotten is what parts of a client library have had, and do not need any more. What one of them keeps by mistake grows as long as a controller lives.
type Forgotten []forgottenObject

type forgottenObject struct {
	what string
	held func() bool
}

// ToForget notes an object that is to be forgotten, and returns it. It must have a pointer in it: Go puts what is small and has none into a block with others,
// and keeps all of it or nothing.
func ToForget[T any](f *Forgotten, what string, obj *T) *T {
	of := weak.Make(obj)
	*f = append(*f, forgottenObject{what, func() bool { return of.Value() != nil }})
	return obj
}

// Held collects garbage, and describes what of it is still there, each kind once: "nothing" if all is gone.
func (f Forgotten) Held() string {
	runtime.GC()
	var held []string
	for _, of := range f {
		if of.held() {
			held = append(held, of.what)
		}
	}
	if len(held) == 0 {
		return "nothing"
	}
	slices.Sort(held)
	return strings.Join(slices.Compact(held), "; ")
}
