package same

import "time"

// Plainly reports whether both are the same text, truth, number or duration. If not, they may still be equal: it does not look into anything else, which takes
// reflection far longer.
func Plainly(want, got any) bool {
	switch w := want.(type) {
	case string:
		g, is := got.(string)
		return is && g == w
	case bool:
		g, is := got.(bool)
		return is && g == w
	case int:
		g, is := got.(int)
		return is && g == w
	case int64:
		g, is := got.(int64)
		return is && g == w
	case time.Duration:
		g, is := got.(time.Duration)
		return is && g == w
	}
	return false
}
