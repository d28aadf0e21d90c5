package kubernetes_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/simtest"
)

// observer sees each change of a Pod once, whenever a step has made one.
type observer struct {
	env  *simtest.Env
	seen map[types.UID]*corev1.Pod
}

// each calls see for every Pod that is new, has changed or has gone since the last call: it was before, and is now. Of two changes within one
// step it sees what they came to.
func (o *observer) each(see func(before, now *corev1.Pod) error) error {
	var pods corev1.PodList
	if err := o.env.List(&pods, ""); err != nil {
		return err
	}
	now := make(map[types.UID]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		p := &pods.Items[i]
		now[p.UID] = p
		before := o.seen[p.UID]
		if before != nil && before.ResourceVersion == p.ResourceVersion {
			continue
		}
		if err := see(before, p); err != nil {
			return err
		}
	}
	for uid, before := range o.seen { // the order is that of no requirement: the first error is one of several
		if now[uid] == nil {
			if err := see(before, nil); err != nil {
				return err
			}
		}
	}
	o.seen = now
	return nil
}
