package fakeserver

import (
	"encoding/base64"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// misses has the Store restored without a bump, so that no replica notices: both go on as they were, and miss the writes at revisions that they have
// seen already (k107457).
func (t *trial) misses() []string {
	t.watching(1000)
	t.now(func() { t.is("Restore", nil, t.cluster.Restore(11, 0)) })
	t.updates("a/x")
	t.lists("c", "0")
	t.rest()
	t.lists("d", "")
	t.rest()
	t.updates("a/y")
	t.lists("c", "0")
	t.rest()
	return []string{
		"commit a/x@12", "c list: " + all + " at 12", "d list: " + all + " at 12", "commit a/y@13", "c MODIFIED a/y@13", "d MODIFIED a/y@13", "c list: a/x@10 a/y@13 b/x@12 at 13",
	}
}

// restartsHeld restarts a replica that is held: it begins anew once that is over, and not before.
func (t *trial) restartsHeld() []string {
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/x")
	t.now(t.cluster.Replica(0).Restart)
	t.rest()
	t.lists("c", "0")
	t.lists("d", "0")
	t.rest()
	for _, match := range []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchNotOlderThan} {
		t.asks("c", metav1.ListOptions{Limit: 5, ResourceVersion: "13", ResourceVersionMatch: match}) // which the Store answers
		t.asks("c", metav1.ListOptions{Limit: 5, ResourceVersion: "14", ResourceVersionMatch: match}) // at once: it will not wait for a revision
		t.rest()
	}
	t.is("Ready of a replica that was restarted, and is held", false, t.cluster.Replica(0).Ready())
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	t.lists("c", "0")
	t.rest()
	fresh := "list: a/x@13 a/y@11 b/x@12 at 13"
	const large = "c list: 504 Timeout too large"
	return []string{"commit a/x@13", "c list: 429 TooManyRequests retry after 1 s", "d " + fresh, "c " + fresh, large, "c " + fresh, large, "c " + fresh}
}

// catchesUp has what is newest asked for of a resource that stays as it is, while another one is written again and again: whoever waits for that is
// answered as soon as the watch cache knows how far the Store has come, in the order in which they came.
func (t *trial) catchesUp() []string {
	nodes := t.nodes()
	t.now(func() {
		for _, name := range []string{"/m", "/n", "/o"} {
			_, err := t.cluster.Create(nodes, named(name))
			t.is("Create", nil, err)
		}
		e := &ear{t, "c", ""}
		t.clients["c"].List(t.pods, "", metav1.ListOptions{ResourceVersion: "15"}, e)
		t.clients["c"].List(t.pods, "a", metav1.ListOptions{}, e)
		t.clients["c"].List(t.pods, "b", metav1.ListOptions{}, e)
	})
	t.watches("d", "15", streams())
	t.rest()
	t.passes(4 * time.Second)
	return []string{
		"commit m@13", "commit n@14", "commit o@15", "c list: " + all + " at 15", "c list: a/x@10 a/y@11 at 15", "c list: b/x@12 at 15",
		"d opened", "d ADDED a/x@10", "d ADDED a/y@11", "d ADDED b/x@12", "d BOOKMARK 15 ends",
	}
}

// foreignTokens continues the list of one namespace with a token of all of them: its key is one of the namespace then.
func (t *trial) foreignTokens() []string {
	e := &ear{t, "c", ""}
	list := func(namespace, token string) {
		t.now(func() { t.clients["c"].List(t.pods, namespace, metav1.ListOptions{Limit: 1, Continue: token}, e) })
		t.rest()
	}
	list("", "")
	whole := e.token
	data, err := base64.RawURLEncoding.DecodeString(whole)
	t.is("what a token of all namespaces begins behind", true, err == nil && strings.Contains(string(data), `"start":"/a/x`))
	list("a", whole) // behind a/a/x, before a/x
	list("b", whole) // behind b/a/x, before b/x
	list("", whole)
	return []string{"c list: a/x@10 at 12", "c list: a/x@10 at 12", "c list: b/x@12 at 12", "c list: a/y@11 at 12"}
}

// passesBy has more changes than a window holds pass a watch by whose frames are held: it is too slow only if one of them is its own.
func (t *trial) passesBy() []string {
	t.again(fakeapiserver.ClusterOptions{History: 2})
	t.now(func() {
		t.clients["c"].Watch(t.pods, "a", metav1.ListOptions{ResourceVersion: "12"}, &ear{t, "c", ""})
		t.clients["d"].Watch(t.pods, "b", metav1.ListOptions{ResourceVersion: "12"}, &ear{t, "d", ""})
	})
	t.rest()
	hold := func(held bool) {
		t.now(func() {
			t.is("SetHeld", nil, t.cluster.SetHeld("conn/c", held))
			t.is("SetHeld", nil, t.cluster.SetHeld("conn/d", held))
		})
	}
	hold(true)
	for range 3 {
		t.updates("a/x")
	}
	hold(false)
	t.rest()
	t.updates("b/x")
	return []string{"c opened", "d opened", "commit a/x@13", "commit a/x@14", "commit a/x@15", "c closed", "commit b/x@16", "d MODIFIED b/x@16"}
}

// stalest has a list come from the replica that is behind by most. One that is not ready is behind by nothing: it does not answer.
func (t *trial) stalest() []string {
	t.now(t.cluster.Replica(1).Hold)
	t.updates("a/x")
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/y")
	t.now(t.cluster.Replica(1).Restart)
	t.rest()
	t.injects(fault.Fault{Kind: fault.ListStale, Target: "c"})
	t.lists("c", "12")
	t.rest()
	t.is("the faults that wait after a list that could be stale", 0, len(t.cluster.Faults()))
	return []string{"commit a/x@13", "commit a/y@14", "c list: a/x@13 a/y@11 b/x@12 at 13"}
}
