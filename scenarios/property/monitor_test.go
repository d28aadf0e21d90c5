package property_test

import (
	"slices"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// bareWorld is a world of which only the kernel is asked.
type bareWorld struct {
	property.World
	k *sim.Kernel
}

func (w bareWorld) Kernel() *sim.Kernel { return w.k }

// watch has properties watch a run of these records, each of which is a step of its own, and then its end.
func watch(all []property.Property, kinds ...sim.Kind) *property.Monitor {
	m := property.NewMonitor(bareWorld{k: sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})}, all)
	for _, kind := range kinds {
		m.Record(&sim.Record{Kind: kind})
		m.StepEnd(nil)
	}
	m.End()
	return m
}

func checked(m *property.Monitor) (times []uint64) {
	for _, c := range m.Checked() {
		times = append(times, c.Times)
	}
	return times
}

// counting returns a property of these kinds that counts what it is asked, and breaks with the n-th record, or at the end of its step.
func counting(name string, records, steps *int, n int, atStep bool, kinds ...sim.Kind) property.Property {
	broken := func(at bool) *reports.Violation {
		if at {
			return &reports.Violation{Message: name}
		}
		return nil
	}
	return property.Property{Name: name, Kinds: kinds, New: func() property.Checker {
		return property.Checker{
			Record: func(property.World, *sim.Record) *reports.Violation {
				*records++
				return broken(*records == n && !atStep)
			},
			StepEnd: func(property.World) *reports.Violation { *steps++; return broken(*records == n && atStep) },
			End:     func(property.World) *reports.Violation { return nil },
		}
	}}
}

// Each property sees its kinds in the order of properties, and what it was asked is counted; from a violation on, nobody is asked any more.
func TestMonitor(t *testing.T) {
	for _, test := range []struct {
		name   string
		n      int // A breaks with its n-th record
		atStep bool
		a, b   [2]int // records and steps that they saw
		times  []uint64
	}{
		{"nothing breaks", 0, false, [2]int{3, 4}, [2]int{2, 4}, []uint64{8, 7}},
		{"a record breaks it", 2, false, [2]int{2, 1}, [2]int{0, 1}, []uint64{3, 1}},
		{"a step breaks it", 2, true, [2]int{2, 2}, [2]int{1, 1}, []uint64{4, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a, b [2]int
			m := watch([]property.Property{
				counting("A", &a[0], &a[1], test.n, test.atStep, 1, 2),
				counting("B", &b[0], &b[1], 0, false, 2),
			}, 1, 2, 3, 2)
			if a != test.a || b != test.b {
				t.Errorf("records and steps are %v and %v, want %v and %v", a, b, test.a, test.b)
			}
			if times := checked(m); !slices.Equal(times, test.times) {
				t.Errorf("%v are counted, want %v", times, test.times)
			}
			if v := m.Violation(); (v != nil) != (test.n > 0) || v != nil && v.Property != "A" {
				t.Errorf("broken: %v", v)
			}
		})
	}
}

// A property with Pending judges only the steps after which that is true; the others count as judged.
func TestPending(t *testing.T) {
	judged := 0
	m := watch([]property.Property{{Name: "A", Kinds: []sim.Kind{2}, New: func() property.Checker {
		pending := false
		return property.Checker{
			Pending: &pending,
			Record:  func(property.World, *sim.Record) *reports.Violation { pending = true; return nil },
			StepEnd: func(property.World) *reports.Violation { pending = false; judged++; return nil },
		}
	}}}, 1, 2, 1, 1, 2, 1)
	if times := checked(m); judged != 2 || !slices.Equal(times, []uint64{8}) {
		t.Errorf("%d steps are judged, and %v are counted; want 2 and 8", judged, times)
	}
}

// Who has concluded has judged its end, once, and is asked nothing more.
func TestConclude(t *testing.T) {
	const kind = sim.Kind(1)
	for _, early := range []bool{true, false} {
		var records, steps, ends [2]int
		var all []property.Property
		for n, name := range []string{"early", "late"} {
			p := counting(name, &records[n], &steps[n], 0, false, kind)
			checker := p.New
			p.New = func() property.Checker {
				c := checker()
				c.End = func(property.World) *reports.Violation {
					if ends[n]++; early && n == 0 {
						return &reports.Violation{Message: name}
					}
					return nil
				}
				return c
			}
			all = append(all, p)
		}
		m := property.NewMonitor(bareWorld{k: sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})}, all)
		step := func() {
			m.Record(&sim.Record{Kind: kind})
			m.StepEnd(nil)
		}
		step()
		m.Conclude(func(of *property.Property) bool { return of.Name == "early" })
		if v := m.Violation(); (v != nil) != early || v != nil && v.Property != "early" {
			t.Errorf("the end is judged: %v: %v", early, v)
		}
		step()
		m.End()
		want, times := [2]int{1, 2}, []uint64{3, 5}
		wantEnds := [2]int{1, 1}
		if early { // the run is over
			want, times, wantEnds = [2]int{1, 1}, []uint64{3, 2}, [2]int{1, 0}
		}
		if records != want || steps != want || ends != wantEnds || !slices.Equal(checked(m), times) {
			t.Errorf("early: %v: %v records, %v steps, %v ends, counted as %v", early, records, steps, ends, checked(m))
		}
	}
}
