package recording

import (
	"github.com/informersim/informersim/scenarios/script"
)

// Limits of a recording.
const (
	MaxInputSize    = 1 << 30  // bytes read
	maxDocumentSize = 64 << 20 // bytes of one event or listed object with its whitespace; etcd takes 1.5 MiB
	maxObjectSize   = script.MaxLineLength - 64<<10
)

// Format says which output of kubectl is read.
type Format string

// The formats that Import reads.
const (
	WatchEvents Format = "watch-events" // kubectl get … -o json --watch --output-watch-events
	List        Format = "list"         // kubectl get … -o json
)

// ParseFormat reads the name of a format.
func ParseFormat(name string) (Format, error) {
	for _, f := range []Format{WatchEvents, List} {
		if name == string(f) {
			return f, nil
		}
	}
	hint := "use watch-events or list"
	if near := script.Suggest(name, []string{string(WatchEvents), string(List)}); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", script.Errorf(script.Pos{}, hint, "unknown format %q of a recording", name)
}

// Options of an import. The zero value of each but Format works.
type Options struct {
	Name   string // of the recording, in messages and, without its folder, in the script's prose
	Format Format

	// KeepSecrets leaves the values of Secrets as they are.
	KeepSecrets bool

	// Plurals gives the resource name of kinds whose plural cannot be guessed: by "Kind" or "Kind.group".
	Plurals map[string]string

	// WatchOnly says that the recording has no initial list (kubectl's --watch-only), so that all of it is live.
	WatchOnly bool

	// RefuseTruncated makes a last watch event that is cut off an error.
	RefuseTruncated bool
}

// Result is an imported recording.
type Result struct {
	File *script.File // as parsed from its own printed form, so it has positions

	Kinds     []Kind   // in the order of the recording
	Documents int      // watch events, or objects of a list
	Creates   int      // objects of the initial states and created later
	Updates   int      //
	Deletes   int      // guessed ones included
	Redacted  int      // Secrets whose values were replaced, each of their versions counted
	Warnings  []string // what the user should know; each is also prose in the script
}

// Kind is one kind of object of a recording.
type Kind struct {
	Resource   string // PLURAL[.GROUP]/VERSION, as in the script
	Kind       string
	Namespaced bool
	Informer   string // its name in the script
}
