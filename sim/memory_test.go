package sim

import (
	"fmt"
	"io"
	"runtime"
	"testing"
)

// In the steady state a step does not allocate, whatever the strategy, and hardly at all when traced.
func TestStepsDoNotAllocate(t *testing.T) {
	for _, test := range []struct {
		name   string
		make   func() Strategy
		faults int
		traced bool
	}{
		{"fifo", func() Strategy { return NewFIFO() }, 0, false},
		{"random", func() Strategy { return NewRandom(1, nil) }, 0, false},
		{"random with faults", func() Strategy { return NewRandom(1, rate(0.1)) }, 20, false},
		{"fifo traced", func() Strategy { return NewFIFO() }, 0, true},
		{"random traced", func() Strategy { return NewRandom(1, rate(0.1)) }, 20, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newChurn(test.make(), 30, test.faults)
			if test.traced {
				w, err := NewTraceWriter(k, io.Discard, Header{})
				if err != nil {
					t.Fatal(err)
				}
				k.Observe(w)
			}
			run(t, k, 10000) // buffers grow to their final size
			const batch = 1000
			if got := testing.AllocsPerRun(20, func() { run(t, k, batch) }); got/batch > 0 {
				t.Errorf("%v allocations per step", got/batch)
			}
		})
	}
}

// A recorded draw does not allocate either.
func TestDrawsDoNotAllocate(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	s := k.Stream("s")
	f := &fake{name: "a"}
	id := k.Register(f)
	f.apply = func(Choice) {
		for range 5 {
			s.Uint64()
		}
		k.Offer(id, kindTestAct, 0)
	}
	k.Offer(id, kindTestAct, 0)
	run(t, k, 10)
	if got := testing.AllocsPerRun(100, func() { k.Step() }); got != 0 {
		t.Errorf("%v allocations per step", got)
	}
}

// A run of a million steps uses no more memory than one of a thousand: records are not retained.
func TestLongRunHoldsNoRecords(t *testing.T) {
	steps := 1_000_000
	if testing.Short() {
		steps = 100_000
	}
	for _, traced := range []bool{false, true} {
		t.Run(fmt.Sprintf("traced=%v", traced), func(t *testing.T) {
			k := newChurn(NewRandom(1, rate(0.01)), 30, 10)
			if traced {
				w, err := NewTraceWriter(k, io.Discard, Header{})
				if err != nil {
					t.Fatal(err)
				}
				k.Observe(w)
			}
			run(t, k, 1000)
			before := heapInUse()
			run(t, k, steps)
			if grown := heapInUse() - before; grown > 256<<10 {
				t.Errorf("the heap grew by %d bytes over %d steps", grown, steps)
			}
			runtime.KeepAlive(k)
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Reading a trace holds one step in memory, not the file.
func TestTraceReaderHoldsOneStep(t *testing.T) {
	in, out := io.Pipe()
	const steps = 200_000
	go func() {
		k := newChurn(NewFIFO(), 3, 0)
		w, err := NewTraceWriter(k, out, Header{})
		if err == nil {
			k.Observe(w)
			for k.Steps() < steps && k.Step() {
			}
			err = w.Close("pass", nil)
		}
		out.CloseWithError(err)
	}()
	r, err := NewTraceReader("long", in)
	if err != nil {
		t.Fatal(err)
	}
	n, most, before := 0, int64(0), heapInUse()
	for {
		_, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%50_000 == 0 {
			most = max(most, heapInUse()-before)
		}
	}
	if n != steps {
		t.Errorf("%d steps read, %d written", n, steps)
	}
	if most > 1<<20 {
		t.Errorf("the heap grew by %d bytes while reading", most)
	}
}
