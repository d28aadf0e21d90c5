package scenarios

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/scenarios/script"
)

// show prints what a resource's store or an informer's Indexer holds, one object a line.
//
//	show pods
//	----
//	default/a rv=1
var showSpec = spec{
	name:  "show",
	usage: "show RESOURCE|INFORMER",
	doc:   "prints the keys and resourceVersions that the store or an informer holds",
	parse: func(r *script.ArgReader) Command { return &showCmd{what: r.Next("resource or informer").Value} },
}

type showCmd struct {
	what   string
	syntax *script.Command
}

func (c *showCmd) declare(d *declarations, s *script.Command) error {
	c.syntax = s
	return d.need(s, c.what, "informer", "resource")
}

func (c *showCmd) run(w *World) error {
	var b strings.Builder
	if inf := w.informers[c.what]; inf != nil {
		for _, k := range inf.Keys() {
			obj, _ := inf.Get(k)
			fmt.Fprintf(&b, "%s rv=%s\n", k, resourceVersion(obj))
		}
	} else {
		err := w.cluster.Store().Walk(w.resources[c.what], w.cluster.Store().Revision(), "", func(key string, obj runtime.Object) bool {
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

// lineLog collects lines until they are taken.
type lineLog struct{ b strings.Builder }

func (l *lineLog) line(format string, args ...any) { fmt.Fprintf(&l.b, format+"\n", args...) }

func (l *lineLog) take() string {
	if l == nil {
		return ""
	}
	s := l.b.String()
	l.b.Reset()
	return s
}
