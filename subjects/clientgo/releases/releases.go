package releases

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/informersim/informersim/subjects"
)

// Minor is a minor release of client-go: 31 is v0.31, that of Kubernetes v1.31.
type Minor struct {
	Number int
	// Newest is its newest patch release when the table was made; of v0.18, that before v0.18.20, which the module proxy does not hand out.
	Newest int
	// Oldest is its oldest patch release that a guest can be built with.
	Oldest int
}

// Newest returns the minor's newest patch release: v0.31.14.
func (m Minor) NewestVersion() string { return fmt.Sprintf("v0.%d.%d", m.Number, m.Newest) }

// All are the minor releases that a guest can be built with, the oldest first.
func All() []Minor { return table }

var table = []Minor{
	{17, 17, 5}, {18, 19, 2}, // the apimachinery of those before cannot tell a timeout of the network from other errors
	{19, 16, 0}, {20, 15, 0}, {21, 14, 0}, {22, 17, 0}, {23, 17, 0}, {24, 17, 0}, {25, 16, 0}, {26, 15, 0},
	{27, 16, 0}, {28, 15, 0}, {29, 15, 0}, {30, 14, 0}, {31, 14, 0}, {32, 13, 0}, {33, 13, 0}, {34, 13, 0}, {35, 10, 0}, {36, 6, 0}, {37, 2, 0},
}

// BuiltIn is the release that informersim itself is built with.
const BuiltIn = "v0.37.2"

// Next is the minor release to come, and FirstOfNext the pre-release of it that was looked at. That and later ones, the release itself included, are guests as
// well: who maintains client-go can hold a change against the properties before it is released.
const (
	Next        = 38
	FirstOfNext = "v0.38.0-beta.0"
)

// feature is something that came with a release.
type feature struct {
	since int // the first minor release that has it
	// tag is the build tag of guests that lack it; "" if sources do not differ.
	tag string
	// lack is what a scenario that asks for it asks for; the zero value if none does.
	lack subjects.Feature
	what string // for people
}

var features = []feature{
	{since: 18, tag: "no_eof_retries", what: "retries of a REST client whose list ends early, and a tenth retry"},
	{since: 22, tag: "no_watch_retries", what: "retries of a REST client that opens a watch"},
	{since: 23, tag: "no_drains", lack: subjects.Drains, what: "ShutDownWithDrain of a work queue"},
	{since: 24, tag: "no_transforms", lack: subjects.Transforms, what: "SetTransform"},
	{since: 25, tag: "no_log_state", what: "a klog whose state can be put back"},
	{since: 26, tag: "no_registrations", lack: subjects.Removals, what: "RemoveEventHandler"},
	{since: 27, tag: "no_handler_sync", lack: subjects.HandlerSync, what: "HasSynced of a handler's registration"},
	{since: 27, lack: subjects.InitialFlags, what: "isInInitialList, an argument of OnAdd"},
	{since: 32, tag: "no_http2_lost", what: "retries of a REST client after a lost HTTP/2 connection"},
	{since: 28, lack: subjects.OneBackoff, what: "one backoff for lists and watches"},
	{since: 30, lack: subjects.LateIndexes, what: "indexes that are added to an informer that runs"},
	{since: 30, tag: "no_feature_gates", what: "feature gates"},
	{since: 31, lack: subjects.StreamingLists, what: "streaming lists, by a feature gate"},
	{since: 31, lack: subjects.WatchTimeouts, what: "this order of random draws"},
	{since: 31, tag: "no_typed_queues", what: "work queues with a type parameter"},
	{since: 31, lack: subjects.ReadyKeys, what: "a hook in the list of ready keys"},
	{since: 31, tag: "no_panic_context", what: "contexts for handlers of panics"},
	{since: 33, tag: "no_contexts", what: "contexts for informers and their ListerWatcher"},
	{since: 33, tag: "no_in_order", lack: subjects.QueueFeature(subjects.QueueInOrder), what: "RealFIFO, which keeps the order of events"},
	{since: 34, lack: subjects.StreamTransforms, what: "transforms of what a streaming list brings, as it comes"},
	{since: 34, tag: "no_loop_check", what: "a controller whose loop looks at its context"},
	{since: 35, tag: "no_own_channels", what: "no channel in a package variable"},
	{since: 36, lack: subjects.BackoffResets, what: "a backoff that becomes short again although it is used"},
	{since: 37, tag: "no_typed_handlers", what: "handlers and informers with a type parameter"},
	{since: 36, tag: "no_atomic", lack: subjects.QueueFeature(subjects.QueueAtomic), what: "RealFIFO with a list as one event"},
}

// Release is one release of client-go.
type Release struct {
	Version      string // v0.31.14; of a working copy, its folder
	Minor, Patch int
	Folder       string // of a working copy, "" for what was published
}

// Go is the version of Go that it needs, or that a guest does.
func (r Release) Go() string {
	if r.Minor >= 38 {
		return "1.27.0"
	}
	return "1.26.0"
}

// Subject returns the name of the subject: client-go@v0.31.14.
func (r Release) Subject() string { return "client-go@" + r.Version }

// Tags returns the build tags of a guest with this release.
func (r Release) Tags() []string {
	var tags []string
	for _, f := range features {
		if f.tag != "" && r.Minor < f.since {
			tags = append(tags, f.tag)
		}
	}
	return tags
}

// Lacks returns what a scenario may ask for and this release does not have.
func (r Release) Lacks() map[subjects.Feature]string {
	lacks := map[subjects.Feature]string{}
	for _, f := range features {
		if f.lack != "" && r.Minor < f.since {
			lacks[f.lack] = fmt.Sprintf("client-go has it since v0.%d: %s", f.since, f.what)
		}
	}
	return lacks
}

// Queues returns the queues that its informers can have.
func (r Release) Queues() []subjects.Queue {
	queues, lacks := []subjects.Queue{}, r.Lacks()
	for _, q := range []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic} {
		if _, lacking := lacks[subjects.QueueFeature(q)]; !lacking {
			queues = append(queues, q)
		}
	}
	return queues
}

// Gated reports whether the loop of its controller looks at a context before it takes from the queue. Where it does not, a guest's build
// has to add that.
func (r Release) Gated() bool { return r.Minor >= 34 }

var (
	exact = regexp.MustCompile(`^v0\.(\d{1,3})\.(\d{1,3})$`)
	pre   = regexp.MustCompile(`^v0\.(\d{1,3})\.0-(alpha|beta|rc)\.\d{1,3}$`)
	short = regexp.MustCompile(`^v?[01]\.(\d{1,3})$`)
	other = regexp.MustCompile(`^v?[01]\.(\d{1,3})\.(\d{1,3})$`)
)

// Parse returns the release of a version: v0.31.14, v0.31 for the newest of that minor, or a pre-release of the next one.
func Parse(version string) (Release, error) {
	if m := pre.FindStringSubmatch(version); m != nil {
		minor, _ := strconv.Atoi(m[1]) // at most three digits
		switch {
		case minor < Next:
			return Release{}, fmt.Errorf("client-go %s is no release: write client-go@v0.%d for the newest patch that informersim knows", version, minor)
		case minor > Next || m[2] == "alpha":
			return Release{}, fmt.Errorf("client-go %s has not been looked at: of pre-releases, a guest can be built with %s and later ones of v0.%d", version, FirstOfNext, Next)
		}
		return Release{Version: version, Minor: minor}, nil
	}
	if m := exact.FindStringSubmatch(version); m != nil {
		minor, _ := strconv.Atoi(m[1])
		patch, _ := strconv.Atoi(m[2])
		if minor == Next {
			return Release{Version: version, Minor: minor, Patch: patch}, nil
		}
		for _, known := range table {
			switch {
			case known.Number != minor:
			case patch < known.Oldest:
				return Release{}, fmt.Errorf("no guest can be built with client-go %s: v0.%d.%d is the oldest one of that minor", version, minor, known.Oldest)
			default:
				return Release{Version: version, Minor: minor, Patch: patch}, nil
			}
		}
		return Release{}, fmt.Errorf("client-go %s is not one of those that a guest can be built with: %s to %s", version, table[0].NewestVersion(), table[len(table)-1].NewestVersion())
	}
	if m := short.FindStringSubmatch(version); m != nil && strings.HasPrefix(version, "v0.") {
		minor, _ := strconv.Atoi(m[1])
		if minor == Next {
			return Release{}, fmt.Errorf("informersim knows no release of client-go v0.%d yet: name one, such as client-go@%s", minor, FirstOfNext)
		}
		for _, known := range table {
			if known.Number == minor {
				return Parse(known.NewestVersion())
			}
		}
		return Parse(fmt.Sprintf("v0.%d.0", minor))
	}
	hint := "write client-go@v0.31.14, or client-go@v0.31 for the newest patch that informersim knows"
	if m := other.FindStringSubmatch(version); m != nil {
		hint = fmt.Sprintf("did you mean client-go@v0.%s.%s?", m[1], m[2])
	} else if m := short.FindStringSubmatch(version); m != nil {
		hint = fmt.Sprintf("did you mean client-go@v0.%s?", m[1])
	}
	if strings.ContainsAny(version, `/\`) {
		hint = fmt.Sprintf("a folder begins with a dot or is absolute: did you mean client-go@./%s?", filepath.ToSlash(version))
	}
	return Release{}, fmt.Errorf("%q is not a release of client-go; %s", version, hint)
}
