package wellbehaved

import (
	"fmt"
	"slices"
)

// author is who has written something: a process, or what writes in its name as another field manager, and which of its controllers, if a test tells of reconciles.
type author struct{ process, controller string }

// is reports whether two are the same, as far as is known.
func (a author) is(b author) bool {
	return a.process == b.process && (a.controller == b.controller || a.controller == "" || b.controller == "")
}

// beside names an author so that it differs from another one.
func (a author) beside(b author) string {
	if a.is(b) || a.process != b.process {
		return a.process
	}
	return fmt.Sprintf("%s of %s", a.controller, a.process)
}

// among reports whether an author is one of some.
func (a author) among(all []author) bool { return slices.ContainsFunc(all, a.is) }

// author returns who has made a commit.
func (s senders) author(x *write) author {
	return author{x.who(), s[sentBy{x.client, x.number}].controller}
}
