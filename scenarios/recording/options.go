package recording

import (
	"github.com/informersim/informersim/scenarios/script"
)

// Limits of a recording.
const (
	MaxInputSize    = 1 << 30  // bytes read
	maxDocumentSize = 64 << 20 // bytes of one event or listed object with its whitespace; etcd's limit is 1.5 MiB
	maxObjectSize   = script.MaxLineLength - 64<<10
)

// Format is the format of a recording.
type Format string

// The formats that Import reads.
const (
	WatchEvents Format = "watch-events" // kubectl get … -o json --watch --output-watch-events
	List        Format = "list"         // kubectl get … -o json
	Audit       Format = "audit"        // an apiserver's audit log, audit.k8s.io/v1 as lines of JSON
)

// ParseFormat returns the format called name.
func ParseFormat(name string) (Format, error) {
	for _, f := range []Format{WatchEvents, List, Audit} {
		if name == string(f) {
			return f, nil
		}
	}
	hint := "use watch-events, list or audit"
	if near := script.Suggest(name, []string{string(WatchEvents), string(List), string(Audit)}); near != "" {
		hint = "did you mean " + near + "?"
	}
	return "", script.Errorf(script.Pos{}, hint, "unknown recording format %q", name)
}

// Options configure an import. Only Format is required.
type Options struct {
	Name   string // of the recording, in messages and, without its directory, in the script's prose
	Format Format

	// KeepSecrets leaves the values of Secrets unredacted.
	KeepSecrets bool

	// RedactAll replaces every string value that no selector needs by a hash; see redactAll. KeepFields are paths of further
	// strings to keep, such as the selectable fields of a custom resource.
	RedactAll  bool
	KeepFields []string

	// KeepManagedFields keeps metadata.managedFields.
	KeepManagedFields bool

	// Plurals maps "Kind" or "Kind.group" to the resource name of kinds whose plural cannot be guessed.
	Plurals map[string]string

	// WatchOnly means that the recording has no initial list (kubectl's --watch-only): all of its events are live.
	WatchOnly bool

	// Resources are those that are taken from an audit log, "pods" or "deployments.apps"; none for all.
	Resources []string

	// RefuseTruncated makes a truncated last watch event an error.
	RefuseTruncated bool
}

// A Result is an imported recording.
type Result struct {
	File *script.File // parsed from its printed form, so it has positions

	Kinds     []Kind   // in the order of the recording
	Documents int      // watch events, or objects of a list
	Bookmarks int      // among the documents
	Creates   int      // objects in the initial states or created later
	Updates   int      //
	Deletes   int      // including guessed ones
	Redacted  int      // versions of objects whose values were replaced: of Secrets, or of all
	Warnings  []string // for the user; each is also in the script's prose
}

// A Kind is one kind of object in a recording.
type Kind struct {
	Resource   string // PLURAL[.GROUP]/VERSION, as in the script
	Kind       string
	Namespaced bool
	Informer   string // its name in the script
}
