package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError points to the command's help, and names a flag that may be meant by one that the command does not have: run has --seed, and fuzz --seeds.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		if near := similarFlag(c.Flags(), unknown.GetSpecifiedName()); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	return usageError{c.CommandPath(), err}
}

// similarFlag returns the flag whose name is the most like a word, "" if none is much like it.
func similarFlag(flags *pflag.FlagSet, word string) string {
	var near string
	least := 3                           // edits
	flags.VisitAll(func(f *pflag.Flag) { // in the order of names
		if f.Hidden {
			return
		}
		n := edits(f.Name, word)
		if min(len(f.Name), len(word)) > 2 && (strings.Contains(f.Name, word) || strings.Contains(word, f.Name)) {
			n = min(n, 2)
		}
		if n < least && n < len(word) {
			near, least = f.Name, n
		}
	})
	return near
}

// edits returns how many letters have to be added, removed or changed to make one word of another.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // the edits from the start of a to each start of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				n = min(n, diagonal)
			} else {
				n = min(n, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], n
		}
	}
	return row[len(b)]
}
