package builtin

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Errors about the entries of a map are listed in the same order every time, and all others where the code finds them.
func TestErrorsAreInOrder(t *testing.T) {
	const body = `{apiVersion: v1, kind: Pod, metadata: {name: P, labels: {"a!": b, "c!": d, "e!": f}}, spec: {restartPolicy: x, containers: [{name: c,
 resources: {limits: {"x!": 1, "y!": 2, "z!": 3}}}]}}`
	want := ""
	for range 20 {
		_, err := serve(t, "pods", "v1").create(body)
		var status *apierrors.StatusError
		if !errors.As(err, &status) || len(status.ErrStatus.Details.Causes) < 8 {
			t.Fatalf("the answer is %v", err)
		}
		if want == "" {
			want = err.Error()
		}
		if err.Error() != want {
			t.Fatalf("once\n%s\nand then\n%s", want, err)
		}
	}
}
