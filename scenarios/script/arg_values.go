package script

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// name returns the argument's name for messages.
func (a Arg) name() string {
	if a.Key != "" {
		return a.Key
	}
	return "the argument"
}

// Duration reads a duration like 2s and refuses a negative one.
func (a Arg) Duration() (time.Duration, error) {
	d, err := a.SignedDuration()
	if err == nil && d < 0 {
		return 0, Errorf(a.Pos, "use 0s or more", "%s: the duration %s is negative", a.name(), a.Value)
	}
	return d, err
}

// SignedDuration reads a duration like 2s or -2s.
func (a Arg) SignedDuration() (time.Duration, error) {
	d, err := time.ParseDuration(a.Value)
	if err == nil {
		return d, nil
	}
	hint := "write it like 250ms, 2s or 1m30s"
	if _, err := strconv.ParseFloat(a.Value, 64); err == nil {
		hint = "give the unit, like " + a.Value + "s"
	}
	return 0, Errorf(a.Pos, hint, "%s: %s is not a duration", a.name(), quoteShort(a.Value))
}

// Int64 reads a decimal integer in lowest..highest.
func (a Arg) Int64(lowest, highest int64) (int64, error) {
	n, err := strconv.ParseInt(a.Value, 10, 64)
	if err != nil && !isRangeError(err) {
		return 0, Errorf(a.Pos, "write a whole number like 12", "%s: %s is not an integer", a.name(), quoteShort(a.Value))
	}
	if err != nil || n < lowest || n > highest {
		return 0, Errorf(a.Pos, rangeHint(lowest, highest), "%s: %s is out of range", a.name(), quoteShort(a.Value))
	}
	return n, nil
}

func isRangeError(err error) bool {
	number, ok := err.(*strconv.NumError)
	return ok && number.Err == strconv.ErrRange
}

func rangeHint(lowest, highest int64) string {
	switch {
	case highest == math.MaxInt64 && lowest == math.MinInt64:
		return "use a 64-bit number"
	case highest == math.MaxInt64:
		return "use " + strconv.FormatInt(lowest, 10) + " or more"
	case lowest == math.MinInt64:
		return "use " + strconv.FormatInt(highest, 10) + " or less"
	}
	return "use " + strconv.FormatInt(lowest, 10) + " to " + strconv.FormatInt(highest, 10)
}

// Int reads a decimal integer in lowest..highest.
func (a Arg) Int(lowest, highest int) (int, error) {
	n, err := a.Int64(int64(lowest), int64(highest))
	return int(n), err
}

// Float reads a number in lowest..highest, such as a probability.
func (a Arg) Float(lowest, highest float64) (float64, error) {
	x, err := strconv.ParseFloat(a.Value, 64)
	if err != nil && !isRangeError(err) || math.IsNaN(x) {
		return 0, Errorf(a.Pos, "write a number like 0.25", "%s: %s is not a number", a.name(), quoteShort(a.Value))
	}
	if err != nil || x < lowest || x > highest {
		return 0, Errorf(a.Pos, "use "+formatFloat(lowest)+" to "+formatFloat(highest), "%s: %s is out of range", a.name(), quoteShort(a.Value))
	}
	return x, nil
}

func formatFloat(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Bool reads true or false.
func (a Arg) Bool() (bool, error) {
	switch a.Value {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, Errorf(a.Pos, "use true or false", "%s: %s is neither true nor false", a.name(), quoteShort(a.Value))
}

// OneOf reads one of the choices.
func (a Arg) OneOf(choices ...string) (string, error) {
	for _, choice := range choices {
		if a.Value == choice {
			return choice, nil
		}
	}
	return "", Errorf(a.Pos, didYouMean(a.Value, choices), "%s: unknown value %s", a.name(), quoteShort(a.Value))
}

// List reads a comma-separated list and refuses empty and repeated parts.
func (a Arg) List() ([]string, error) {
	parts := strings.Split(a.Value, ",")
	seen := make(map[string]bool, len(parts))
	for _, part := range parts {
		if part == "" {
			return nil, Errorf(a.Pos, "write it like a,b,c", "%s: the list %s has an empty part", a.name(), quoteShort(a.Value))
		}
		if seen[part] {
			return nil, Errorf(a.Pos, "name it once", "%s: the list has %s twice", a.name(), quoteShort(part))
		}
		seen[part] = true
	}
	return parts, nil
}
