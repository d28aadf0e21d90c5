package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/informersim/informersim/conformance/bench"
)

// TestBenchMeasuresAFakeServer runs every measurement once, with small sizes, over a socket and in process.
func TestBenchMeasuresAFakeServer(t *testing.T) {
	var out bytes.Buffer
	b := &benchSettings{settings: &settings{out: &out}}
	sizes := bench.Sizes{Creates: 20, Objects: 60, Updates: 10, Watchers: []int{1, 3}}
	names := []string{"fake", "process", "client"}
	for _, name := range names {
		if err := b.measure(context.Background(), name, sizes); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	b.table(names)
	for _, want := range []string{"BenchmarkFake/create/clients=8\t20\t", "BenchmarkProcess/fan-out/watchers=3\t30\t", "BenchmarkClient/page/limit=500\t10\t", "list/rv=0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if _, _, err := b.start(context.Background(), "other"); err == nil {
		t.Error("an unknown server was started")
	}
}
