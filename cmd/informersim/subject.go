package main

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

// subject is an informer stack that the command can put under test.
type subject struct {
	name    string
	engine  string
	factory subjects.Factory
	host    subjects.Host // nil for one whose runs need nothing around them
}

const defaultSubject = stack.Name

var allSubjects = []subject{
	{stack.Name, "step", stack.New, nil},
	{clientgo.Name, clientgo.Engine, clientgo.New, clientgo.Host},
}

func subjectNames() []string {
	names := make([]string, len(allSubjects))
	for i, s := range allSubjects {
		names[i] = s.name
	}
	return names
}

func subjectNamed(name string) (subject, error) {
	for _, s := range allSubjects {
		if s.name == name {
			return s, nil
		}
	}
	hint := "there are " + strings.Join(subjectNames(), ", ")
	if near := script.Suggest(name, subjectNames()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return subject{}, fmt.Errorf("there is no subject %q; %s", name, hint)
}
