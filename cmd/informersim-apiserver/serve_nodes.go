package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/names"
	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
)

// startNodes adds the nodes of --nodes and starts what makes Pods and other objects go on by themselves. A stage that does not fit an object
// is reported, and the object stays as it is.
func (w *served) startNodes(f server, out io.Writer) error {
	all, err := readStages(f.Stages, f.Nodes)
	if err != nil {
		return fmt.Errorf("--stages: %w", err)
	}
	if err := f.checkWorkload(); err != nil {
		return err
	}
	o := controllers.Options{Delay: f.ControllerDelay, Lag: f.ControllerLag}
	w.pump.Do(func() {
		_, err = controllers.StartNodes(w.cluster, o, all, f.Nodes > 0, func(err error) { fmt.Fprintf(out, "stages: %v\n", err) })
		if err == nil && f.Nodes > 0 {
			err = controllers.AddNodes(w.cluster, f.Nodes)
		}
	})
	if err != nil {
		return fmt.Errorf("--nodes: %w", err)
	}
	return nil
}

// checkWorkload refuses the set where a controller writes the same status: each would undo what the other has written.
func (f server) checkWorkload() error {
	if !slices.Contains(f.Stages, "workload") {
		return nil
	}
	running, err := serveflags.Enabled(f.Controllers)
	if err != nil {
		return err
	}
	var both []string
	for _, name := range names.Workload {
		if slices.Contains(running, name) {
			both = append(both, name)
		}
	}
	if len(both) == 0 {
		return nil
	}
	return fmt.Errorf("--stages workload stands in for controllers that run here, too: %s; leave them out, with --controllers namespace for example, or leave out the set",
		strings.Join(both, ", "))
}

// readStages reads files and sets; names without a dot or a slash are those of sets.
func readStages(files []string, nodes int) (all []*stages.Stage, err error) {
	if files == nil && nodes > 0 {
		files = []string{stages.DefaultSet}
	}
	for _, name := range files {
		var more []*stages.Stage
		if strings.ContainsAny(name, `./\`) {
			var data []byte
			if data, err = os.ReadFile(name); err == nil {
				more, err = stages.Parse(name, data)
			}
		} else {
			more, err = stages.Set(name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}
