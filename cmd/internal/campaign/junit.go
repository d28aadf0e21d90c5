package campaign

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/informersim/informersim/cmd/internal/junit"
)

// WriteJUnit renders the campaign as a JUnit report: a case for each property that held, for each finding, for each seed without a
// verdict, and for what was not run.
func (c *Campaign) WriteJUnit(w io.Writer) error {
	t := c.Total()
	class := "informersim.fuzz." + c.Asked.Subject
	s := junit.Suite{Name: c.Title(), Took: t.Took}
	for _, p := range c.Properties {
		if t.Expected[p] == 0 && !slices.ContainsFunc(c.Findings, func(f *Finding) bool { return f.Property == p }) {
			s.Cases = append(s.Cases, junit.Case{Class: class, Name: p})
		}
	}
	for _, f := range c.Findings {
		text := fmt.Sprintf("%s\nseed %d%s\n%s", f.Message, f.Seed, also(f), strings.Join(f.Again, "\n"))
		s.Cases = append(s.Cases, junit.Case{Class: class, Name: f.Name, Failure: &junit.Problem{Message: f.headline(), Text: text}})
	}
	for _, u := range c.Undecided {
		s.Cases = append(s.Cases, junit.Case{Class: class, Name: fmt.Sprintf("seed %d", u.Seed), Error: &junit.Problem{Message: "no verdict", Text: u.Why}})
	}
	if m := c.Missing(); len(m) > 0 {
		s.Cases = append(s.Cases, junit.Case{Class: class, Name: "all seeds", Error: &junit.Problem{Message: "not all seeds were run", Text: strings.Join(m, "\n")}})
	}
	if c.Nothing() && len(c.Undecided) == 0 && len(c.Missing()) == 0 {
		s.Cases = append(s.Cases, junit.Case{Class: class, Name: "all seeds", Error: &junit.Problem{Message: "nothing was checked", Text: c.Verdict()}})
	}
	return s.Write(w)
}
