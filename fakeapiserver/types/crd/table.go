package crd

import (
	"context"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
)

// table builds tables of a version's objects. The library would compute ages with the real clock, so it gets date columns as
// strings, and the ages are computed here.
type table struct {
	convertor rest.TableConvertor
	dates     []int // the columns that are dates; the name is column 0
}

const dateType = "date"

func newTable(v *apiextensionsv1.CustomResourceDefinitionVersion) (*table, error) {
	t := &table{}
	var asked []apiextensionsv1.CustomResourceColumnDefinition
	for i, c := range columns(v) {
		if c.Type == dateType {
			t.dates = append(t.dates, i+1)
			c.Type = "string"
		}
		asked = append(asked, c)
	}
	convertor, err := tableconvertor.New(asked)
	t.convertor = convertor
	return t, err
}

// columns returns a version's printer columns; the age if it has none.
func columns(v *apiextensionsv1.CustomResourceDefinitionVersion) []apiextensionsv1.CustomResourceColumnDefinition {
	if len(v.AdditionalPrinterColumns) > 0 {
		return v.AdditionalPrinterColumns
	}
	return []apiextensionsv1.CustomResourceColumnDefinition{{
		Name: "Age", Type: dateType, JSONPath: ".metadata.creationTimestamp", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
	}}
}

// Table returns the definition's printer columns.
func (s *strategy) Table(obj runtime.Object, options *metav1.TableOptions, now time.Time) (*metav1.Table, error) {
	out, err := s.table.convertor.ConvertToTable(context.Background(), obj, options)
	if err != nil {
		return nil, err
	}
	if len(out.ColumnDefinitions) > 0 {
		headers := append([]metav1.TableColumnDefinition(nil), out.ColumnDefinitions...)
		for _, i := range s.table.dates {
			headers[i].Type = dateType
		}
		out.ColumnDefinitions = headers
	}
	for _, row := range out.Rows {
		for _, i := range s.table.dates {
			if text, ok := row.Cells[i].(string); ok {
				row.Cells[i] = age(text, now)
			}
		}
	}
	return out, nil
}

// age formats a date's age as tables do.
func age(text string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "<invalid>"
	}
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t))
}
