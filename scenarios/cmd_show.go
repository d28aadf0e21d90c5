package scenarios

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/scenarios/script"
)

// show prints the objects in the store or in an informer's Indexer, one per line.
//
//	show pods
//	----
//	default/a rv=1
var showSpec = spec{
	name:  "show",
	usage: "show RESOURCE|INFORMER",
	doc:   "prints the keys and resourceVersions of the objects in the store or in an informer",
	parse: func(r *script.ArgReader) Command { return &showCmd{name: r.Next("resource or informer").Value} },
}

type showCmd struct {
	name   string
	syntax *script.Command
}

func (c *showCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	return d.need(s, c.name, "informer", "resource")
}

func (c *showCmd) run(w *World) error {
	var b strings.Builder
	if inf := w.informers[c.name]; inf != nil {
		for _, k := range inf.Keys() {
			obj, _ := inf.Get(k)
			fmt.Fprintf(&b, "%s rv=%s\n", k, resourceVersion(obj))
		}
	} else {
		err := w.cluster.Store().Walk(w.resources[c.name], w.cluster.Store().Revision(), "", func(key string, obj runtime.Object) bool {
			fmt.Fprintf(&b, "%s rv=%s\n", key, resourceVersion(obj))
			return true
		})
		if err != nil {
			return err
		}
	}
	w.output(c.syntax, b.String())
	return nil
}

func resourceVersion(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}

// lineLog collects lines until take returns them.
type lineLog struct{ text []byte }

// line adds a line that says something of somebody, or of nobody.
func (l *lineLog) line(of, what string) {
	if of != "" {
		l.text = append(append(l.text, of...), ' ')
	}
	l.text = append(append(l.text, what...), '\n')
}

func (l *lineLog) take() string {
	if l == nil {
		return ""
	}
	s := string(l.text)
	l.text = l.text[:0]
	return s
}
