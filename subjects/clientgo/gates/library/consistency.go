package library

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/client-go/util/watchlist"
)

// consistency compares a streaming list with an ordinary one, and makes the options of the one of those of the other.
func consistency(c *check) {
	for range 4 {
		c.compares()
	}
	for range 24 {
		c.prepares()
	}
	c.is("whether a client without an opinion has no streaming lists", false, watchlist.DoesClientNotSupportWatchListSemantics(c))
}

// compares has two lists compared, which may be different, or come in another order. It panics if they are different.
func (c *check) compares() {
	revision := []string{"5", "5", "0", ""}[c.IntN(4)]
	options := metav1.ListOptions{LabelSelector: "app=web"}
	switch c.IntN(4) {
	case 0:
		options.ResourceVersion, options.Limit = "0", 1+int64(c.IntN(3))
	case 1:
		options.Continue = "more"
	}
	list, streamed := &metav1.PartialObjectMetadataList{}, []*metav1.PartialObjectMetadata{}
	for n, key := range keys[:1+c.IntN(len(keys))] {
		obj := object(key, n+1)
		obj.UID = types.UID(fmt.Sprint(n))
		list.Items = append(list.Items, *obj.DeepCopy())
		streamed = append(streamed, obj)
	}
	var transform consistencydetector.TransformFunc
	if c.IntN(2) == 0 {
		transform = func(obj any) (any, error) {
			o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
			o.Labels = map[string]string{"transformed": "yes"}
			return o, nil
		}
		for _, obj := range streamed {
			obj.Labels = map[string]string{"transformed": "yes"}
		}
	}
	slices.Reverse(list.Items)
	differs := c.IntN(2) == 0
	if n := c.IntN(len(streamed)); differs && c.IntN(2) == 0 {
		streamed = slices.Delete(streamed, n, n+1)
	} else if differs {
		streamed[n].ResourceVersion += "0"
	}
	want, asked := options, []metav1.ListOptions(nil)
	if options.ResourceVersion == "0" && int64(len(streamed)) > options.Limit {
		want.Limit = 0
	}
	want.ResourceVersion, want.ResourceVersionMatch = revision, metav1.ResourceVersionMatchExact
	found := false
	if !c.returns("CheckDataConsistency", func() {
		found = quietly(func() (found bool) {
			defer func() { found = recover() != nil }()
			consistencydetector.CheckDataConsistency(context.Background(), "r", revision, func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
				asked = append(asked, o)
				return list, nil
			}, transform, options, func() []*metav1.PartialObjectMetadata { return streamed })
			return false
		})
	}) {
		return
	}
	if revision == "0" || options.Continue != "" {
		c.is("how many lists compare what cannot be listed again", 0, len(asked))
		c.is("whether what cannot be listed again is found to be different", false, found)
		return
	}
	c.is("the options of the list that a streaming list is compared with", fmt.Sprint([]metav1.ListOptions{want}), fmt.Sprint(asked))
	c.is("whether a streaming list is found to be different", differs, found)
}

// prepares makes the options of a streaming list of those of a list, if that gives the same.
func (c *check) prepares() {
	options := metav1.ListOptions{LabelSelector: "app=web", FieldSelector: "metadata.name=a", Limit: int64(max(0, c.IntN(4)-2)), ResourceVersion: []string{"", "0", "5"}[c.IntN(3)]}
	options.ResourceVersionMatch = []metav1.ResourceVersionMatch{"", metav1.ResourceVersionMatchNotOlderThan, metav1.ResourceVersionMatchExact}[c.IntN(3)]
	if c.IntN(6) == 0 {
		options.Continue = "more"
	}
	possible := options.Continue == "" && options.ResourceVersionMatch != metav1.ResourceVersionMatchExact &&
		(options.Limit == 0 || options.ResourceVersion == "0") && (options.ResourceVersionMatch == "" || options.ResourceVersion != "")
	want := metav1.ListOptions{}
	if possible {
		yes := true
		want = options
		want.Limit, want.ResourceVersionMatch, want.Watch = 0, metav1.ResourceVersionMatchNotOlderThan, true
		want.AllowWatchBookmarks, want.SendInitialEvents = true, &yes
	}
	got, ok, err := watchlist.PrepareWatchListOptionsFromListOptions(options)
	of := " of a list " + brief(options)
	c.no("PrepareWatchListOptionsFromListOptions"+of, err)
	c.is("whether there is a streaming list instead"+of, possible, ok)
	c.is("the options of the streaming list instead"+of, brief(want), brief(got))
}

// brief describes options by those fields that are set.
func brief(o metav1.ListOptions) string {
	of := []string{"selector " + o.LabelSelector, "fields " + o.FieldSelector, "revision " + o.ResourceVersion, "match " + string(o.ResourceVersionMatch), "limit " + fmt.Sprint(o.Limit), "continue " + o.Continue,
		fmt.Sprint("watch ", o.Watch), fmt.Sprint("bookmarks ", o.AllowWatchBookmarks), fmt.Sprint("initial events ", o.SendInitialEvents != nil && *o.SendInitialEvents)}
	return strings.Join(of, ", ")
}
