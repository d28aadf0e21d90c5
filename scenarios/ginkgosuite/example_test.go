package ginkgosuite_test

import (
	"github.com/informersim/informersim/scenarios/ginkgosuite"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
)

// One line of a test file, beside the suite's usual RunSpecs. Each file of the folder is then a container with a spec for each subject;
//
//	go test . -ginkgo.label-filter=watch-410 -ginkgo.junit-report=report.xml
//
// runs those with that fault, and writes JUnit.
func Example() {
	_ = ginkgosuite.Register("testdata/sims/*.sim", ginkgosuite.Options{})
}

// client-go alone, and beside the transcript fifty other orders of events with random faults.
func Example_explore() {
	_ = ginkgosuite.Register("testdata/sims/*.sim", ginkgosuite.Options{
		Subjects: []subjects.Kind{clientgo.Kind},
		Seeds:    50,
		Mix:      "default",
	})
}
