package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A clone's first run compiles everything that this command links. A server's libraries belong to informersim-apiserver.
var notLinked = []string{
	"k8s.io/apiserver", "k8s.io/apiextensions-apiserver", "k8s.io/component-base", "k8s.io/kube-openapi/pkg/builder",
	"k8s.io/client-go/kubernetes", "k8s.io/client-go/informers", "k8s.io/client-go/discovery", "k8s.io/client-go/dynamic",
	"go.etcd.io", "google.golang.org/grpc", "github.com/google/cel-go", "cel.dev/expr", "go.opentelemetry.io", "github.com/prometheus",
	"github.com/informersim/informersim/fakeapiserver/rest", "github.com/informersim/informersim/fakeapiserver/transport",
	"github.com/informersim/informersim/fakeapiserver/types", "github.com/informersim/informersim/world",
}

// maxPackages limits the packages of other modules, but for the standard library, that the command links.
const maxPackages = 170

func TestLinksFewPackages(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if .Module}}{{.Module.Path}} {{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	others := 0
	for line := range strings.Lines(string(out)) {
		module, p, _ := strings.Cut(strings.TrimSpace(line), " ")
		if module != "github.com/informersim/informersim" {
			others++
		}
		for _, prefix := range notLinked {
			if p == "github.com/informersim/informersim/world/wire" {
				continue // the protocol of pipes, which is no more than the standard library
			}
			if p == prefix || strings.HasPrefix(p, prefix+"/") {
				t.Errorf("%s is linked; it belongs to informersim-apiserver", p)
			}
		}
	}
	if others > maxPackages {
		t.Errorf("%d packages of others are linked, want at most %d: find the new ones with go list -deps", others, maxPackages)
	}
}
