package store

import (
	"math"
	"strconv"
)

// ParseRevision reads a resourceVersion: "" and "0" are 0. What is no number is an error in the words of the real server.
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
