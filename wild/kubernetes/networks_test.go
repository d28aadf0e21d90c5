package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	haveNetworks = "each Node has a network"
	ownNetworks  = "no two Nodes have the same network"
)

// In the end each Node has a network, and at no time have two Nodes the same one, whichever come and go, unless the controller
// was told three times that it could not write what may have been written, which is a finding of its own. There are eight networks, and five Nodes at most. What Nodes that
// were deleted have kept, another finding, is free again after a restart; so there is one before the end. A controller that ends before its cache is filled does not shut its queue
// down, so goroutines are left.
func TestNodeNetworks(t *testing.T) {
	simtest.Run(t, simtest.Options{AllowLeaks: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		failed := map[string]int{}
		env.Always(ownNetworks, func() error { return networksDiffer(env, failed) })
		allocateNetworks(env, "10.0.0.0/24", 27, failed)
		for n := range 25 {
			var nodes corev1.NodeList
			if env.List(&nodes, "") == nil && len(nodes.Items) < 5 && env.Rand().IntN(3) > 0 {
				env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}})
			} else if len(nodes.Items) > 0 {
				env.Delete(&nodes.Items[env.Rand().IntN(len(nodes.Items))])
			}
			pause(env, 20*time.Second)
		}
		startAnew(env, "networks")
		env.Eventually(haveNetworks, time.Hour, func() error { return networksAreThere(env) })
	})
}

func networksAreThere(env *simtest.Env) error {
	var nodes corev1.NodeList
	if err := env.List(&nodes, ""); err != nil {
		return err
	}
	for _, n := range nodes.Items {
		if n.Spec.PodCIDR == "" {
			return fmt.Errorf("%s has none", n.Name)
		}
	}
	return nil
}

// A Node's network is free again when the Node is deleted: the one that the cache knows. If the watch is down from before the Node got it until it was deleted, the cache knows of none, and the
// network is lost until the controller is started again. Here there are four of them, so one of the next four Nodes gets none.
func TestDeletedNodeKeepsItsNetwork(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}
		env.Create(node)
		allocateNetworks(env, "10.0.0.0/24", 26, map[string]int{})
		env.Settle()
		missUpdatesOf(env, "networks", "nodes", func() {
			env.Advance(time.Second)
			env.Delete(node)
		}, func(n int) simtest.Object {
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("other-%d", n)}}
		})
		env.Eventually(haveNetworks, time.Hour, func() error { return networksAreThere(env) })
	}, haveNetworks)
}

// The controller writes a Node's network up to three times, and takes it back if that fails. It means to keep it if nobody knows whether the Node has it, but looks for one such error
// only, and does not see that one either, as it is wrapped as text. So a network that a Node has is free until the cache says otherwise, and another Node gets it, too.
func TestLostAnswersGiveNetworkTwice(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 100}, func(env *simtest.Env) {
		env.Always(ownNetworks, func() error { return networksDiffer(env, nil) })
		for n := range 2 {
			env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}})
		}
		allocateNetworks(env, "10.0.0.0/24", 26, map[string]int{})
		env.Settle()
		env.Inject(
			fault.Fault{Kind: fault.WatchStall, Target: "networks", Resource: "nodes", Duration: time.Minute},
			fault.Fault{Kind: fault.WriteLost, Target: "networks", Verb: "patch", Resource: "nodes", Name: "node-0", Count: 3},
			fault.Fault{Kind: fault.Write503, Target: "networks", Verb: "patch", Resource: "nodes", Name: "node-1", Count: fault.Lasting, Until: 20 * time.Second},
		)
		env.Advance(10 * time.Minute)
	}, ownNetworks)
}

// allocateNetworks starts the controller, and does for the apiserver what that of a Go test does not: a Node that has a network keeps it, and a request to give it another one fails. It
// counts in failed, for each Node, the requests of which the controller cannot know whether they gave it one.
func allocateNetworks(env *simtest.Env, from string, bits int, failed map[string]int) {
	start(env, "networks", wild.NodeNetworks(from, bits), func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPatch || r.Body == nil {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			var wanted corev1.Node
			has := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: path.Base(r.URL.Path)}}
			if json.Unmarshal(body, &wanted) == nil && env.Get(has) == nil && has.Spec.PodCIDR != "" && has.Spec.PodCIDR != wanted.Spec.PodCIDR {
				return refusal(r, "node updates may not change podCIDR except from \"\" to valid")
			}
			again := r.Clone(r.Context())
			again.Body = io.NopCloser(strings.NewReader(string(body)))
			resp, err := next.RoundTrip(again)
			if err != nil || resp.StatusCode >= http.StatusInternalServerError {
				failed[has.Name]++
			}
			return resp, err
		})
	})
}

// refusal is a 422 of an apiserver.
func refusal(r *http.Request, why string) (*http.Response, error) {
	status := apierrors.NewApplyConflict(nil, why).Status()
	status.Code, status.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
	body, err := json.Marshal(status)
	return &http.Response{
		StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(body))), Request: r,
	}, err
}

// networksDiffer fails if two Nodes have the same network, and neither may be free to the controller because three requests to give it to that Node have failed.
func networksDiffer(env *simtest.Env, failed map[string]int) error {
	var nodes corev1.NodeList
	if err := env.List(&nodes, ""); err != nil {
		return err
	}
	of := map[string]string{}
	for _, n := range nodes.Items {
		if other := of[n.Spec.PodCIDR]; other != "" && max(failed[n.Name], failed[other]) < 3 {
			return fmt.Errorf("%s and %s have %s", other, n.Name, n.Spec.PodCIDR)
		}
		if n.Spec.PodCIDR != "" {
			of[n.Spec.PodCIDR] = n.Name
		}
	}
	return nil
}
