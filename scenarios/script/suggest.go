package script

import (
	"fmt"
	"strings"
)

// Suggest returns the choice that word is most likely a misspelling of, or "" if none is close. The first of equally close
// choices wins.
func Suggest(word string, choices []string) string {
	word = strings.ToLower(word)
	best, bestDistance := "", 1+max(1, len(word)/3)
	for _, choice := range choices {
		lower := strings.ToLower(choice)
		if len(word) >= 3 && strings.HasPrefix(lower, word) {
			return choice
		}
		// An edit changes the length by at most one, so a choice much longer or shorter cannot be close.
		if len(lower)-len(word) >= bestDistance || len(word)-len(lower) >= bestDistance {
			continue
		}
		if d := editDistance(word, lower); d < bestDistance {
			best, bestDistance = choice, d
		}
	}
	return best
}

// didYouMean returns the hint for a word that is not among the choices.
func didYouMean(word string, choices []string) string {
	if near := Suggest(word, choices); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(choices) == 0 {
		return ""
	}
	return "use one of " + strings.Join(choices, ", ")
}

// editDistance counts the insertions, deletions, substitutions and transpositions of bytes between a and b.
func editDistance(a, b string) int {
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
