package rest

import (
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// post carries out a create that the server sends to itself.
func (s *Server) post(id store.ResourceID, e *types.Effect) error {
	r := s.resourceOf(e.Resource)
	if r == nil {
		return apierrors.NewInternalError(fmt.Errorf("%s are not served", e.Resource))
	}
	data, err := json.Marshal(e.Create)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	uid, suffix := s.cluster.Store().Mint(types.SuffixAlphabet, types.SuffixLength)
	result, err := s.writer.Create(patch.Request{
		Resource: r, UserAgent: ownClient, List: s.list, Get: s.get, System: types.System{UID: uid, Now: s.now(), Suffix: suffix},
	}, types.Body{Data: data, ContentType: types.JSON}, &metav1.CreateOptions{})
	if err != nil {
		return err
	}
	stored, err := s.cluster.Create(id, result.Object)
	if err == nil {
		s.setPersisted(id, stored, result.Persisted)
	}
	return err
}

// put carries out an update that the server sends to itself, as the effect of another request. It goes through no connection, so it
// meets none of their faults.
func (s *Server) put(id store.ResourceID, e *types.Effect) error {
	r := s.resourceOf(e.Resource)
	if r == nil {
		return apierrors.NewInternalError(fmt.Errorf("%s are not served", e.Resource))
	}
	m := accessor(e.Put)
	live := s.live(id, m.GetNamespace(), m.GetName())
	data, err := json.Marshal(e.Put)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	uid, suffix := s.cluster.Store().Mint(types.SuffixAlphabet, types.SuffixLength)
	result, err := s.writer.Update(patch.Request{
		Resource: r, Subresource: e.Subresource, Namespace: m.GetNamespace(), Name: m.GetName(), UserAgent: ownClient, List: s.list, Get: s.get,
		System: types.System{UID: uid, Now: s.now(), Suffix: suffix}, Persisted: s.persisted(id, live),
	}, live, types.Body{Data: data, ContentType: types.JSON}, &metav1.UpdateOptions{})
	if err != nil || result.Unchanged || result.Object == nil {
		return err
	}
	stored, err := s.cluster.Update(id, result.Object)
	if err == nil {
		s.setPersisted(id, stored, result.Persisted)
	}
	return err
}
