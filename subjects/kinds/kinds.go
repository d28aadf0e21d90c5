package kinds

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
	"github.com/informersim/informersim/subjects/stall"
)

// All returns the kinds of subjects, the default one first.
func All() []subjects.Kind {
	watched := stack.Kind
	watched.Watch = stall.Watch
	return []subjects.Kind{watched, clientgo.Kind}
}

// Named returns the kind of that name.
func Named(name string) (subjects.Kind, error) {
	all := All()
	names := make([]string, len(all))
	for i, k := range all {
		if names[i] = k.Name; k.Name == name {
			return k, nil
		}
	}
	return subjects.Kind{}, fmt.Errorf("there is no subject %q; there are %s", name, strings.Join(names, ", "))
}
