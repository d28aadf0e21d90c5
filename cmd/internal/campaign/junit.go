package campaign

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
)

// The elements of a JUnit report, as far as CI systems read them.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitProblem `xml:"failure,omitempty"`
		Error   *junitProblem `xml:"error,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit renders the campaign as a JUnit report: a case for each property that held, for each finding, for each seed without a
// verdict, and for what was not run.
func (c *Campaign) WriteJUnit(w io.Writer) error {
	t := c.Total()
	class := "informersim.fuzz." + c.Asked.Subject
	s := junitSuite{Name: c.Title(), Time: fmt.Sprintf("%.3f", t.Took.Seconds())}
	for _, p := range c.Properties {
		if !slices.ContainsFunc(c.Findings, func(f *Finding) bool { return f.Property == p }) {
			s.Cases = append(s.Cases, junitCase{Class: class, Name: p})
		}
	}
	for _, f := range c.Findings {
		text := fmt.Sprintf("%s\nseed %d%s\n%s", f.Message, f.Seed, also(f), strings.Join(f.Again, "\n"))
		s.Cases = append(s.Cases, junitCase{Class: class, Name: f.Name, Failure: &junitProblem{reports.PlainLine(f.headline()), reports.Plain(text)}})
		s.Failures++
	}
	for _, u := range c.Undecided {
		s.Cases = append(s.Cases, junitCase{Class: class, Name: fmt.Sprintf("seed %d", u.Seed), Error: &junitProblem{"no verdict", reports.Plain(u.Why)}})
		s.Errors++
	}
	if m := c.Missing(); len(m) > 0 {
		s.Cases = append(s.Cases, junitCase{Class: class, Name: "all seeds", Error: &junitProblem{"not all seeds were run", strings.Join(m, "\n")}})
		s.Errors++
	}
	s.Tests = len(s.Cases)
	data, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}
