package shrink_test

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/informersim/informersim/sim/shrink"
)

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// containing is a failure that takes all of these.
func containing(needed ...int) func([]int) bool {
	return func(list []int) bool {
		for _, x := range needed {
			if !slices.Contains(list, x) {
				return false
			}
		}
		return true
	}
}

func TestReduceKeepsWhatTheFailureNeeds(t *testing.T) {
	for _, needed := range [][]int{{}, {0}, {99}, {3, 50, 51}, {0, 99}, {7, 8, 9, 10, 11}} {
		r := shrink.Reducer[int]{Fails: containing(needed...)}
		if got := r.Reduce(numbers(100)); !slices.Equal(got, needed) {
			t.Errorf("reduced to %v, want %v", got, needed)
		}
	}
}

// Each element can be removed only after the next one, so it takes a pass for each.
func TestReduceRepeatsUntilNoElementCanBeSpared(t *testing.T) {
	r := shrink.Reducer[int]{Fails: func(list []int) bool { return len(list) > 0 && slices.Equal(list, numbers(len(list))) }}
	if got := r.Reduce(numbers(10)); !slices.Equal(got, []int{0}) {
		t.Errorf("reduced to %v, want [0]", got)
	}
}

func TestReduceOnlyKeepsTheOthers(t *testing.T) {
	r := shrink.Reducer[int]{Fails: containing(6)}
	odd := func(x int) bool { return x%2 == 1 }
	if got, want := r.ReduceOnly(numbers(10), odd), []int{0, 2, 4, 6, 8}; !slices.Equal(got, want) {
		t.Errorf("reduced to %v, want %v", got, want)
	}
	r.Fails = func([]int) bool { return false }
	if got := r.ReduceOnly(numbers(10), odd); !slices.Equal(got, numbers(10)) {
		t.Errorf("nothing can be removed, and %v is left", got)
	}
}

func TestTruncateKeepsTheBeginning(t *testing.T) {
	for last := range 20 {
		r := shrink.Reducer[int]{Fails: containing(last)}
		if got := r.Truncate(numbers(20)); !slices.Equal(got, numbers(last+1)) {
			t.Errorf("truncated to %v, want 0 to %d", got, last)
		}
	}
	r := shrink.Reducer[int]{Fails: containing()}
	if got := r.Truncate(numbers(20)); len(got) != 0 {
		t.Errorf("truncated to %v, want nothing", got)
	}
}

// What is cut off coarsely is cut off in few tries, and as far as that goes.
func TestTruncateCoarsely(t *testing.T) {
	r := shrink.Reducer[int]{Fails: containing(0)}
	if got := r.TruncateCoarsely(numbers(1000), 100); len(got) >= 200 || len(got) == 0 || r.Tries() > 8 {
		t.Errorf("%d of 1000 are left after %d tries", len(got), r.Tries())
	}
}

// Half of what may go goes at once, as often as the rest fails; the others stay.
func TestHalve(t *testing.T) {
	even := func(n int) bool { return n%2 == 0 }
	r := shrink.Reducer[int]{Fails: containing(6)}
	if got := r.Halve(numbers(32), even); !slices.Equal(slices.DeleteFunc(slices.Clone(got), func(n int) bool { return !even(n) }), []int{6}) || len(got) != 17 || r.Tries() > 8 {
		t.Errorf("%v are left after %d tries", got, r.Tries())
	}
	r = shrink.Reducer[int]{Fails: containing(0, 30)}
	if got := r.Halve(numbers(32), even); len(got) != 32 || r.Tries() != 2 {
		t.Errorf("%v are left after %d tries", got, r.Tries())
	}
}

// What a caller keeps of a try is not overwritten by a later one, and neither is the list that it gave.
func TestTriedListsAreNotChanged(t *testing.T) {
	var kept, copies [][]int
	list := numbers(30)
	r := shrink.Reducer[int]{Fails: func(l []int) bool {
		kept, copies = append(kept, l), append(copies, slices.Clone(l))
		return containing(4, 9, 17)(l)
	}}
	_ = append(r.Reduce(r.Truncate(list)), 100)
	_ = append(r.Truncate(list), 100)
	for i := range kept {
		if !slices.Equal(kept[i], copies[i]) {
			t.Fatalf("try %d was with %v, which is %v now", i, copies[i], kept[i])
		}
	}
	if !slices.Equal(list, numbers(30)) {
		t.Errorf("the list is %v now", list)
	}
}

func TestBudget(t *testing.T) {
	asked := 0
	r := shrink.Reducer[int]{MaxTries: 10, Fails: func([]int) bool { asked++; return false }}
	r.Truncate(numbers(40))
	r.Reduce(numbers(40))
	r.Reduce(numbers(40))
	if asked != 10 || r.Tries() != 10 {
		t.Errorf("asked %d times, Tries is %d, want 10", asked, r.Tries())
	}
	asked = 0
	r = shrink.Reducer[int]{Fails: func([]int) bool { asked++; return true }, Stop: func() bool { return asked == 2 }}
	r.Reduce(numbers(1))
	left := r.ReduceOnly(numbers(40), func(x int) bool { return x >= 20 })
	if want := slices.Concat(numbers(20), numbers(40)[30:]); asked != 2 || !slices.Equal(left, want) {
		t.Errorf("asked %d times, want 2; %v is left, want %v", asked, left, want)
	}
}

// Whatever fails: the result fails, it is a part of the list in its order, no element of it can be removed, and the search
// is the same every time. For a failure that a longer list cannot hide it is short, too.
func TestReduceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := numbers(rapid.IntRange(0, 60).Draw(t, "length"))
		causes := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 60), 0, 4), 1, 3).Draw(t, "causes")
		parity := rapid.IntRange(0, 2).Draw(t, "parity") // 2 for a monotone failure
		fails := func(l []int) bool {
			return (parity == 2 || len(l)%2 == parity) && slices.ContainsFunc(causes, func(c []int) bool { return containing(c...)(l) })
		}
		if !fails(list) {
			t.Skip("there is nothing to reduce")
		}
		r := shrink.Reducer[int]{Fails: fails}
		got := r.Reduce(list)
		if !fails(got) {
			t.Fatalf("%v does not fail", got)
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || !containing(got...)(list) {
			t.Fatalf("%v is no part of the list in its order", got)
		}
		for i := range got {
			if shorter := slices.Delete(slices.Clone(got), i, i+1); fails(shorter) {
				t.Fatalf("%v can be reduced to %v", got, shorter)
			}
		}
		again := shrink.Reducer[int]{Fails: fails}
		if other := again.Reduce(list); !slices.Equal(got, other) || r.Tries() != again.Tries() {
			t.Fatalf("reduced to %v in %d tries, and then to %v in %d", got, r.Tries(), other, again.Tries())
		}
		n := len(list)
		bound := 4*n + bits.Len(uint(n))
		if parity != 2 {
			bound += n * n
		}
		if r.Tries() > bound {
			t.Fatalf("%d tries for %d elements, want at most %d", r.Tries(), n, bound)
		}
	})
}

// Truncate: the result fails and is a beginning of the list whose last element cannot be removed.
func TestTruncateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := numbers(rapid.IntRange(1, 60).Draw(t, "length"))
		lengths := rapid.SliceOfN(rapid.Bool(), len(list), len(list)).Draw(t, "fails") // by length
		fails := func(l []int) bool { return len(l) == len(list) || lengths[len(l)] }
		r := shrink.Reducer[int]{Fails: fails}
		got := r.Truncate(list)
		if !fails(got) || !slices.Equal(got, numbers(len(got))) {
			t.Fatalf("%v does not fail, or is no beginning", got)
		}
		if len(got) > 0 && fails(got[:len(got)-1]) {
			t.Fatalf("the last element of %v can be removed", got)
		}
		if r.Tries() > len(list)+bits.Len(uint(len(list))) {
			t.Fatalf("%d tries for %d elements", r.Tries(), len(list))
		}
	})
}
