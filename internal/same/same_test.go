package same_test

import (
	"testing"
	"time"

	"github.com/informersim/informersim/internal/same"
)

func TestPlainly(t *testing.T) {
	values := []any{"1", "", true, false, 1, 0, int64(1), int64(0), time.Duration(1), time.Duration(0), nil, []string{"1"}}
	for i, a := range values {
		for j, b := range values {
			if got, want := same.Plainly(a, b), i == j && i < 10; got != want {
				t.Errorf("%T %v and %T %v: %v", a, a, b, b, got)
			}
		}
	}
}
