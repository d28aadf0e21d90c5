package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/controllers/stages"
)

// startNodes adds the nodes of --nodes and starts what makes Pods and other objects go on by themselves. A stage that does not fit an object
// is reported, and the object stays as it is.
func (w *served) startNodes(f server, out io.Writer) error {
	all, err := readStages(f.Stages, f.Nodes)
	if err != nil {
		return fmt.Errorf("--stages: %w", err)
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

// readStages reads files and sets; names without a dot or a slash are those of sets.
func readStages(names []string, nodes int) (all []*stages.Stage, err error) {
	if names == nil && nodes > 0 {
		names = []string{stages.DefaultSet}
	}
	for _, name := range names {
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
