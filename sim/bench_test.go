package sim

import (
	"fmt"
	"io"
	"testing"
)

// BenchmarkKernelStep measures one step: picking, taking the choice out of the ready set, applying it, hashing it and the
// one record that the actor emits, and offering again. ready is how many actions are enabled all the time.
func BenchmarkKernelStep(b *testing.B) {
	strategies := []struct {
		name   string
		faults int
		make   func() Strategy
	}{
		{"fifo", 0, func() Strategy { return NewFIFO() }},
		{"random", 0, func() Strategy { return NewRandom(1, nil) }},
		{"random+faults", 1, func() Strategy { return NewRandom(1, rate(0.01)) }},
		{"random+100faults", 100, func() Strategy { return NewRandom(1, rate(0.01)) }},
	}
	for _, s := range strategies {
		for _, ready := range []int{1, 100, 1000} {
			b.Run(fmt.Sprintf("strategy=%s/ready=%d", s.name, ready), func(b *testing.B) {
				k := newChurn(s.make(), ready, s.faults)
				steps(b, k)
			})
		}
	}
}

// BenchmarkKernelStepTraced is BenchmarkKernelStep with a trace written to nowhere.
func BenchmarkKernelStepTraced(b *testing.B) {
	for _, ready := range []int{1, 100} {
		b.Run(fmt.Sprintf("strategy=random/ready=%d", ready), func(b *testing.B) {
			k := newChurn(NewRandom(1, nil), ready, 0)
			w, err := NewTraceWriter(k, io.Discard, Header{})
			if err != nil {
				b.Fatal(err)
			}
			k.Observe(w)
			steps(b, k)
			if err := w.Close("pass"); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func steps(b *testing.B, k *Kernel) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if !k.Step() {
			b.Fatal(k.Err())
		}
	}
}
