package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"github.com/informersim/informersim/cmd/internal/guests"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

// subjectKinds are the informer stacks that the command can test, the default one first. It is a variable so that a test can add
// its own.
var subjectKinds = kinds.All()

var defaultSubject = subjectKinds[0].Name

func subjectNames() []string {
	names := make([]string, len(subjectKinds))
	for i, k := range subjectKinds {
		names[i] = k.Name
	}
	return names
}

// subjectHelp is the help of --subject.
func subjectHelp() string {
	return "the informer stack under test: " + strings.Join(subjectNames(), ", ") + ", or client-go@`VERSION` for another release of it, client-go@FOLDER for a working copy, client-go@built-in for this one in a process of its own (docs/releases.md)"
}

// subjectNamed returns the kind of subject of that name. One with another release of client-go may have to be built, which is said on
// standard error.
func subjectNamed(ctx context.Context, name string) (subjects.Kind, error) {
	if strings.HasPrefix(name, guests.Prefix) {
		return guests.Kind(ctx, name, stderrOf(ctx))
	}
	return builtIn(name)
}

// builtIn returns the kind of subject of that name that this program has.
func builtIn(name string) (subjects.Kind, error) {
	for _, k := range subjectKinds {
		if k.Name == name {
			return k, nil
		}
	}
	if near := script.Suggest(name, subjectNames()); near != "" {
		return subjects.Kind{}, fmt.Errorf("there is no subject %q; did you mean %q?", name, near)
	}
	return kinds.Named(name)
}

// writeUnjudged says which properties a kind of subject cannot be held to, after a summary that counts those that held.
func writeUnjudged(out io.Writer, k subjects.Kind) {
	_, not := property.Judged(properties.All(), k.Lacks)
	for _, u := range not {
		fmt.Fprintf(out, "      %s\n", u)
	}
}

// stderrKey is the key of a command's standard error in its context.
type stderrKey struct{}

func withStderr(ctx context.Context, w io.Writer) context.Context {
	return context.WithValue(ctx, stderrKey{}, w)
}

func stderrOf(ctx context.Context) io.Writer {
	if w, ok := ctx.Value(stderrKey{}).(io.Writer); ok {
		return w
	}
	return os.Stderr
}

// versionsWith are the versions in the header of a trace of a subject.
func versionsWith(subject string) map[string]string {
	v := maps.Clone(ownVersions())
	if client := guests.Version(subject); client != "" {
		v[reports.VersionClient] = client
	}
	return v
}
