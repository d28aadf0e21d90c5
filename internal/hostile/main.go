package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// leastRefused is how many inputs must have been refused before the checks count.
const leastRefused = 500

// config is the command line.
type config struct {
	bin, apiserver, keep, only string
	seed                       uint64
}

func main() {
	c := config{}
	flag.StringVar(&c.bin, "bin", "", "the `file` of informersim")
	flag.StringVar(&c.apiserver, "apiserver", "", "the `file` of informersim-apiserver")
	flag.StringVar(&c.keep, "keep", "", "the `folder` for the inputs of failures; created, and emptied")
	flag.StringVar(&c.only, "only", "", "run only the inputs whose `ID` begins so")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the inputs")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c config) run() (err error) {
	for _, path := range []*string{&c.bin, &c.apiserver, &c.keep} {
		if *path == "" {
			return fmt.Errorf("give --bin, --apiserver and --keep")
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(c.keep); err != nil {
		return err
	}
	if err := os.MkdirAll(c.keep, 0o777); err != nil {
		return err
	}
	goods, err := c.goodInputs()
	if err != nil {
		return err
	}
	cases := append(c.fileCases(goods), c.flagCases(goods)...)
	t := &tally{config: c}
	work := make(chan *input)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for in := range work {
				t.add(in.id, in.dir(c), in.must, c.judge(in))
			}
		})
	}
	var waiting sync.WaitGroup // what waits costs time and nothing else
	for _, in := range cases {
		switch {
		case !strings.HasPrefix(in.id, c.only):
		case in.waits:
			waiting.Go(func() { t.add(in.id, in.dir(c), in.must, c.judge(in)) })
		default:
			work <- in
		}
	}
	close(work)
	workers.Wait()
	waiting.Wait()
	if err := c.requestCases(t); err != nil {
		return err
	}
	return t.report(c.only != "")
}

// verdict says what must become of an input.
type verdict int

const (
	either  verdict = iota // it may still be valid
	refused                // it is bad
)

// outcome is what became of one.
type outcome struct {
	refused bool
	faults  []string // what is wrong with how it was handled
}

// tally counts outcomes and prints failures.
type tally struct {
	config config
	mu     sync.Mutex
	slow   []string
	counts struct{ bad, refused, accepted, failed int }
}

func (t *tally) add(id, dir string, must verdict, o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.refused {
		t.counts.refused++
	} else {
		t.counts.accepted++
	}
	if must == refused {
		if t.counts.bad++; !o.refused {
			o.faults = append([]string{"it is bad input, and was accepted"}, o.faults...)
		}
	}
	if len(o.faults) == 0 {
		_ = os.RemoveAll(dir) // what stays is only more to look at
		return
	}
	t.counts.failed++
	fmt.Printf("FAILED %s\n  %s\n", id, strings.Join(o.faults, "\n  "))
	fmt.Printf("  the input is kept in %s; again:\n  go run ./internal/hostile --bin %s --apiserver %s --keep %s --seed %d --only %s\n",
		dir, t.config.bin, t.config.apiserver, filepath.Join(os.TempDir(), "hostile"), t.config.seed, id)
}

func (t *tally) report(partial bool) error {
	n := t.counts
	fmt.Printf("%d inputs: %d refused, %d accepted; %d of them had to be refused; seed %d\n", n.refused+n.accepted, n.refused, n.accepted, n.bad, t.config.seed)
	switch {
	case n.failed > 0:
		return fmt.Errorf("%d inputs were not handled as they should", n.failed)
	case !partial && n.refused < leastRefused:
		return fmt.Errorf("only %d inputs were refused, and at least %d should be: the generators no longer reach the formats", n.refused, leastRefused)
	}
	return nil
}

// patience is how long a command may take. It is long because the machine may be busy: what hangs takes longer.
const patience = 30 * time.Second
