package reports_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
)

func TestRefusedIsSaid(t *testing.T) {
	r := &reports.Run{Scenario: "s", Refused: []reports.Refused{
		{Informer: "i1", Keys: []string{"default/a", "default/b", "default/c", "default/d", "default/e"}, Synced: true},
		{Informer: "i2", Keys: []string{"default/a"}},
	}}
	var text, json strings.Builder
	if err := reports.WriteText(&text, reports.Report{Run: r}); err != nil {
		t.Fatal(err)
	}
	if err := reports.WriteJSON(&json, reports.Report{Run: r}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"      the transform of i1 fails for default/a, default/b, default/c, default/d, and 1 more: what it has of that is not judged\n",
		"      the transform of i2 fails for default/a: what it has of that is not judged; it has not synced, since no list with such an object is taken\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the verdict lacks %q:\n%s", want, text.String())
		}
	}
	if want := `"refused":[{"informer":"i1","keys":["default/a","default/b","default/c","default/d","default/e"],"synced":true},`; !strings.Contains(json.String(), want) {
		t.Errorf("the JSON lacks %s:\n%s", want, json.String())
	}
}
