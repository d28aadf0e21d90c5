package gates

import (
	"strconv"
	"strings"
)

// Release is the release of client-go that this program is built with. A guest's build sets it.
var Release = "v0.37.2"

// minor is its minor release: 37.
func minor() int {
	_, after, _ := strings.Cut(Release, ".")
	text, _, _ := strings.Cut(after, ".")
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("client-go " + Release + " has no minor release")
	}
	return n
}
