package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/junit"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
)

// results are the verdicts of a command for machines: a JUnit file, if there is to be one, and the summary of a GitHub job.
type results struct {
	file    string // of --junit
	target  outfile.Target
	suite   junit.Suite
	class   string
	started time.Time
}

// define adds the flag --junit.
func (o *results) define(c *cobra.Command) {
	c.Flags().StringVar(&o.file, "junit", "", "write the verdict to this `file`, as JUnit does")
}

// begin refuses a file that cannot be written, before anything is run.
func (o *results) begin(c *cobra.Command, inputs ...string) error {
	o.started = time.Now()
	if err := cli.NotEmpty(c, "junit"); err != nil || o.file == "" {
		return err
	}
	o.target = junitTarget(c, o.file, inputs)
	if err := o.target.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (o *results) name(words ...string) {
	o.suite.Name, o.class = "informersim "+strings.Join(words, " "), "informersim."+strings.Join(words, ".")
}

// add adds a check; "" for a message if it passed.
func (o *results) add(name, message, text string) {
	c := junit.Case{Class: o.class, Name: name}
	if message != "" {
		c.Failure = &junit.Problem{Message: message, Text: text}
	}
	o.suite.Cases = append(o.suite.Cases, c)
}

// addRun adds the checks of a run: each property, and whatever else it broke. again repeats it.
func (o *results) addRun(run *reports.Run, again string) {
	broke := ""
	if v := run.Violation; v != nil && !run.Passed() {
		broke = v.Property
		o.add(v.Property, reports.PlainLine(v.Message), v.Error()+"\n"+again)
	}
	for _, p := range run.Properties {
		if p != broke {
			o.add(p, "", "")
		}
	}
	switch {
	case broke != "" || run.Passed():
	case run.Failure != "":
		first, _, _ := strings.Cut(run.Failure, "\n")
		o.add("the run", first, run.Failure+"\n"+again)
	case len(run.Mismatches) > 0:
		text := ""
		for _, m := range run.Mismatches {
			text += m.At + ": " + m.Message + "\nexpected:\n" + m.Expected + "\nactual:\n" + m.Actual + "\n"
		}
		o.add("the transcript", "the transcript is not as expected", text+again)
	default:
		o.add(run.Expected, "the scenario should break it, but it held", again)
	}
}

// end writes what was checked. err is that of the command: what is no verdict is a check that was not decided.
func (o *results) end(ctx context.Context, err error) error {
	if err != nil && !errors.As(err, new(broken)) && !errors.As(err, new(reported)) {
		p := &junit.Problem{Message: reports.PlainLine(err.Error()), Text: err.Error()}
		c := junit.Case{Class: o.class, Name: "a verdict"}
		if codeOf(err) == exitNotDeterministic {
			c.Name, c.Failure = "every run of a seed is the same run", p
		} else {
			c.Error = p
		}
		o.suite.Cases = append(o.suite.Cases, c)
	}
	o.suite.Took = time.Since(o.started)
	if o.file != "" {
		var b bytes.Buffer
		wrote := o.suite.Write(&b)
		if wrote == nil {
			wrote = o.target.Write(context.WithoutCancel(ctx), b.Bytes())
		}
		err = errors.Join(err, wrote)
	}
	return errors.Join(err, junit.AddStepSummary(o.suite.WriteMarkdown))
}

// told writes what run has found. A range of seeds is what its last run says: it ends at the first that fails.
func (r *runner) told(err error) error {
	o := &r.flags.results
	o.name("run", r.scenario.Name, r.subject.Name)
	if r.seen != nil {
		o.addRun(r.seen, r.commandLine(r.seen))
	}
	return o.end(r.c.Context(), err)
}
