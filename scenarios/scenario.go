package scenarios

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// Scenario is a parsed scenario. It is immutable and can be run many times, also at the same time.
type Scenario struct {
	// Name is the file's base name without .sim, or what the source calls it.
	Name string
	file *script.File
	cmds []parsedCommand
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

// Parse parses a script; name is what errors call it.
func Parse(name string, src []byte) (*Scenario, error) {
	f, err := script.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return FromScript(f)
}

// FromScript gives the commands of a script their meaning. All errors are reported, not just the first.
func FromScript(f *script.File) (*Scenario, error) {
	s := &Scenario{Name: strings.TrimSuffix(filepath.Base(f.Name), ".sim"), file: f}
	var errs []error
	for _, c := range f.Commands() {
		cmd, err := parseCommand(c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.cmds = append(s.cmds, parsedCommand{Command: cmd, syntax: c})
	}
	if err := script.Join(errs...); err != nil {
		return nil, err
	}
	if err := check(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Text is the scenario as a script, in canonical form.
func (s *Scenario) Text() string { return string(script.Print(s.file)) }

// File is the syntax that the scenario was made from.
func (s *Scenario) File() *script.File { return s.file }

// Faults are the kinds of faults that the script orders, in order of first use and without repetition: the labels of the
// scenario in a test suite.
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

// check finds at parse time what every run would trip over: names used before they exist, or twice.
func check(s *Scenario) error {
	d := declarations{names: map[string]string{}, resources: map[string]store.Resource{}}
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

// declarations are the names that the commands so far have made: name -> what it is.
type declarations struct {
	names    map[string]string
	order    []string
	replicas int
	started  bool // something that needs the cluster was seen

	resources map[string]store.Resource
}

// takenNames are the names of what is in every world, and the first parts of such names.
var takenNames = []string{"clock", "cluster", "conn", "replica", "script"}

func (d *declarations) add(c *script.Command, name, what string) error {
	if have, taken := d.names[name]; taken {
		return script.Errorf(c.Pos, "choose another name", "%s: there is %s named %q already", c.Name, withArticle(have), name)
	}
	if what != "resource" && (strings.Contains(name, "/") || slices.Contains(takenNames, name)) {
		return script.Errorf(c.Pos, "choose another name", "%s: %q cannot name %s: parts of every world are called that", c.Name, name, withArticle(what))
	}
	d.names[name] = what
	d.order = append(d.order, name)
	return nil
}

// need reports a name that is not one of the wanted sort.
func (d *declarations) need(c *script.Command, name string, what ...string) error {
	have := d.names[name]
	var choices []string
	for _, w := range what {
		if have == w {
			return nil
		}
		for _, n := range d.order {
			if d.names[n] == w {
				choices = append(choices, n)
			}
		}
	}
	hint := "declare it first"
	if near := script.Suggest(name, choices); near != "" {
		hint = `did you mean "` + near + `"?`
	} else if len(choices) > 0 {
		hint = "there are " + strings.Join(choices, ", ")
	}
	if have != "" {
		return script.Errorf(c.Pos, hint, "%s: %q is %s, not %s", c.Name, name, withArticle(have), withArticle(strings.Join(what, " or ")))
	}
	return script.Errorf(c.Pos, hint, "%s: there is no %s named %q", c.Name, strings.Join(what, " or "), name)
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
