package scenarios

import (
	"fmt"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// indexer adds an index to an informer, which has started: the objects that it holds are indexed at once (I73).
//
//	indexer i1 by-app by=label:app
//	indexer i1 all by=labels,namespace
//	indexer i1 broken by=name fails=default/b
var indexerSpec = spec{
	name:  "indexer",
	usage: "indexer INFORMER NAME by=namespace|name|labels|label:KEY,... [fails=OBJECT]",
	doc: "adds an index to an informer: an object is found under every value that by= gives it, with labels one for each label. For the object of fails= " +
		"the index function returns an error, which panics (I71)",
	parse: func(r *script.ArgReader) Command {
		c := &indexerCmd{informer: r.Next("informer").Value}
		c.spec.Name = r.Next("name").Value
		at := r.Require("by")
		c.spec.By = r.List("by")
		c.spec.Fails = r.String("fails", "")
		if err := c.spec.Validate(); err != nil && !r.Failed() {
			r.Fail(script.Errorf(at.Pos, "write it like by=label:app,namespace", "indexer: %v", err))
		}
		return c
	},
}

type indexerCmd struct {
	informer string
	spec     subjects.IndexSpec
}

func (c *indexerCmd) declare(d *declarations, s *script.Command) error {
	if err := d.need(s, c.informer, "informer"); err != nil {
		return err
	}
	name := c.informer + " " + c.spec.Name
	if d.indexes[name] || c.spec.Name == subjects.NamespaceIndex().Name {
		return script.Errorf(s.Pos, "choose another name", "indexer: informer %s has an index %q already", c.informer, c.spec.Name)
	}
	if d.indexes == nil {
		d.indexes = map[string]bool{}
	}
	d.indexes[name] = true
	return nil
}

func (c *indexerCmd) run(w *World) error {
	if w.stopped[c.informer] {
		return fmt.Errorf("indexer %s: informer %s is stopped, and accepts no index (I73)", c.spec.Name, c.informer)
	}
	if err := w.informers[c.informer].AddIndex(c.spec); err != nil {
		return fmt.Errorf("indexer %s: %w", c.spec.Name, err)
	}
	return nil
}
