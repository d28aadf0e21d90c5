package ginkgosuite

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
)

// Register makes specs of the files that a pattern of filepath.Match means, from the test's folder. Call it while Ginkgo's tree is
// built, like Describe; the result means nothing. A file that cannot be read, and a pattern without a file, is a spec that fails.
func Register(pattern string, o Options) bool {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file matches %s, from the test's folder", pattern)
	}
	if err != nil {
		return failing("scenarios of "+pattern, err)
	}
	for _, file := range files {
		s, err := scenarios.Load(file)
		if err != nil {
			failing("scenario "+file, err)
			continue
		}
		ginkgo.Describe("scenario "+s.Name, ginkgo.Label(s.Labels()...), func() { o.register(file, s) })
	}
	return true
}

func failing(what string, err error) bool {
	return ginkgo.Describe(what, func() {
		ginkgo.It("can be read", func() { ginkgo.Fail(err.Error()) })
	})
}

// register makes the specs of a file.
func (o *Options) register(file string, s *scenarios.Scenario) {
	for _, kind := range o.subjects() {
		ginkgo.It("is as expected on "+kind.Name, ginkgo.Label(kind.Name), func(ctx ginkgo.SpecContext) {
			o.play(ctx, file, s, o.transcript(kind))
		})
		if o.Seeds == 0 {
			continue
		}
		faults := ""
		if o.Mix != "" {
			faults = " with the faults of " + o.Mix
		}
		ginkgo.It(fmt.Sprintf("holds in %s%s on %s", reports.Counted(int(o.Seeds), "other order"), faults, kind.Name), ginkgo.Label(kind.Name),
			func(ctx ginkgo.SpecContext) { o.explore(ctx, file, s, kind) })
	}
}

func (o *Options) explore(ctx context.Context, file string, s *scenarios.Scenario, kind subjects.Kind) {
	mix, err := o.mix()
	if err != nil {
		ginkgo.Fail(err.Error())
	}
	for seed := uint64(1); seed <= o.Seeds; seed++ {
		run := o.transcript(kind)
		run.Seed, run.Mix = seed, mix
		o.play(ctx, file, s, run)
	}
}

// play makes a run, and fails the spec if it does not pass.
func (o *Options) play(ctx context.Context, file string, s *scenarios.Scenario, run scenarios.Options) {
	ginkgo.GinkgoHelper()
	res, err := scenarios.Run(ctx, s, run)
	if err != nil {
		ginkgo.Fail(fmt.Sprintf("%s on %s, seed %d: %v", file, run.Subject.Name, run.Seed, err))
	}
	if !res.Passed() {
		ginkgo.Fail(o.failure(ctx, s, run, res))
	}
}
