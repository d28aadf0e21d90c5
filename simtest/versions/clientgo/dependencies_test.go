package clientgo

import (
	"os/exec"
	"strings"
	"testing"
)

// notLinked is what belongs to the engine's process: a test must not compile it.
var notLinked = []string{
	"k8s.io/apiserver", "k8s.io/apiextensions-apiserver", "k8s.io/component-base", "k8s.io/kubernetes", "go.etcd.io", "google.golang.org/grpc",
	"github.com/google/cel-go", "cel.dev/expr", "go.opentelemetry.io", "github.com/prometheus", "sigs.k8s.io/controller-runtime",
}

// seeded is linked only to be seeded: one file on top of the standard library, from a module that every controller has.
const seeded = "k8s.io/apimachinery/pkg/util/rand"

// maxPackages limits the packages outside the standard library that a user's test links, with any release of client-go.
const maxPackages = 520

func TestLinksFewPackages(t *testing.T) {
	controller, test := packages(t), packages(t, "-test")
	if len(test) > maxPackages {
		t.Errorf("%d packages are linked, want at most %d: find the new ones with go list -deps -test", len(test), maxPackages)
	}
	own := map[string]bool{}
	for _, p := range controller {
		own[p] = true
	}
	for _, p := range test {
		for _, prefix := range notLinked {
			if p == prefix || strings.HasPrefix(p, prefix+"/") {
				t.Errorf("%s is linked; it belongs to the engine", p)
			}
		}
		if !own[p] && p != seeded && !strings.HasPrefix(p, "github.com/informersim/informersim/simtest") {
			t.Errorf("%s is linked because of simtest: a controller that uses client-go does not need it", p)
		}
	}
}

// packages returns what is linked from outside of the standard library.
func packages(t *testing.T, flags ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, flags...)
	out, err := exec.Command("go", append(args, ".")...).Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	seen := map[string]bool{}
	var all []string
	for line := range strings.Lines(string(out)) {
		p, _, _ := strings.Cut(strings.TrimSpace(line), " ") // "path [path.test]" is the same package, compiled for the test
		if p != "" && !seen[p] {
			seen[p] = true
			all = append(all, p)
		}
	}
	return all
}
