package basic

import "testing"

// What controllers log in passing is told from what is worth a line.
func TestOrdinaryErrors(t *testing.T) {
	for text, want := range map[string]bool{
		`sync "default/web" failed with read version: 12 is not as new as written version: 14 for group resource pods`:                           true,
		`Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again`: true,
		`sync "default/web" failed with pods "web-" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`:           false,
		`Failed to watch *v1.Pod: failed to list *v1.Pod: an error on the server ("") has prevented the request from succeeding (get pods)`:      false,
	} {
		if isOrdinary(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
