package version

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Protocol is the version of the interface between informersim and informersim-apiserver: the command line, the environment
// and the exit codes. It is incremented with each change to them, so that working copies, which have no version, detect a mismatch.
const Protocol = 4

// Apiserver is a version of informersim-apiserver.
type Apiserver struct {
	Module   string
	Protocol int
}

// Own returns the version of informersim-apiserver that matches this program.
func Own() Apiserver { return Apiserver{Module: Module(), Protocol: Protocol} }

// String returns the output of `informersim-apiserver version`.
func (a Apiserver) String() string { return a.As("informersim-apiserver") }

// As returns what a program of this module prints as its version.
func (a Apiserver) As(program string) string {
	return fmt.Sprintf("%s %s\nprotocol %d\n%s %s/%s\n", program, a.Module, a.Protocol, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ParseApiserver parses the output of `informersim-apiserver version`, and refuses that of any other program.
func ParseApiserver(text string) (Apiserver, error) { return Parse("informersim-apiserver", text) }

// Parse parses the version that a program of this module prints, and refuses that of any other program.
func Parse(program, text string) (Apiserver, error) {
	lines := strings.Split(text, "\n")
	module, isProgram := strings.CutPrefix(lines[0], program+" ")
	if !isProgram || len(lines) < 2 {
		return Apiserver{}, fmt.Errorf("%q is not a version of %s", lines[0], program)
	}
	number, _ := strings.CutPrefix(lines[1], "protocol ")
	protocol, err := strconv.Atoi(number)
	if err != nil {
		return Apiserver{}, fmt.Errorf("%s %s: %q is not a protocol number", program, module, lines[1])
	}
	return Apiserver{Module: module, Protocol: protocol}, nil
}
