package reports

import (
	"fmt"
	"strings"
)

// Refused says for which objects an informer's transform fails: it is not blamed for what it has of them, or lacks.
type Refused struct {
	Informer string   `json:"informer"`
	Keys     []string `json:"keys"`
	// Synced reports whether the informer has synced at the end. Without a list that its transform takes it cannot.
	Synced bool `json:"synced"`
}

// maxRefused is how many keys a verdict names; JSON has all of them.
const maxRefused = 4

// String says it as a verdict does.
func (r Refused) String() string {
	keys := r.Keys
	if len(keys) > maxRefused {
		keys = append(keys[:maxRefused:maxRefused], fmt.Sprintf("and %d more", len(r.Keys)-maxRefused))
	}
	text := fmt.Sprintf("the transform of %s fails for %s: what it has of that is not judged", r.Informer, strings.Join(keys, ", "))
	if !r.Synced {
		text += "; it has not synced, since no list with such an object is taken"
	}
	return text
}
