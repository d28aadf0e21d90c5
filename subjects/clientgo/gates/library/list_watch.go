package library

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// errNoNetwork is what each request of a check ends with.
var errNoNetwork = errors.New("there is no network")

// requests notes requests, and refuses them.
type requests struct{ last *http.Request }

// RoundTrip implements http.RoundTripper.
func (r *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	r.last = request
	return nil, errNoNetwork
}

// caller is the key of a context's value that says whose it is.
type caller struct{}

// listWatches ask for lists and watches in each of the ways that there are, from a client that notes its requests, and from functions. Then their clients
// make requests of a server that does not answer well.
func listWatches(c *check) {
	defer restClients(c)
	sent, group := &requests{}, schema.GroupVersion{Version: "v1"}
	client, err := rest.RESTClientFor(&rest.Config{Host: "http://server", APIPath: "/api", QPS: -1, Transport: sent, ContentConfig: rest.ContentConfig{
		GroupVersion: &group, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
	}})
	c.no("RESTClientFor", err)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), caller{}, "me"), time.Hour)
	defer cancel()
	options := metav1.ListOptions{ResourceVersion: fmt.Sprint(1 + c.IntN(9)), AllowWatchBookmarks: c.IntN(2) == 0, LabelSelector: "app=db"}
	labels := cache.NewFilteredListWatchFromClient(client, "pods", "ns1", func(o *metav1.ListOptions) {
		o.LabelSelector = map[bool]string{true: "app=watched", false: "app=web"}[o.Watch]
	})
	for _, of := range []struct {
		selector string
		lw       *cache.ListWatch
	}{
		{"fieldSelector=metadata.name%3Da&labelSelector=app%3Ddb", cache.NewListWatchFromClient(client, "pods", "ns1", fields.OneTermEqualSelector("metadata.name", "a"))},
		{"labelSelector=app%3Dweb", labels},
	} {
		version := "&resourceVersion=" + options.ResourceVersion
		bookmarks := map[bool]string{true: "allowWatchBookmarks=true&"}[options.AllowWatchBookmarks]
		c.asks(ctx, of.lw, options, func(call string, watches, withContext bool) {
			want := "GET http://server/api/v1/namespaces/ns1/pods?" + bookmarks + of.selector + version
			if watches {
				want = strings.Replace(want, "app%3Dweb", "app%3Dwatched", 1) + "&watch=true"
			}
			if sent.last == nil {
				c.is("the request of "+call, want, "none")
				return
			}
			c.is("the request of "+call, want, strings.Join([]string{sent.last.Method, sent.last.URL.String()}, " "))
			if withContext {
				c.is("the context of "+call, "me", sent.last.Context().Value(caller{}))
				_, ends := sent.last.Context().Deadline()
				c.is("whether the context of "+call+" ends", true, ends)
			}
			sent.last = nil
		})
	}
	c.functions(ctx, options)
	c.is("whether a ListWatch of a client without streaming lists says so", [2]bool{true, false}, [2]bool{semantics(labels, &source{}), semantics(labels, client)})
}

// asks makes each call of a ListWatch, and has it judged.
func (c *check) asks(ctx context.Context, lw *cache.ListWatch, options metav1.ListOptions, judge func(call string, watches, withContext bool)) {
	_, err := lw.List(options)
	c.is("List without a network fails with it", true, errors.Is(err, errNoNetwork))
	judge("List", false, false)
	_, err = lw.ListWithContext(ctx, options)
	c.is("ListWithContext without a network fails with it", true, errors.Is(err, errNoNetwork))
	judge("ListWithContext", false, true)
	_, err = lw.Watch(options)
	c.is("Watch without a network fails with it", true, errors.Is(err, errNoNetwork))
	judge("Watch", true, false)
	_, err = lw.WatchWithContext(ctx, options)
	c.is("WatchWithContext without a network fails with it", true, errors.Is(err, errNoNetwork))
	judge("WatchWithContext", true, true)
}

// functions is a ListWatch that is made of functions, with a context or without. They are called with the options of the call.
func (c *check) functions(ctx context.Context, options metav1.ListOptions) {
	var called []string
	options.TimeoutSeconds = new(int64)
	note := func(call string, o metav1.ListOptions) error {
		call += " at " + o.ResourceVersion
		if !reflect.DeepEqual(o, options) {
			call += " with other options"
		}
		called = append(called, call)
		return errNoNetwork
	}
	plain := cache.ListWatch{
		ListFunc:  func(o metav1.ListOptions) (runtime.Object, error) { return nil, note("list", o) },
		WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) { return nil, note("watch", o) },
	}
	contextual := cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return nil, note(fmt.Sprint("list for ", ctx.Value(caller{})), o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return nil, note(fmt.Sprint("watch for ", ctx.Value(caller{})), o)
		},
	}
	lw, with, nobody := plain, "", ""
	switch c.IntN(3) {
	case 0:
		lw, with, nobody = contextual, " for me", " for <nil>"
	case 1: // both, of which each call takes its own
		lw.ListWithContextFunc, lw.WatchFuncWithContext, with = contextual.ListWithContextFunc, contextual.WatchFuncWithContext, " for me"
	}
	c.asks(ctx, &lw, options, func(call string, watches, withContext bool) {
		want := map[bool]string{true: "watch", false: "list"}[watches] + map[bool]string{true: with, false: nobody}[withContext] + " at " + options.ResourceVersion
		c.is("what "+call+" calls", []string{want}, called)
		called = nil
	})
}

// semantics reports whether a ListWatch for a client says that the client has no streaming lists.
func semantics(lw *cache.ListWatch, client any) bool {
	of, ok := cache.ToListWatcherWithWatchListSemantics(lw, client).(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && of.IsWatchListSemanticsUnSupported()
}
