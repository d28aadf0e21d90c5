package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Group are findings that break one property in the same way, the simplest first. One defect makes several, as there is more than one way to bring a stack into a state in which it
// shows; but two may, too. So none is dropped: what they have in common is told, and what not.
type Group []*Finding

// way is what the findings of a group have in common: the property and, where the message names what is wrong by itself, that; else how the property is broken.
func (f *Finding) way() string {
	_, text, _ := strings.Cut(f.Reason, ": ")
	if text != "" && strings.HasSuffix(f.Shape, text) {
		return f.Property + ": " + text
	}
	return f.Property + ": " + opening(f.Reason)
}

// features are what the shape has, but for what the message names.
func (f *Finding) features() []string {
	if f.Shape == "" {
		return nil
	}
	return strings.Split(f.Shape, ", ")
}

// Groups returns the findings by what they have in common, in the order of the first of each.
func (c *Campaign) Groups() []Group {
	var all []Group
	at := map[string]int{}
	for _, f := range c.Findings {
		way := f.way()
		n, known := at[way]
		if !known {
			n = len(all)
			at[way] = n
			all = append(all, nil)
		}
		all[n] = append(all[n], f)
	}
	for _, g := range all {
		slices.SortStableFunc(g, func(a, b *Finding) int {
			unshrunk := func(f *Finding) int { // such a one may be anything
				if f.Shape == "" {
					return 1
				}
				return 0
			}
			return cmp.Or(cmp.Compare(unshrunk(a), unshrunk(b)), cmp.Compare(len(a.features()), len(b.features())))
		})
	}
	return all
}

// like says how the n-th finding of a group, which is not the first, is like those before it.
func (g Group) like(n int) string {
	f := g[n]
	if f.Shape == "" {
		return "perhaps the same: "
	}
	if slices.ContainsFunc(g[:n], func(x *Finding) bool { return x.Shape != "" && len(without(x.features(), f.features())) == 0 }) {
		return "probably the same: "
	}
	return "perhaps the same: "
}

// unlike says how the shape of the n-th finding differs from that of the first, "" if neither has anything to tell.
func (g Group) unlike(n int) string {
	f, first := g[n], g[0]
	if f.Shape == "" {
		return ", which could not be shrunk"
	}
	more, less := without(f.features(), first.features()), without(first.features(), f.features())
	switch {
	case len(more) > 0 && len(less) > 0:
		return fmt.Sprintf(", with %s in place of %s", strings.Join(more, ", "), strings.Join(less, ", "))
	case len(more) > 0:
		return fmt.Sprintf(", with %s besides", strings.Join(more, ", "))
	case len(less) > 0:
		return fmt.Sprintf(", without %s", strings.Join(less, ", "))
	}
	return ""
}

// without returns what of a list is not in another one.
func without(list, other []string) (rest []string) {
	for _, x := range list {
		if !slices.Contains(other, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// names are those of the findings of each group that has more than one.
func names(all []Group) (lists [][]string) {
	for _, g := range all {
		if len(g) < 2 {
			continue
		}
		var list []string
		for _, f := range g {
			list = append(list, f.Name)
		}
		lists = append(lists, list)
	}
	return lists
}
