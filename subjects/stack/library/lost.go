package library

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// lists are what servers of all ages answer a list with, and whether that means that its revision is not there (I2).
var lists = []struct {
	name  string
	err   error
	there bool
}{
	{"that has expired", apierrors.NewResourceExpired("too old"), false},
	{"that is gone", apierrors.NewGone("too old"), false},
	{"whose revision is too large", tooLarge(metav1.CauseTypeResourceVersionTooLarge, "", ""), false},
	{"whose revision is too large for a server of v1.17", tooLarge("", "Too large resource version", ""), false},
	{"whose revision is too large for a server before that", tooLarge("", "", "Too large resource version: 9, current: 5"), false},
	{"that took too long", tooLarge("", "it took too long", "it took too long"), true},
	{"that is refused", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errRefused), true},
}

// tooLarge is a timeout with a cause, which comes behind another one.
func tooLarge(cause metav1.CauseType, because, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout, Message: message,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "other"}, {Type: cause, Message: because}}},
	}}
}

// lost has lists fail. Where the revision is not there, the newest list follows at once; otherwise the round ends, with an error that says why.
func (c *check) lost() {
	for _, l := range lists {
		var told error
		r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}, WatchErrorHandler: func(err error) { told = err }})
		r.Start(start)
		r.OnPage(nil, "10", "", nil)
		c.expires(r)
		r.OnListError(l.err)
		if !l.there {
			c.is("after a list "+l.name, fmt.Sprint(informer.OpList, " "), fmt.Sprint(r.Want().Op, " ", r.Want().Options.ResourceVersion))
			continue
		}
		c.is("after a list "+l.name, informer.OpSleep, r.Want().Op)
		c.is("whether the handler of watch errors is told why of a list "+l.name, true, errors.Is(told, l.err))
	}
	list, watch := &informer.RESTRetry{}, &informer.RESTRetry{Watch: true}
	http2 := informer.RESTAnswer{Err: errors.New("http2: client connection lost")}
	c.is("a list whose HTTP/2 connection is lost", informer.RESTRetryAt, list.OnAnswer(http2, start).Action)
	c.is("a watch whose HTTP/2 connection is lost", informer.RESTFail, watch.OnAnswer(http2, start).Action)
}

// unindexed is an Indexer with an index whose function fails: what cannot be indexed has the call panic, and changes nothing (I71).
func (c *check) unindexed() {
	x := informer.NewIndexer(informer.IndexerOptions{Indexers: cache.Indexers{"odd": func(obj any) ([]string, error) {
		if obj.(metav1.Object).GetResourceVersion() == refuses {
			return nil, errRefused
		}
		return []string{"all"}, nil
	}}})
	odd := object("ns1/b", 1)
	odd.ResourceVersion = refuses
	c.is("Add", nil, x.Add(object("ns1/a", 1)))
	var broken any
	func() {
		defer func() { broken = recover() }()
		c.is("Add of an object that cannot be indexed", nil, x.Add(odd))
	}()
	c.is("Add of an object that cannot be indexed panics", `unable to calculate an index entry for key "ns1/b" on index "odd": `+errRefused.Error(), fmt.Sprint(broken))
	c.is("ListKeys after an object that could not be indexed", "[ns1/a]", fmt.Sprint(x.ListKeys()))
}

// unbatchable has a Controller process a batch with what cannot be in one: none of it is processed.
func (c *check) unbatchable() {
	x, told := informer.NewIndexer(informer.IndexerOptions{}), 0
	k := &informer.Controller{Store: x, Distribute: func(informer.Notification) { told++ }}
	err := k.HandleDeltas(&informer.Popped{Keys: []string{"ns1/a", ""}, Deltas: cache.Deltas{
		{Type: cache.Added, Object: object("ns1/a", 1)}, {Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "2"}},
	}})
	c.is("HandleDeltas of a batch with a bookmark fails", true, err != nil)
	c.is("how many notifications there are of a batch with a bookmark", 0, told)
}
