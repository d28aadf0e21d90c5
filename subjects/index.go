package subjects

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
)

// IndexSpec describes an index of an informer's Indexer.
type IndexSpec struct {
	Name string
	// By says which values an object has, each a word: "namespace", "name", "labels" (one value for each label, "app=x"), or
	// "label:KEY" (that label's value; none without it). The object has all of them.
	By []string
	// Fails is the key of an object for which the index function returns an error; "" for none (I71).
	Fails string
}

// NamespaceIndex is the index that every informer has.
func NamespaceIndex() IndexSpec { return IndexSpec{Name: "namespace", By: byNamespace} }

var byNamespace = []string{"namespace"}

// Validate fails if By has a word that it does not know, or none.
func (s *IndexSpec) Validate() error {
	if len(s.By) == 0 {
		return fmt.Errorf("index %s: by what? Want namespace, name, labels or label:KEY", s.Name)
	}
	for _, by := range s.By {
		switch key, label := strings.CutPrefix(by, "label:"); {
		case label && key != "", by == "namespace", by == "name", by == "labels":
		default:
			return fmt.Errorf("index %s: %q is nothing to index by: want namespace, name, labels or label:KEY", s.Name, by)
		}
	}
	return nil
}

// Values is the index function.
func (s *IndexSpec) Values(obj any) ([]string, error) {
	return s.AppendValues(make([]string, 0, len(s.By)), obj)
}

// AppendValues appends what the index function returns to values.
func (s *IndexSpec) AppendValues(values []string, obj any) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if s.Fails != "" && s.Fails == strings.TrimPrefix(m.GetNamespace()+"/"+m.GetName(), "/") {
		return nil, fmt.Errorf("index %s fails for %s: the scenario says so", s.Name, s.Fails)
	}
	for _, by := range s.By {
		switch key, label := strings.CutPrefix(by, "label:"); {
		case label:
			if v, has := m.GetLabels()[key]; has {
				values = append(values, v)
			}
		case by == "labels":
			first := len(values)
			for k, v := range m.GetLabels() { // order: sorted below
				values = append(values, k+"="+v)
			}
			slices.Sort(values[first:])
		case by == "name":
			values = append(values, m.GetName())
		default:
			values = append(values, m.GetNamespace())
		}
	}
	return values, nil
}
