package bubble

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// managerStart is the function in which a manager of controller-runtime waits until what it runs has started. It leaves the loop too late if its context ends.
const managerStart = "sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start"

// spinsAsItStarts reports whether a goroutine is in that loop.
func spinsAsItStarts(g Goroutine) bool {
	calls := g.Stack[:max(len(g.Stack)-1, 0)] // the last is who started it
	return slices.ContainsFunc(calls, func(f Frame) bool { return strings.Contains(f.Function, managerStart) })
}

// StartingManagers returns, for each manager of controller-runtime that waits in this bubble until what it runs has started, the goroutine that does so, the one that has started that, and so on, as far as
// they are still there. They are named as ThisGoroutine does.
func (b *Bubble) StartingManagers() [][]string { return startingManagers(dump(), b.job.name) }

func startingManagers(stacks []byte, bubble string) (found [][]string) {
	if !bytes.Contains(stacks, []byte(managerStart)) {
		return nil
	}
	startedBy := map[string]string{}
	var waiting []string
	for _, block := range bytes.Split(stacks, []byte("\n\n")) {
		name, _, is := bytes.Cut(block, []byte("["))
		if !is {
			continue
		}
		startedBy[string(name)] = starter(block)
		if g, _, ok := goroutineOf(block, bubble); ok && spinsAsItStarts(g) {
			waiting = append(waiting, string(name))
		}
	}
	for _, name := range waiting {
		line := []string{}
		for _, is := startedBy[name]; is; _, is = startedBy[name] {
			line = append(line, name)
			name = startedBy[name]
		}
		found = append(found, line)
	}
	return found
}

// starter returns the goroutine that has started another one, by that one's part of a dump, "" if that is not told.
func starter(block []byte) string {
	_, by, is := bytes.Cut(block, []byte(" in goroutine "))
	if !is {
		return ""
	}
	by, _, _ = bytes.Cut(by, []byte("\n"))
	return fmt.Sprintf("goroutine %s ", by)
}
