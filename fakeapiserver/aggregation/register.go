package aggregation

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// managed is the label of an APIService that is looked after, and says when: as long as the server runs, or once when it starts.
const (
	managed = "kube-aggregator.kubernetes.io/automanaged"
	always  = "true"
	onStart = "onstart"
)

func nameOf(gv schema.GroupVersion) string { return gv.Version + "." + gv.Group }

// want has the APIService of a version looked after.
func (s *Server) want(gv schema.GroupVersion, when string) {
	name, priority := nameOf(gv), types.PriorityOf(gv)
	if s.wanted[name] != nil {
		return
	}
	s.wanted[name] = &apiregistrationv1.APIService{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Kind: "APIService"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managed: when}},
		Spec: apiregistrationv1.APIServiceSpec{
			Group: gv.Group, Version: gv.Version, GroupPriorityMinimum: priority.Group, VersionPriority: priority.Version,
		},
	}
	s.enqueue(name)
}

// wantOf has the APIServices of a definition's versions looked after: those that a definition of the group serves, and no others.
func (s *Server) wantOf(d *apiextensionsv1.CustomResourceDefinition) {
	for i := range d.Spec.Versions {
		gv := schema.GroupVersion{Group: d.Spec.Group, Version: d.Spec.Versions[i].Name}
		name := nameOf(gv)
		switch have := s.wanted[name]; {
		case have != nil && have.Labels[managed] == onStart: // a group of the server's own
		case s.defines(gv):
			s.want(gv, always)
		case have != nil:
			delete(s.wanted, name)
			s.enqueue(name)
		}
	}
}

// defines reports whether a definition serves a version.
func (s *Server) defines(gv schema.GroupVersion) bool {
	for _, d := range s.definitionsOf(gv.Group) {
		for i := range d.Spec.Versions {
			if d.Spec.Versions[i].Name == gv.Version && d.Spec.Versions[i].Served {
				return true
			}
		}
	}
	return false
}

// definitionsOf returns the definitions of a group, or of all groups for "".
func (s *Server) definitionsOf(group string) (all []*apiextensionsv1.CustomResourceDefinition) {
	for _, d := range walk[*apiextensionsv1.CustomResourceDefinition](s, definitions) {
		if group == "" || d.Spec.Group == group {
			all = append(all, d)
		}
	}
	return all
}

// register makes, mends or deletes the APIService of a name: kube-aggregator's checkAPIService (controllers/autoregister), whose table of cases
// the comments cite.
func (s *Server) register(name string) (err error) {
	wanted, live := s.wanted[name], s.get(name)
	synced := s.synced[name]
	if !synced {
		defer func() { s.synced[name] = err == nil }()
	}
	switch {
	case live == nil && wanted == nil: // 2A
		return nil
	case wanted != nil && wanted.Labels[managed] == onStart && synced: // once: 2B, 5B, 6B
		return nil
	case live == nil: // 2B, 2C
		return s.api.Effect(types.Effect{Resource: apiServices, Create: wanted.DeepCopy()})
	case live.Labels[managed] != onStart && live.Labels[managed] != always: // 3
		return nil
	case live.Labels[managed] == onStart && (!s.atStart[name] || synced): // 4, and once: 5
		return nil
	case wanted == nil: // 5A, 6A
		return controllers.Delete(s.cluster, s.ids[apiServices], "", name)
	case reflect.DeepEqual(live.Spec, wanted.Spec):
		return nil
	}
	mended := live.DeepCopy() // 5B, 5C, 6B, 6C
	mended.Spec = wanted.Spec
	return s.api.Effect(types.Effect{Resource: apiServices, Put: withKind(mended)})
}

// withKind sets an object's kind, which a stored one may lack.
func withKind(a *apiregistrationv1.APIService) *apiregistrationv1.APIService {
	a.TypeMeta = metav1.TypeMeta{APIVersion: apiregistrationv1.SchemeGroupVersion.String(), Kind: "APIService"}
	return a
}
