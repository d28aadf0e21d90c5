package scenarios_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
	"github.com/informersim/informersim/subjects/stack"
)

var (
	rewrite = flag.Bool("rewrite", false, "replace the expected outputs in testdata/*.sim by the actual ones")
	seeds   = flag.Uint64("seeds", 50, "number of schedules of each scenario to explore")
)

func TestScenarios(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Scenarios")
}

// The catalogue: each script is a container of specs, labelled with its theme, its faults, the components that it needs, and the
// historical bugs that it cites.
//
//	go test ./scenarios -ginkgo.label-filter=watch-410
//	go test ./scenarios -ginkgo.label-filter='streaming-list && !workers'
//	go test ./scenarios -ginkgo.label-filter=k115658 -ginkgo.junit-report=report.xml
//	go test ./scenarios -run TestScenarios -rewrite
var _ = Describe("scenario", func() {
	themes := map[string]string{}
	entries, err := scenarios.Catalogue()
	if err != nil {
		panic(err) // TestCatalogueHasThemes says so, too
	}
	for _, e := range entries {
		themes[e.Name] = e.Theme
	}
	for _, path := range catalogue() {
		s, err := scenarios.Load(path)
		if err != nil {
			It(path+" can be read", func() { Fail(err.Error()) })
			continue
		}
		Context(s.Name, Label(s.Labels()...), Label(themes[s.Name]), func() {
			for _, kind := range kinds.All() {
				It("matches its transcript on "+kind.Name, func(ctx SpecContext) { playTranscript(ctx, s, kind, path) })
			}
			It("holds under other schedules", func(ctx SpecContext) { explore(ctx, s, path, "none") })
			It("holds under other schedules and faults", func(ctx SpecContext) { explore(ctx, s, path, "default") })
		})
	}
})

func catalogue() []string {
	paths, err := filepath.Glob("testdata/*.sim")
	if err != nil {
		panic(err) // the pattern is good
	}
	return paths
}

func withProperties(seed uint64) scenarios.Options {
	return scenarios.Options{Subject: stack.Kind, Seed: seed, Properties: properties.All()}
}

func playTranscript(ctx context.Context, s *scenarios.Scenario, kind subjects.Kind, path string) {
	GinkgoHelper()
	o := withProperties(1)
	o.Subject = kind
	res, err := scenarios.Run(ctx, s, o)
	Expect(err).NotTo(HaveOccurred())
	if *rewrite && kind.Name == stack.Kind.Name {
		text, err := script.Rewrite(s.File(), res.Outputs)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path, text, 0o666)).To(Succeed())
		res.Mismatches = slices.DeleteFunc(res.Mismatches, func(m reports.Mismatch) bool { return m.Message == "" })
	}
	if !res.Passed() {
		Fail(textOf(res, "informersim run --subject "+kind.Name+" scenarios/"+path))
	}
}

// explore runs a scenario under many schedules. One about a known bug need not show it.
func explore(ctx context.Context, s *scenarios.Scenario, path, mix string) {
	GinkgoHelper()
	m, err := fault.MixNamed(mix)
	Expect(err).NotTo(HaveOccurred())
	runs := map[uint64]bool{}
	for seed := uint64(1); seed <= *seeds; seed++ {
		o := withProperties(seed)
		o.Mix = &m
		res, err := scenarios.Run(ctx, s, o)
		Expect(err).NotTo(HaveOccurred(), "seed %d", seed)
		if !res.Passed() {
			Fail(textOf(res, fmt.Sprintf("informersim run scenarios/%s --seed %d --fault-mix %s", path, seed, mix)))
		}
		runs[res.Hash] = true
	}
	Expect(runs).To(HaveLen(int(*seeds)), "two seeds made the same run")
}

func textOf(res *scenarios.Result, line string) string {
	GinkgoHelper()
	var b strings.Builder
	Expect(reports.WriteText(&b, reports.Report{Run: &res.Run, Replay: []string{line}})).To(Succeed())
	return b.String()
}
