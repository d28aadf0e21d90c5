package minimal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios/script"
)

// edits returns simpler versions of the n-th command, each in the list of all commands, the boldest first: without its payload,
// without one of its arguments, with one name fewer in a list, with a rounder time, with another object in place of one.
func edits(cmds []command, n int) [][]command {
	c := cmds[n].syntax
	var all [][]command
	change := func(f func(*script.Command)) {
		simpler := *c
		simpler.Args = slices.Clone(c.Args)
		f(&simpler)
		list := slices.Clone(cmds)
		list[n].syntax = &simpler
		all = append(all, list)
	}
	if c.Payload != nil {
		change(func(c *script.Command) { c.Payload = nil })
	}
	for i, a := range c.Args {
		// A positional word may be one of several; if it is needed, the script does not parse without it.
		change(func(c *script.Command) { c.Args = slices.Delete(c.Args, i, i+1) })
		if parts := strings.Split(a.Value, ","); a.Key != "" && len(parts) > 1 {
			for k := range parts {
				change(func(c *script.Command) {
					c.Args[i].Value = strings.Join(slices.Delete(slices.Clone(parts), k, k+1), ",")
				})
			}
		}
		for _, d := range rounder(a.Value) {
			change(func(c *script.Command) { c.Args[i].Value = d })
		}
		if other, ok := earlierKey(cmds, n, i); ok {
			all = append(all, renamed(cmds, a.Value, other))
		}
	}
	return all
}

// times are the waits to try, as they are written.
var times = []struct {
	d    time.Duration
	text string
}{{time.Second, "1s"}, {10 * time.Second, "10s"}, {time.Minute, "1m"}, {10 * time.Minute, "10m"}, {time.Hour, "1h"}}

// rounder returns what can be written for a time or a number: shorter times, and 1.
func rounder(value string) (all []string) {
	if n, err := strconv.Atoi(value); err == nil && n > 1 {
		return []string{"1"}
	}
	d, err := time.ParseDuration(value)
	for _, r := range times {
		if err == nil && r.d < d {
			all = append(all, r.text)
		}
	}
	return all
}

// isKey reports whether a word is the key of an object in a write.
func isKey(c *script.Command, i int) bool {
	return slices.Contains([]string{"create", "update", "delete"}, c.Name) && i > 0 && c.Args[i].Key == ""
}

// earlierKey returns the first object that the script writes, if the i-th word of the n-th command is another one.
func earlierKey(cmds []command, n, i int) (string, bool) {
	if !isKey(cmds[n].syntax, i) {
		return "", false
	}
	for _, c := range cmds[:n+1] {
		for k := range c.syntax.Args {
			if isKey(c.syntax, k) {
				first := c.syntax.Args[k].Value
				return first, first != cmds[n].syntax.Args[i].Value
			}
		}
	}
	return "", false
}

// renamed replaces one object by another everywhere.
func renamed(cmds []command, from, to string) []command {
	list := slices.Clone(cmds)
	for n := range list {
		c := *list[n].syntax
		c.Args = slices.Clone(c.Args)
		for i := range c.Args {
			if isKey(&c, i) && c.Args[i].Value == from {
				c.Args[i].Value = to
			}
		}
		list[n].syntax = &c
	}
	return list
}

// names returns the names that commands declare or give first: informers, handlers, workers, writers, resources.
func names(cmds []command) []string {
	var all []string
	for _, c := range cmds {
		switch c.syntax.Name {
		case "informer", "worker", "writer", "resource":
			if len(c.syntax.Args) > 0 {
				all = append(all, c.syntax.Args[0].Value)
			}
		case "handler":
			if len(c.syntax.Args) > 1 {
				all = append(all, c.syntax.Args[1].Value)
			}
		}
	}
	return all
}

// withoutName removes the commands that mention a name, and what they declare in turn.
func withoutName(cmds []command, name string) []command {
	gone := map[string]bool{name: true}
	return slices.DeleteFunc(slices.Clone(cmds), func(c command) bool {
		if !slices.ContainsFunc(c.syntax.Args, func(a script.Arg) bool { return gone[a.Value] || gone[strings.TrimPrefix(a.Value, "conn/")] }) {
			return false
		}
		for _, n := range names([]command{c}) {
			gone[n] = true
		}
		for _, a := range c.syntax.Args {
			if c.syntax.Name == "informer" && a.Key == "handlers" {
				for h := range strings.SplitSeq(a.Value, ",") {
					gone[h] = true
				}
			}
		}
		return true
	})
}
