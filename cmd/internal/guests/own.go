package guests

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/pipe"
	"github.com/informersim/informersim/subjects/clientgo/remote"
)

// BuiltIn is the name of the subject whose guest is this program, with the client-go that it is built with. A run that ends or hangs its guest has
// a trace, and others can follow.
const BuiltIn = Prefix + "built-in"

// Command is the argument that makes this program a guest, which then calls Serve.
const Command = "guest"

// hangOfMany limits the real time that a step may take where most runs hang: a search makes dozens of them.
const hangOfMany = time.Second

// own returns the kind whose guest is this program.
var own = sync.OnceValues(func() (subjects.Kind, error) {
	exe, err := os.Executable()
	if err != nil {
		return subjects.Kind{}, fmt.Errorf("finding this program to run it again as a guest: %w", err)
	}
	built := clientgo.Kind
	return kind(BuiltIn, built.Queues, built.Lacks, &remote.Guest{Path: exe, Args: []string{Command}, Name: BuiltIn}), nil
})

// kind returns the kind of subject whose client-go is in a guest.
func kind(name string, queues []subjects.Queue, lacks map[subjects.Feature]string, g *remote.Guest) subjects.Kind {
	k := subjects.Kind{
		Name: name, Engine: clientgo.Kind.Engine, Queues: queues, Lacks: lacks, New: clientgo.NewOn(g.Enter, lacks), Host: g.Host,
		NotInterleaved: clientgo.Kind.NotInterleaved,
		Many:           func(interleave bool) subjects.Host { return g.Within(hangOfMany, interleave) },
	}
	if bubble.Seeded() {
		k.Interleaved = g.Interleaved
	}
	return k
}

// Serve is the guest: it makes the runs that its input asks for, until that ends. A Ctrl-C is for the process that asks, which may have more to ask.
func Serve() error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	return pipe.Serve(os.Stdin, os.Stdout)
}
