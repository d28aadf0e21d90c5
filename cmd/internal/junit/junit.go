package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

// A Suite is what a command has checked.
type Suite struct {
	Name  string
	Took  time.Duration // real time
	Cases []Case
}

// A Case is a check. It passed if it has neither a failure nor an error.
type Case struct {
	Class, Name string
	Failure     *Problem // it does not hold
	Error       *Problem // it was not decided
}

// A Problem says why a case did not pass.
type Problem struct {
	Message string // in a line
	Text    string
}

// The elements of the file.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suite   suite    `xml:"testsuite"`
	}
	suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	testcase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *problem `xml:"failure,omitempty"`
		Error   *problem `xml:"error,omitempty"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

func (p *Problem) element() *problem {
	if p == nil {
		return nil
	}
	return &problem{reports.PlainLine(p.Message), reports.Plain(p.Text)}
}

// Write renders the suite as a file.
func (s *Suite) Write(w io.Writer) error {
	x := suite{Name: s.Name, Tests: len(s.Cases), Time: fmt.Sprintf("%.3f", s.Took.Seconds())}
	for _, c := range s.Cases {
		x.Cases = append(x.Cases, testcase{c.Class, c.Name, c.Failure.element(), c.Error.element()})
		if c.Failure != nil {
			x.Failures++
		}
		if c.Error != nil {
			x.Errors++
		}
	}
	data, err := xml.MarshalIndent(suites{Suite: x}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}

// WriteMarkdown renders the suite as a part of a job's summary: a line, and one for each case that did not pass.
func (s *Suite) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	var bad []string
	word := "PASS"
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			word = "FAIL"
			bad = append(bad, fmt.Sprintf("| %s | %s |", Cell(c.Name), Cell(c.Failure.Message)))
		case c.Error != nil:
			if word == "PASS" {
				word = "OPEN"
			}
			bad = append(bad, fmt.Sprintf("| %s | %s |", Cell(c.Name), Cell(c.Error.Message)))
		}
	}
	fmt.Fprintf(&b, "### %s\n\n**%s** %d of %s passed\n", Cell(s.Name), word, len(s.Cases)-len(bad), reports.Counted(len(s.Cases), "check"))
	if len(bad) > 0 {
		fmt.Fprintf(&b, "\n| | |\n|---|---|\n%s\n", strings.Join(bad, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Cell is text for a cell of a table, in which nothing means anything to Markdown.
func Cell(text string) string {
	text = reports.PlainLine(text)
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]<>()#+-!|&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// AddStepSummary adds what write writes to the summary of a GitHub job, if this is a part of one.
func AddStepSummary(write func(io.Writer) error) error {
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("$GITHUB_STEP_SUMMARY: %w", err)
	}
	return errors.Join(write(f), f.Close())
}
