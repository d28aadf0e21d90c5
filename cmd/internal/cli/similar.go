package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informersim/informersim/scenarios/script"
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

// similarFlag returns the flag whose name is the most like a word, or has it as a part; "" if none is much like it.
func similarFlag(flags *pflag.FlagSet, word string) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { // in the order of names
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := script.Suggest(word, names); near != "" || len(word) < 3 {
		return near
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, word) }); i >= 0 {
		return names[i]
	}
	return ""
}
