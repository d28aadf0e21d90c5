package selectors

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Parse parses a label selector and a field selector. Those of everything, "", are not parsed: that takes the parsers long.
func Parse(byLabel, byField string) (l labels.Selector, f fields.Selector, err error) {
	l, f = labels.Everything(), fields.Everything()
	if byLabel != "" {
		if l, err = labels.Parse(byLabel); err != nil {
			return nil, nil, err
		}
	}
	if byField != "" {
		if f, err = fields.ParseSelector(byField); err != nil {
			return nil, nil, err
		}
	}
	return l, f, nil
}
