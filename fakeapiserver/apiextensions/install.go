package apiextensions

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// Install creates a definition, or updates the existing one to the same spec, inside a step. It is established when Install returns.
// Its status is ignored. Install fails like the API.
func (s *Server) Install(d *apiextensionsv1.CustomResourceDefinition) error {
	live := s.get(d.Name)
	next := d.DeepCopy()
	next.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	var err error
	switch {
	case live == nil:
		next.ResourceVersion, next.UID = "", ""
		err = s.create(next)
	case live.DeletionTimestamp != nil:
		return fmt.Errorf("CustomResourceDefinition %q is being deleted; install it again once it is gone", d.Name)
	case equality.Semantic.DeepEqual(live.Spec, next.Spec):
	default:
		changed := live.DeepCopy()
		changed.Spec = next.Spec
		err = s.update(live, changed)
	}
	if err != nil {
		return err
	}
	for again := true; again; {
		s.reconcile(d.Name, s.atOnce(), func(more bool, failed error) { again, err = more, failed })
		if err != nil {
			return err
		}
	}
	live = s.get(d.Name)
	if !apihelpers.IsCRDConditionTrue(live, apiextensionsv1.Established) || !apihelpers.IsCRDConditionTrue(live, apiextensionsv1.NamesAccepted) {
		why := "it is not established"
		if c := apihelpers.FindCRDCondition(live, apiextensionsv1.NamesAccepted); c != nil {
			why = c.Reason + ": " + c.Message
		}
		return fmt.Errorf("CustomResourceDefinition %q is not served: %s", d.Name, why)
	}
	return nil
}

// Restore serves definitions that are about to be put into the Store, with their objects stored up to a revision.
func (s *Server) Restore(definitions []*apiextensionsv1.CustomResourceDefinition, until int64) error {
	for _, d := range definitions {
		var err error
		s.serve(d.Name, d, until, s.atOnce(), func(failed error) { err = failed })
		if err != nil {
			return fmt.Errorf("CustomResourceDefinition %q: %w", d.Name, err)
		}
	}
	return nil
}

// installer is the user agent that installs definitions.
const installer = "informersim"

func (s *Server) request(name string) patch.Request {
	uid, suffix := s.cluster.Store().Mint(types.SuffixAlphabet, types.SuffixLength)
	return patch.Request{Resource: s.resource, Name: name, UserAgent: installer, System: types.System{UID: uid, Now: s.now().Time, Suffix: suffix}}
}

func (s *Server) create(d *apiextensionsv1.CustomResourceDefinition) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	result, err := s.writer.Create(s.request(""), types.Body{Data: data, ContentType: types.JSON}, &metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.cluster.Create(s.res, result.Object)
	return err
}

func (s *Server) update(live, next *apiextensionsv1.CustomResourceDefinition) error {
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	result, err := s.writer.Update(s.request(live.Name), live, types.Body{Data: data, ContentType: types.JSON}, &metav1.UpdateOptions{})
	if err != nil || result.Unchanged {
		return err
	}
	_, err = s.cluster.Update(s.res, result.Object)
	return err
}
