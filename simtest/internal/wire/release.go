package wire

import "regexp"

// Devel is the release of a working copy.
const Devel = "devel"

// pseudo matches the end of a version that stands for a commit without a tag.
var pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})$`)

// Commit returns the commit of a pseudo-version, "" for other versions. The modules of one commit have different pseudo-versions, since each
// has tags of its own.
func Commit(release string) string {
	if m := pseudo.FindStringSubmatch(release); m != nil {
		return m[1]
	}
	return ""
}

// SameRelease reports whether two programs may be of the same release. Nobody knows what a working copy is of.
func SameRelease(a, b string) bool {
	return a == b || a == Devel || b == Devel || Commit(a) != "" && Commit(a) == Commit(b)
}
