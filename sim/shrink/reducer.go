package shrink

// Reducer searches for a shorter list that still fails. Its budget is shared by all of its calls, so that a caller can
// reduce in phases.
type Reducer[T any] struct {
	// Fails reports whether a list still fails. It may retain the list but must not change it.
	Fails func(list []T) bool
	// MaxTries bounds the calls of Fails; 0 means no bound.
	MaxTries int
	// Stop is called before each try; the search ends when it returns true. Nil never does.
	Stop func() bool

	tries int
}

// Tries returns the number of calls of Fails.
func (r *Reducer[T]) Tries() int { return r.tries }

// Reduce removes elements from a failing list. Unless the budget runs out, no single element of the result can be removed.
func (r *Reducer[T]) Reduce(list []T) []T {
	return r.ReduceOnly(list, func(T) bool { return true })
}

// ReduceOnly is Reduce for the elements that are removable; the others stay.
func (r *Reducer[T]) ReduceOnly(list []T, removable func(T) bool) []T {
	left := count(list, removable)
	for size := (left + 1) / 2; size > 0; size = min(size, left) {
		removed := false
		for from := 0; from < left; {
			if r.exhausted() {
				return list
			}
			shorter := without(list, removable, from, size)
			if !r.try(shorter) {
				from += size
				continue
			}
			left -= len(list) - len(shorter)
			list, removed = shorter, true
		}
		if size > 1 {
			size /= 2
		} else if !removed {
			break
		}
	}
	return list
}

// Halve removes half of the removable elements of a failing list, the first ones or the last ones, and again, as long as one of that works. It is
// what costs the least where little time is left.
func (r *Reducer[T]) Halve(list []T, removable func(T) bool) []T {
	for left := count(list, removable); left > 1; left = count(list, removable) {
		half, shorter := left/2, false
		for _, part := range [][2]int{{0, half}, {half, left - half}} {
			if r.exhausted() {
				return list
			}
			if fewer := without(list, removable, part[0], part[1]); r.try(fewer) {
				list, shorter = fewer, true
				break
			}
		}
		if !shorter {
			break
		}
	}
	return list
}

// Truncate cuts off the end of a failing list: half of it, then ever fewer elements. Unless the budget runs out, the last
// element of the result cannot be removed.
func (r *Reducer[T]) Truncate(list []T) []T { return r.TruncateCoarsely(list, 1) }

// TruncateCoarsely is Truncate that ends once fewer elements than that would be cut off: the last ones cost as many tries as the first.
func (r *Reducer[T]) TruncateCoarsely(list []T, least int) []T {
	for size := (len(list) + 1) / 2; size >= max(least, 1) && !r.exhausted(); {
		if size <= len(list) {
			if shorter := list[: len(list)-size : len(list)-size]; r.try(shorter) {
				list = shorter
				continue
			}
		}
		size /= 2
	}
	return list
}

func (r *Reducer[T]) try(list []T) bool {
	r.tries++
	return r.Fails(list)
}

func (r *Reducer[T]) exhausted() bool {
	return r.MaxTries > 0 && r.tries >= r.MaxTries || r.Stop != nil && r.Stop()
}

func count[T any](list []T, removable func(T) bool) (n int) {
	for _, x := range list {
		if removable(x) {
			n++
		}
	}
	return n
}

// without returns the list without size of its removable elements, counted from the given one.
func without[T any](list []T, removable func(T) bool, from, size int) []T {
	shorter := make([]T, 0, len(list))
	n := 0
	for _, x := range list {
		if removable(x) {
			if n++; n > from && n <= from+size {
				continue
			}
		}
		shorter = append(shorter, x)
	}
	return shorter
}
