package subjects

import "strconv"

// RevisionOf returns an object's resourceVersion as a number, 0 if it has none.
func RevisionOf(obj any) int64 {
	m, ok := obj.(interface{ GetResourceVersion() string })
	if !ok {
		return 0
	}
	return ParseRevision(m.GetResourceVersion())
}

// ParseRevision returns a resourceVersion as a number, 0 if it is not a number.
func ParseRevision(rv string) int64 {
	if len(rv) > 18 {
		n, err := strconv.ParseInt(rv, 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	n := int64(0)
	for i := range len(rv) {
		d := rv[i] - '0'
		if d > 9 {
			return 0
		}
		n = n*10 + int64(d)
	}
	return n
}
