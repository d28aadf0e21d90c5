package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/internal/controllermanager/beside"
)

const usage = `informersim-controllers has Kubernetes' own controllers for Go tests with package simtest (Options.Controllers). The engine starts it.

  informersim-controllers version    prints its version`

func main() {
	switch args := os.Args[1:]; {
	case slices.Equal(args, []string{"version"}):
		fmt.Print(version.Own().As(launcher.Controllers))
		if bubble.Seeded() {
			fmt.Print(launcher.Overlaid)
		}
		return
	case slices.Equal(args, []string{"--help"}), slices.Equal(args, []string{"-h"}):
		fmt.Println(usage)
		return
	case len(args) > 0:
		fmt.Fprintf(os.Stderr, "there is no argument %q\n\n%s\n", args[0], usage)
		os.Exit(2)
	}
	// It ends with its input, and an interrupt at the terminal is for the test.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	out := os.Stdout
	os.Stdout = os.Stderr         // nothing else may be written there
	klog.SetLogger(klog.Logger{}) // what controllers log of errors, after which they try again, would stand between the lines of a test
	if err := beside.Serve(os.Stdin, out); err != nil {
		fmt.Fprintf(os.Stderr, "informersim-controllers: %v\n", err)
		os.Exit(1)
	}
}
