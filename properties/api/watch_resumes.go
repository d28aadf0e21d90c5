package api

import (
	"slices"

	"github.com/informersim/informersim/scenarios/property"
)

// WatchResumes checks that a client goes on where it was.
func WatchResumes(o Options) property.Property {
	return property.Property{
		Name:      "WatchResumes",
		Statement: "the watch after one that ended cleanly begins where that one was, not where it had begun",
		Kinds:     slices.Concat(followerKinds, o.Restarts),
		New:       onRequests(o, func(b *breach) bool { return b.resumes }),
	}
}
