package simtest_test

import (
	"fmt"
	"os"
)

// t stands, in the examples, for the *testing.T of a test.
var t exampleT

// exampleT is a simtest.TB for examples, which have none: what fails, fails the example.
type exampleT struct{}

func (exampleT) Helper()             {}
func (exampleT) Name() string        { return "Example" }
func (exampleT) Logf(string, ...any) {}
func (exampleT) Errorf(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
	fmt.Println("it fails") // which is not the output that the example says
}
func (exampleT) FailNow()     { panic("the example fails") }
func (exampleT) Failed() bool { return false }
