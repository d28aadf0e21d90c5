package store

import (
	"math"
	"strconv"
)

// ParseRevision parses a resourceVersion: "" and "0" are 0. The error of anything but a number has the real server's wording.
func ParseRevision(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, err
	}
	return int64(min(v, math.MaxInt64)), nil
}
