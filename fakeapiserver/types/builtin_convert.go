package types

import (
	"encoding/json"
	"errors"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"
)

// Convert returns the object in this version without changing obj. Fields that both versions have keep their values.
func (s *builtin) Convert(obj runtime.Object) (runtime.Object, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	switch {
	case gvk.Empty() || gvk == s.gvk:
		return obj, nil
	case gvk.GroupKind() != s.gvk.GroupKind():
		return nil, fmt.Errorf("types: there is no conversion from %s to %s", gvk, s.gvk)
	}
	switch o := obj.(type) {
	case *autoscalingv1.HorizontalPodAutoscaler:
		return hpaToV2(o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		return hpaToV1(o)
	}
	out := s.New()
	if err := recode(obj, out); err != nil {
		return nil, fmt.Errorf("types: convert %s to %s: %w", gvk, s.gvk, err)
	}
	out.GetObjectKind().SetGroupVersionKind(s.gvk)
	return out, nil
}

// Stored returns the object in its storage version.
func (s *builtin) Stored(obj runtime.Object) (runtime.Object, error) {
	if s.gvk.Version == s.resource.StorageVersion {
		return s.Convert(obj)
	}
	stored := *s
	stored.gvk.Version = s.resource.StorageVersion
	return stored.Convert(obj)
}

// recode copies what two types have in common through JSON. Fields of different forms are left out.
func recode(from, to any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, to)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) {
		return nil
	}
	return err
}
