package simtest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/informersim/informersim/simtest"
)

var _ = ginkgo.Describe("simtest", func() {
	ginkgo.It("runs inside a spec", func() {
		runs := 0
		simtest.Run(ginkgo.GinkgoT(), simtest.Options{Seeds: 2}, func(env *simtest.Env) {
			env.Create(configMap("a", "1"))
			got := configMap("a", "")
			gomega.Expect(env.Get(got)).To(gomega.Succeed())
			gomega.Expect(got.Data).To(gomega.HaveKeyWithValue("v", "1"))
			runs++
		})
		gomega.Expect(runs).To(gomega.Equal(2))
	})
})

func TestSpecs(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "simtest")
}

// A failed assertion, in the body or in an invariant, fails the run with a full report.
func TestAssertionsThatFail(t *testing.T) {
	r := &recorder{name: t.Name()}
	assert := gomega.NewGomega(func(message string, _ ...int) { r.Errorf("%s", message); r.FailNow() })
	try(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
		env.Advance(time.Second)
		assert.Expect(1).To(gomega.Equal(2))
	})
	wantIn(t, strings.Join(r.errors, "\n"), "to equal", "seed 1 · fault mix edges · 1 replica, no streaming lists\nFAIL  the body failed the test", "-simtest.seed=1")

	r = &recorder{name: t.Name()}
	try(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
		env.Always("one is two", func() error { assert.Expect(1).To(gomega.Equal(2)); return nil })
		env.Advance(time.Second)
	})
	wantIn(t, strings.Join(r.errors, "\n"), "to equal", "FAIL  one is two at step")
}
