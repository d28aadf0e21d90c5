package main

import (
	"fmt"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

// subjectKinds are the informer stacks that the command can test, the default one first. It is a variable so that a test can add
// its own.
var subjectKinds = kinds.All()

var defaultSubject = subjectKinds[0].Name

func subjectNames() []string {
	names := make([]string, len(subjectKinds))
	for i, k := range subjectKinds {
		names[i] = k.Name
	}
	return names
}

func subjectNamed(name string) (subjects.Kind, error) {
	for _, k := range subjectKinds {
		if k.Name == name {
			return k, nil
		}
	}
	if near := script.Suggest(name, subjectNames()); near != "" {
		return subjects.Kind{}, fmt.Errorf("there is no subject %q; did you mean %q?", name, near)
	}
	return kinds.Named(name)
}
