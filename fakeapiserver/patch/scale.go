package patch

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// unsetReplicas marks a scale whose object does not set replicas.
const unsetReplicas = -1 << 31

// replicasMapper is implemented by strategies that keep replicas elsewhere than in spec.replicas.
type replicasMapper interface {
	ReplicasPaths() managedfields.ResourcePathMappings
}

// throughScale writes an object through its scale: change gets the live scale, with only the managedFields of replicas, and returns
// the new one.
func (w *Writer) throughScale(q *Request, live runtime.Object, change func(scale runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	q.undecoded = true
	scale, found, err := q.Resource.ReadScale(live)
	if err != nil {
		return nil, err
	}
	if !found {
		scale.Spec.Replicas = unsetReplicas
	}
	paths := managedfields.ResourcePathMappings{q.Resource.GroupVersion().String(): fieldpath.MakePathOrDie("spec", "replicas")}
	if mapper, ok := q.Resource.Strategy.(replicasMapper); ok {
		paths = mapper.ReplicasPaths()
	}
	handler := managedfields.NewScaleHandler(managedFieldsOf(live), q.Resource.GroupVersion(), paths)
	if scale.ManagedFields, err = handler.ToSubresource(); err != nil {
		return nil, err
	}
	changed, err := change(scale)
	if err != nil {
		return nil, err
	}
	wanted, ok := changed.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("wrong object passed to Scale update: %v", changed))
	}
	if wanted.Spec.Replicas == unsetReplicas {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the spec replicas field %q cannot be empty", "."+q.Resource.Subresource(q.Subresource).Replicas.Spec))
	}
	obj, err := q.Resource.WriteScale(live, wanted)
	if err != nil {
		return nil, err
	}
	entries, err := handler.ToParent(wanted.ManagedFields)
	if err != nil {
		return nil, err
	}
	setManagedFields(obj, entries)
	return obj, nil
}
