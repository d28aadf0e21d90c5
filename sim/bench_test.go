package sim

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// BenchmarkKernelStep measures one step: picking a choice, removing it from the ready set, applying it, hashing it and the
// one record that the actor emits, and offering it again. ready is the number of enabled actions.
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
		{"pct", 0, func() Strategy { return NewPCT(1, nil) }},
		{"pos", 0, func() Strategy { return NewPOS(1, nil) }},
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

// BenchmarkKernelStepTraced is BenchmarkKernelStep with a trace that is discarded.
func BenchmarkKernelStepTraced(b *testing.B) {
	strategies := []struct {
		name string
		make func() Strategy
	}{
		{"fifo", func() Strategy { return NewFIFO() }},
		{"random", func() Strategy { return NewRandom(1, nil) }},
	}
	for _, s := range strategies {
		for _, ready := range []int{1, 100} {
			b.Run(fmt.Sprintf("strategy=%s/ready=%d", s.name, ready), func(b *testing.B) {
				k := newChurn(s.make(), ready, 0)
				w, err := NewTraceWriter(k, io.Discard, Header{})
				if err != nil {
					b.Fatal(err)
				}
				k.Observe(w)
				steps(b, k)
				if err := w.Close("pass", nil); err != nil {
					b.Fatal(err)
				}
			})
		}
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

// BenchmarkTraceReader measures reading and checking one step with one record.
func BenchmarkTraceReader(b *testing.B) {
	file := longTrace(b, 1000)
	b.SetBytes(int64(len(file) / 1000))
	b.ReportAllocs()
	for n := 0; n < b.N; {
		r, err := NewTraceReader("t", bytes.NewReader(file))
		for err == nil {
			_, err = r.Next()
			n++
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

// BenchmarkReplayStep measures one step of a replay: the work of BenchmarkTraceReader, and the run compared with it.
func BenchmarkReplayStep(b *testing.B) {
	const steps = 1000
	file := longTrace(b, steps)
	b.ReportAllocs()
	for n := 0; n < b.N; n += steps {
		r, err := NewTraceReader("t", bytes.NewReader(file))
		if err != nil {
			b.Fatal(err)
		}
		p := NewReplay(r)
		k := newChurn(p, 10, 0)
		p.Bind(k)
		k.Observe(p)
		for k.Step() {
		}
		if k.Err() != nil || !p.Done() {
			b.Fatal(k.Err())
		}
	}
}

func longTrace(b *testing.B, steps int) []byte {
	b.Helper()
	k := newChurn(NewRandom(1, nil), 10, 0)
	var file bytes.Buffer
	w, err := NewTraceWriter(k, &file, Header{})
	if err != nil {
		b.Fatal(err)
	}
	k.Observe(w)
	run(b, k, steps)
	if err := w.Close("pass", nil); err != nil {
		b.Fatal(err)
	}
	return file.Bytes()
}

// BenchmarkKernelNew measures a world of a few actors from nothing to its first step, since most runs are short.
func BenchmarkKernelNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		k := newChurn(NewRandom(1, rate(0.01)), 10, 10)
		run(b, k, 1)
	}
}

// BenchmarkTimer measures setting a timer among many others and the step in which it fires.
func BenchmarkTimer(b *testing.B) {
	for _, timers := range []int{1, 1000} {
		b.Run(fmt.Sprintf("timers=%d", timers), func(b *testing.B) {
			c := NewClock()
			for i := range timers {
				var t clock.Timer
				t = c.AfterFunc(time.Duration(i), func() { t.Reset(time.Duration(timers)) })
			}
			b.ReportAllocs()
			for b.Loop() {
				c.advance()
			}
		})
	}
}
