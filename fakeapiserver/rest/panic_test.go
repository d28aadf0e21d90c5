package rest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	kinds "github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// panicking is a strategy that panics.
type panicking struct{ storage }

type storage interface {
	types.Strategy
	types.Storage
}

func (panicking) Create(*types.Write, runtime.Object) (types.Outcome, error) {
	panic("the floor gives way")
}

// A request is served in a later step than the one in which it arrives. A panic there is answered with a 500 and reported to the
// host, and the server keeps serving.
func TestPanicInALaterStepIsAnswered(t *testing.T) {
	resources := kinds.Resources(kinds.Options{})
	for _, r := range resources {
		if r.Plural == "configmaps" {
			r.Strategy = panicking{r.Strategy.(storage)}
		}
	}
	var reported []string
	c := newFaultyOf(t, resources, func(r *transport.Request, value any, stack []byte) {
		reported = append(reported, r.Method+" "+r.URL.Path+" "+value.(string))
		if !strings.Contains(string(stack), "panic_test.go") {
			t.Errorf("the stack does not show where:\n%s", stack)
		}
	})
	_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "This request caused apiserver to panic") {
		t.Errorf("the answer is %v", err)
	}
	if want := "POST /api/v1/namespaces/default/configmaps the floor gives way"; len(reported) != 1 || reported[0] != want {
		t.Errorf("the panic was reported as %q, want %q", reported, want)
	}
	if _, err := c.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("the next request: %v", err)
	}
}
