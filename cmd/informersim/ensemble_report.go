package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
)

// ensembleFile is the page of a campaign in its folder.
const ensembleFile = "report.html"

// ensemblePage renders the page of a campaign. reportOf returns the report of a finding as a page at that place links it, "" for none.
func ensemblePage(c *campaign.Campaign, reportOf func(*campaign.Finding) string) ([]byte, error) {
	t := c.Total()
	e := &html.Ensemble{
		Title: c.Title(), Verdict: c.Verdict(), Missing: c.Missing(), Properties: c.Properties, Expected: slices.Sorted(maps.Keys(t.Expected)), Runs: t.Done, Steps: t.Steps, Virtual: t.Virtual,
		Faults: t.Faults, Coverage: t.Coverage, Build: reports.Build(c.Asked.Build), Took: t.Took,
	}
	for _, k := range fault.Kinds() {
		e.Kinds = append(e.Kinds, string(k))
	}
	for _, u := range c.Undecided {
		first, _, _ := strings.Cut(u.Why, "\n")
		e.Undecided = append(e.Undecided, fmt.Sprintf("seed %d: %s", u.Seed, first))
	}
	for _, f := range c.Findings {
		message, _, _ := strings.Cut(f.Message, "\n")
		e.Findings = append(e.Findings, html.Finding{
			Property: f.Property, Reason: f.Reason, Message: message, Seed: f.Seed, RunsTo: c.RunsTo(f), Count: f.Count, Size: f.Size, Again: f.Again,
			Link: reportOf(f),
		})
	}
	return html.RenderEnsemble(e)
}

// linked returns how a page links the reports of findings that lie where at says.
func linked(page string, at func(*campaign.Finding) string) func(*campaign.Finding) string {
	return func(f *campaign.Finding) string {
		target, err := filepath.Rel(filepath.Dir(page), filepath.Join(at(f), pageFile))
		if _, there := os.Stat(filepath.Join(at(f), pageFile)); err != nil || there != nil {
			return ""
		}
		return (&url.URL{Path: filepath.ToSlash(target)}).EscapedPath()
	}
}

// ofFolder renders the page of the campaign in a folder, as a file at out.
func ofFolder(dir, out string) ([]byte, error) {
	c, err := campaign.Load(dir)
	if err != nil {
		return nil, err
	}
	return ensemblePage(c, linked(out, func(f *campaign.Finding) string { return campaign.PathIn(dir, f) }))
}

// pageTarget is the file of fuzz --report.
func (z *fuzzer) pageTarget() outfile.Target {
	return final(reportTarget("--report", z.flags.report, false, append(z.files, z.flags.junit)...))
}

// checkPage refuses a --report that cannot be written, before any run is made.
func (z *fuzzer) checkPage() error {
	if z.flags.report == "" {
		return nil
	}
	target := z.pageTarget()
	if err := target.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// page writes the page of --report, if there is to be one.
func (z *fuzzer) page() error {
	if z.flags.report == "" {
		return nil
	}
	data, err := ensemblePage(z.state, linked(z.flags.report, z.keeper.FindingPath))
	if err != nil {
		return err
	}
	target := z.pageTarget()
	return target.Write(context.WithoutCancel(z.c.Context()), data)
}
