package fault

import (
	"fmt"
	"strings"
)

// Kinds returns all kinds, in the order in which they are documented.
func Kinds() []Kind {
	kinds := make([]Kind, 0, numKinds)
	for i := range table {
		kinds = append(kinds, table[i].Kind)
	}
	return kinds
}

// ParseKind parses the name of a kind. The error of an unknown one suggests the closest name.
func ParseKind(text string) (Kind, error) {
	if SpecOf(Kind(text)) != nil || OfWebhook(Kind(text)) {
		return Kind(text), nil
	}
	if near := nearest(text); near != "" {
		return "", fmt.Errorf("there is no fault %q: did you mean %q?", text, near)
	}
	var known []string
	for i := range table {
		known = append(known, string(table[i].Kind))
	}
	return "", fmt.Errorf("there is no fault %q: want one of %s", text, strings.Join(known, ", "))
}

// nearest returns the kind whose name is closest to text, "" if none is close.
func nearest(text string) Kind {
	best, bestDistance := Kind(""), 4
	for i := range table {
		if d := editDistance(text, string(table[i].Kind)); d < bestDistance {
			best, bestDistance = table[i].Kind, d
		}
	}
	for _, w := range webhookKinds {
		if d := editDistance(text, string(w.kind)); d < bestDistance {
			best, bestDistance = w.kind, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
