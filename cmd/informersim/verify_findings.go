package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/informersim/informersim/reports"
)

// findings are the first failed runs of seeds, in the order of the seeds.
type findings []*reports.Run

func (f *findings) add(run *reports.Run) {
	if !run.Passed() && !slices.ContainsFunc(*f, func(r *reports.Run) bool { return r.Seed == run.Seed }) {
		*f = append(*f, run)
	}
}

// maxFindings bounds the findings that are shown in full.
const maxFindings = 3

// conclude reports what was found: properties that broke, and a difference, if there is one. A broken property is what a user
// wants to know first, so it decides the exit code.
func (v *verifier) conclude(out io.Writer, diff *difference) error {
	v.differs = diff
	for n, run := range v.found {
		if n == maxFindings {
			fmt.Fprintf(out, "\n%d more seeds fail\n", len(v.found)-n)
			break
		}
		fmt.Fprintln(out)
		report := reports.Report{Run: run, Replay: []string{v.runner.commandLine(run)}}
		if diff != nil && diff.seed == run.Seed {
			report.Notes = []string{"not deterministic: other runs of this seed differ"}
		}
		if err := reports.WriteText(out, report); err != nil {
			return err
		}
	}
	if diff == nil {
		return broken{v.found[0].Verdict()}
	}
	err := diff.report()
	v.keep(out, diff)
	if len(v.found) > 0 {
		fmt.Fprintf(v.runner.c.ErrOrStderr(), "not deterministic: %v\n", err)
		return broken{v.found[0].Verdict()}
	}
	return err
}

// told writes what verify has found for machines.
func (v *verifier) told(o *results, err error) error {
	o.name("verify", v.runner.scenario.Name, v.runner.subject.Name)
	for _, run := range v.found {
		o.addRun(run, v.runner.commandLine(run))
	}
	same := "every run of a seed is the same run"
	switch {
	case v.differs != nil && (err == nil || errors.As(err, new(broken))):
		o.add(same, fmt.Sprintf("two runs of seed %d differ", v.differs.seed), "")
	case err == nil || errors.As(err, new(broken)):
		o.add(same, "", "")
	}
	return o.end(v.runner.c.Context(), err)
}

// broughtDown reports what was found before an error ended the command.
func (v *verifier) broughtDown(out io.Writer, diff *difference, err error) error {
	if diff == nil && len(v.found) == 0 {
		return err
	}
	v.runner.warn("not all seeds were run: %v", err)
	return v.conclude(out, diff)
}

// keep writes both traces of a difference to files.
func (v *verifier) keep(out io.Writer, d *difference) {
	for n, trace := range [][]byte{d.left, d.right} {
		path := fmt.Sprintf("%s.run%d%s", v.runner.identified(d.seed).FileName(), n+1, traceSuffix)
		if err := final(traceTarget(path, false, v.runner.file, v.runner.flags.mix)).Write(context.Background(), trace); err != nil {
			v.runner.warn("a trace is not kept: %v", err)
			continue
		}
		fmt.Fprintf(out, "  trace of %s: %s\n", []string{"run 1", d.what}[n], path)
	}
}
