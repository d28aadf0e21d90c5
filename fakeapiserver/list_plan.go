package fakeapiserver

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listPlan says how to answer a list.
type listPlan struct {
	filter
	// exact is the revision to show; 0 for the watch cache's own, once it is at least notBefore.
	exact, notBefore int64
	// consistent reads (RV "") fall back to the Store when the watch cache does not catch up.
	consistent bool
	limit      int64
	from       string // the first key, of a continued list
	continued  bool
}

func (p listPlan) continueAt(o *metav1.ListOptions, current int64) (listPlan, error) {
	t, err := decodeContinue(o.Continue)
	if err != nil {
		return p, apierrors.NewBadRequest("invalid continue token: " + err.Error())
	}
	p.continued = true
	p.from = t.Start
	if p.namespace != "" {
		p.from = p.namespace + "/" + t.Start
	}
	if t.Revision > 0 {
		p.exact = t.Revision
	} else {
		p.notBefore, p.consistent = current, true
	}
	return p, nil
}

// relativeKey returns a key relative to the listed prefix, as in tokens.
func (p *listPlan) relativeKey(key string) string {
	if p.namespace != "" {
		return strings.TrimPrefix(key, p.namespace+"/")
	}
	return key
}
