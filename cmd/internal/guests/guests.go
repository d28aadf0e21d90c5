package guests

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/releases"
	"github.com/informersim/informersim/subjects/clientgo/remote"
)

// Prefix begins the name of a subject whose client-go is in a guest.
const Prefix = "client-go@"

// made are the kinds of this process, by name: the guests of all its runs of a release are one process.
var made = struct {
	sync.Mutex
	kinds  map[string]subjects.Kind
	states map[string]string // of working copies, when their guests were built
}{kinds: map[string]subjects.Kind{}, states: map[string]string{}}

// Kind returns the kind of subject of that name, client-go@v0.31.14, client-go@./client-go or BuiltIn, with its guest built.
func Kind(ctx context.Context, name string, stderr io.Writer) (subjects.Kind, error) {
	if name == BuiltIn {
		return own()
	}
	r, err := Release(name)
	if err != nil {
		return subjects.Kind{}, err
	}
	made.Lock()
	defer made.Unlock()
	if k, ok := made.kinds[r.Subject()]; ok {
		return k, nil
	}
	path, err := find(ctx, r, stderr)
	if err != nil {
		return subjects.Kind{}, err
	}
	if r.Folder != "" {
		made.states[r.Subject()] = state(ctx, r.Folder, path)
	}
	k := kind(r.Subject(), r.Queues(), r.Lacks(), &remote.Guest{Path: path, Name: r.Subject()})
	made.kinds[r.Subject()] = k
	return k, nil
}

// Release returns the release or the working copy that a subject's name names.
func Release(name string) (releases.Release, error) {
	version := strings.TrimPrefix(name, Prefix)
	if IsFolder(version) {
		return copyIn(version)
	}
	r, err := releases.Parse(version)
	if err != nil {
		return r, fmt.Errorf("there is no subject %q: %w; %s is this program's own client-go", name, err, BuiltIn)
	}
	return r, nil
}

// Version returns what a trace's header says of a subject's client-go, "" for the built-in one. A working copy has no version: it is the state in which its guest was built.
func Version(subject string) string {
	version, ok := strings.CutPrefix(subject, Prefix)
	if !ok || subject == BuiltIn {
		return ""
	}
	made.Lock()
	defer made.Unlock()
	return cmp.Or(made.states[subject], version)
}
