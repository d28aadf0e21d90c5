package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/informersim/informersim/subjects/clientgo/gates"
	"github.com/informersim/informersim/subjects/clientgo/pipe"
)

func main() {
	// The end of the input is the sign to end: a Ctrl-C is the kernel's, which may have more to ask.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if len(os.Args) == 2 && os.Args[1] == "release" {
		fmt.Println(gates.Release)
		return
	}
	if err := pipe.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "guest of client-go %s: %v\n", gates.Release, err)
		os.Exit(2)
	}
}
