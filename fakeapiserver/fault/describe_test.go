package fault

import (
	"strings"
	"testing"
)

// Every kind has a line of help, and only kinds have one.
func TestEveryKindIsDescribed(t *testing.T) {
	help := Help(Everyday) + Help(Rare) + Help(Broken) + Help(Others)
	for _, s := range Specs() {
		text := Describe(s.Kind)
		if text == "" || len(text) > 100 {
			t.Errorf("%s: %q", s.Kind, text)
		}
		if !strings.Contains(help, "  "+string(s.Kind)+" ") || !strings.Contains(help, text+"\n") {
			t.Errorf("the help lacks %s", s.Kind)
		}
	}
	for k := range descriptions { // order: each is checked alone
		if SpecOf(k) == nil && !OfWebhook(k) {
			t.Errorf("%s is described, and is no kind", k)
		}
	}
}
