package scenarios

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// A Scenario is a parsed scenario. It is immutable and can be run many times, also concurrently.
type Scenario struct {
	// Name is the file's base name without .sim, or the name that the source gave.
	Name string
	file *script.File
	cmds []parsedCommand
	// extent bounds the configurations that are drawn.
	extent extent
}

type parsedCommand struct {
	Command
	syntax *script.Command
}

// Load reads and parses a script file. Errors are script.Error values with file:line:column.
func Load(path string) (*Scenario, error) {
	f, err := script.ParseFile(path)
	if err != nil {
		return nil, err
	}
	return FromScript(f)
}

// Parse parses a script; errors refer to it by name.
func Parse(name string, src []byte) (*Scenario, error) {
	f, err := script.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return FromScript(f)
}

// FromScript makes a scenario of a parsed script. All errors are reported, not just the first.
func FromScript(f *script.File) (*Scenario, error) { return fromScript(f, false) }

// fromScript is FromScript; loose takes payloads with unknown and duplicate fields, which older versions wrote into traces.
func fromScript(f *script.File, loose bool) (*Scenario, error) {
	s := &Scenario{Name: strings.TrimSuffix(filepath.Base(f.Name), ".sim"), file: f}
	var errs []error
	var args script.ArgReader
	all := f.Commands()
	s.cmds = make([]parsedCommand, 0, len(all))
	for _, c := range all {
		if !loose {
			errs = append(errs, checkOutput(f.Name, c))
		}
		cmd, err := parseCommand(c, &args)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.cmds = append(s.cmds, parsedCommand{Command: cmd, syntax: c})
	}
	if err := script.Join(errs...); err != nil {
		return nil, err
	}
	if err := check(s, loose); err != nil {
		return nil, err
	}
	s.extent = extentOf(s.cmds)
	return s, nil
}

// Text returns the scenario as a script in canonical form.
func (s *Scenario) Text() string { return string(script.Print(s.file)) }

// GoString returns the script, too: testing libraries print what they draw with %#v.
func (s *Scenario) GoString() string { return "\n" + s.Text() }

// File returns the syntax that the scenario was made from.
func (s *Scenario) File() *script.File { return s.file }

// Faults returns the kinds of faults in the script, in order of first use and without duplicates: the scenario's labels in a test
// suite.
func (s *Scenario) Faults() []string {
	var kinds []string
	seen := map[string]bool{}
	for _, c := range s.cmds {
		f, ok := c.Command.(interface{ faultKinds() []string })
		if !ok {
			continue
		}
		for _, k := range f.faultKinds() {
			if !seen[k] {
				seen[k] = true
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// check finds errors that every run would hit: names that are used before they are declared, or declared twice.
func check(s *Scenario, loose bool) error {
	d := declarations{names: map[string]string{}, resources: map[string]store.Resource{}, anyFields: map[string]bool{}, fields: fieldCache{}, types: map[string]reflect.Type{}, loose: loose,
		objects: map[payloadOf]runtime.Object{}, valid: map[keyOf]bool{}}
	var errs []error
	for _, c := range s.cmds {
		if n, ok := c.Command.(interface {
			declare(*declarations, *script.Command) error
		}); ok {
			errs = append(errs, n.declare(&d, c.syntax))
		}
	}
	return script.Join(errs...)
}

// declarations are the names that the commands so far have declared.
type declarations struct {
	names    map[string]string // name -> kind
	order    []string
	replicas int
	started  bool // a command has needed the cluster

	resources map[string]store.Resource
	anyFields map[string]bool // resources whose payloads may have any field
	loose     bool            // those of all may
	fields    fieldCache
	types     map[string]reflect.Type // of the objects of resources that payloads were for
	objects   map[payloadOf]runtime.Object
	valid     map[keyOf]bool  // keys that an apiserver would take
	indexes   map[string]bool // "i1 by-app"
}

// reservedNames are the names, or their first parts, of actors that every world has.
var reservedNames = []string{"clock", "cluster", "conn", "replica", "script"}

func (d *declarations) add(c *script.Command, name, kind string) error {
	if have, taken := d.names[name]; taken {
		return script.Errorf(c.Pos, "choose another name", "%s: %q is already the name of %s", c.Name, name, withArticle(have))
	}
	if kind != "resource" {
		switch {
		case strings.Contains(name, "/"):
			return script.Errorf(c.Pos, "choose another name", "%s: the name %q contains a slash", c.Name, name)
		case slices.Contains(reservedNames, name):
			return script.Errorf(c.Pos, "choose another name", "%s: the name %q is reserved", c.Name, name)
		}
	}
	d.names[name] = kind
	d.order = append(d.order, name)
	return nil
}

// need returns an error unless the name is declared as one of the kinds.
func (d *declarations) need(c *script.Command, name string, kinds ...string) error {
	have := d.names[name]
	var choices []string
	for _, w := range kinds {
		if have == w {
			return nil
		}
		choices = append(choices, d.all(w)...)
	}
	hint := "declare it first"
	if near := script.Suggest(name, choices); near != "" {
		hint = `did you mean "` + near + `"?`
	} else if len(choices) > 0 {
		hint = "declared: " + strings.Join(choices, ", ")
	}
	if have != "" {
		return script.Errorf(c.Pos, hint, "%s: %q is %s, not %s", c.Name, name, withArticle(have), withArticle(strings.Join(kinds, " or ")))
	}
	return script.Errorf(c.Pos, hint, "%s: there is no %s named %q", c.Name, strings.Join(kinds, " or "), name)
}

// all are the names of what is declared as a kind.
func (d *declarations) all(kind string) (names []string) {
	for _, n := range d.order {
		if d.names[n] == kind {
			names = append(names, n)
		}
	}
	return names
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
