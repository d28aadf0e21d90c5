package rest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// collapsing is a strategy with a mistake.
type collapsing struct{ types.Strategy }

func (collapsing) Validate(runtime.Object) field.ErrorList { panic("the floor gives way") }

// A request is carried out in a step of its own, after the one in which it came: a panic there is a 500 for who asked, whoever
// makes the step, and a word to the host. The server goes on.
func TestPanicInALaterStepIsAnswered(t *testing.T) {
	resources := types.Builtin(types.BuiltinOptions{})
	for _, r := range resources {
		if r.Plural == "configmaps" {
			r.Strategy = collapsing{r.Strategy}
		}
	}
	var told []string
	c := newFaultyOf(t, resources, func(r *transport.Request, value any, stack []byte) {
		told = append(told, r.Method+" "+r.URL.Path+" "+value.(string))
		if !strings.Contains(string(stack), "panic_test.go") {
			t.Errorf("the stack does not show where:\n%s", stack)
		}
	})
	_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "This request caused apiserver to panic") {
		t.Errorf("the answer is %v", err)
	}
	if want := "POST /api/v1/namespaces/default/configmaps the floor gives way"; len(told) != 1 || told[0] != want {
		t.Errorf("the host was told %q, want %q", told, want)
	}
	if _, err := c.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "b"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("after it: %v", err)
	}
}
