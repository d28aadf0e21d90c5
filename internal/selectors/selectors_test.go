package selectors_test

import (
	"testing"

	"github.com/informersim/informersim/internal/selectors"
)

func TestParse(t *testing.T) {
	for _, of := range []struct {
		labels, fields, want string
		fails                bool
	}{
		{want: " "},
		{labels: "app=x", want: "app=x "},
		{fields: "metadata.name=a", want: " metadata.name=a"},
		{labels: "app in", fails: true},
		{fields: "a", fails: true},
	} {
		l, f, err := selectors.Parse(of.labels, of.fields)
		switch {
		case err != nil || of.fails:
			if err == nil || !of.fails {
				t.Errorf("%q %q: the error is %v", of.labels, of.fields, err)
			}
		case l.String()+" "+f.String() != of.want:
			t.Errorf("%q %q: %s %s", of.labels, of.fields, l, f)
		}
	}
}
