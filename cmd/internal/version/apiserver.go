package version

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Protocol is the version of the arrangement between informersim and informersim-apiserver: the command line, the environment
// and the exit codes. It goes up with each change to one of them, so that two working copies, which have no version, can tell.
const Protocol = 1

// Apiserver is a version of informersim-apiserver.
type Apiserver struct {
	Module   string
	Protocol int
}

// Own is the version of informersim-apiserver that belongs to this program.
func Own() Apiserver { return Apiserver{Module: Module(), Protocol: Protocol} }

// String is what `informersim-apiserver version` prints.
func (a Apiserver) String() string {
	return fmt.Sprintf("informersim-apiserver %s\nprotocol %d\n%s %s/%s\n", a.Module, a.Protocol, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// ParseApiserver reads what `informersim-apiserver version` printed; a program that prints anything else is another one.
func ParseApiserver(text string) (Apiserver, error) {
	lines := strings.Split(text, "\n")
	module, isApiserver := strings.CutPrefix(lines[0], "informersim-apiserver ")
	if !isApiserver || len(lines) < 2 {
		return Apiserver{}, fmt.Errorf("%q is not the version of informersim-apiserver", lines[0])
	}
	number, _ := strings.CutPrefix(lines[1], "protocol ")
	protocol, err := strconv.Atoi(number)
	if err != nil {
		return Apiserver{}, fmt.Errorf("informersim-apiserver %s has no protocol number, but %q", module, lines[1])
	}
	return Apiserver{Module: module, Protocol: protocol}, nil
}
