package properties

import (
	"fmt"

	"github.com/informersim/informersim/reports"
)

// LibraryAgrees checks what controllers use of a client library beside its informers and work queues (I118). It excepts what upstream is known to do
// (k141079).
var LibraryAgrees = Property{
	Name:      "LibraryAgrees",
	Statement: "what a client library offers beside informers, from stores that forget to limiters and keys, does what its model says",
	New:       func() Checker { return Checker{End: libraryAgrees} },
}

// libraryTurns are made at most at the end of a run.
const libraryTurns = 4

// libraryAgrees makes its calls at the end of a run: they have nothing to do with it, except that its seed says which. So a scenario of a few lines with
// that seed makes the same ones, which is what is left when a finding is shrunk.
func libraryAgrees(w World) *reports.Violation { return libraryDisagrees(w, false) }

// libraryDisagrees is libraryAgrees; if it is strict, it excepts nothing.
func libraryDisagrees(w World, strict bool) *reports.Violation {
	all := w.Informers()
	if len(all) == 0 {
		return nil
	}
	for n := range rounds(w, libraryTurns) {
		for _, o := range all[0].Library(libraryTurns*w.Kernel().Seed() + n) {
			if o.Exempt != "" && !strict {
				continue
			}
			v := &reports.Violation{Message: fmt.Sprintf("%s: %s, want %s", o.Call, o.Got, o.Want)}
			for _, call := range o.Before {
				v.Because = append(v.Because, reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "before that, rightly: " + call})
			}
			return v
		}
	}
	return nil
}
