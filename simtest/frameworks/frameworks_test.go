package frameworks

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/simtest"
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"v": value}}
}

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

// recorder is a TB that records failures.
type recorder struct {
	name   string
	errors []string
	failed bool
}

func (r *recorder) Helper()             {}
func (r *recorder) Name() string        { return r.name }
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, a ...any) {
	r.failed = true
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}
func (r *recorder) FailNow()     { r.failed = true; runtime.Goexit() }
func (r *recorder) Failed() bool { return r.failed }

// failure returns what Run reports of a body that fails.
func failure(t *testing.T, body func(env *simtest.Env, assert gomega.Gomega)) string {
	r := &recorder{name: t.Name()}
	assert := gomega.NewGomega(func(message string, _ ...int) { r.Errorf("%s", message); r.FailNow() })
	done := make(chan bool)
	go func() {
		defer close(done)
		simtest.Run(r, simtest.Options{Seeds: 1}, func(env *simtest.Env) { body(env, assert) })
	}()
	<-done
	return strings.Join(r.errors, "\n")
}

// A failed assertion, in the body or in an invariant, fails the run with a full report.
func TestAssertionsThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		body func(env *simtest.Env, assert gomega.Gomega)
		want []string
	}{
		"in the body": {func(env *simtest.Env, assert gomega.Gomega) {
			env.Advance(time.Second)
			assert.Expect(1).To(gomega.Equal(2))
		}, []string{"to equal", "seed 1 · fault mix edges · 1 replica, no streaming lists\nFAIL  the body failed the test", "-simtest.seed=1"}},
		"in an invariant": {func(env *simtest.Env, assert gomega.Gomega) {
			env.Always("one is two", func() error { assert.Expect(1).To(gomega.Equal(2)); return nil })
			env.Advance(time.Second)
		}, []string{"to equal", "FAIL  one is two at step"}},
	} {
		message := failure(t, test.body)
		for _, want := range test.want {
			if !strings.Contains(message, want) {
				t.Errorf("%s: the message lacks %q:\n%s", name, want, message)
			}
		}
	}
}

// A property-based test chooses the inputs, takes failures as its own and shrinks them.
func TestInRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "n")
		simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) {
			for i := range n {
				env.Create(configMap(string(rune('a'+i)), ""))
			}
			m := rapid.IntRange(0, n-1).Draw(t, "m")
			if env.Get(configMap(string(rune('a'+m)), "")) != nil {
				t.Fatalf("%d is not there", m)
			}
		})
	})
}
