package render

import (
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

var metaDocs = metav1.ObjectMeta{}.SwaggerDoc()

// scaleTable returns the table of a scale subresource.
func scaleTable(obj runtime.Object, o *metav1.TableOptions, now time.Time) (*metav1.Table, error) {
	scale, ok := obj.(*autoscalingv1.Scale)
	if !ok {
		return nil, fmt.Errorf("render: %T is not a Scale", obj)
	}
	table := &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: scale.ResourceVersion}}
	if !o.NoHeaders {
		table.ColumnDefinitions = []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]},
			{Name: "Desired", Type: "integer", Description: "Number of desired replicas"},
			{Name: "Available", Type: "integer", Description: "Number of actual replicas"},
			{Name: "Age", Type: "date", Description: metaDocs["creationTimestamp"]},
		}
	}
	age := "<unknown>"
	if t := scale.CreationTimestamp; !t.IsZero() {
		age = duration.HumanDuration(now.Sub(t.Time))
	}
	table.Rows = []metav1.TableRow{{
		Cells:  []any{scale.Name, int64(scale.Spec.Replicas), int64(scale.Status.Replicas), age},
		Object: runtime.RawExtension{Object: scale},
	}}
	return table, nil
}
