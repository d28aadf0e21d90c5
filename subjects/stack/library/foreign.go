package library

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/informer"
)

func untyped(gvk schema.GroupVersionKind, rv string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetName("a")
	u.SetResourceVersion(rv)
	return u
}

// foreign has a Reflector of objects without a Go type meet lists and events of other kinds, and of Tables, which do not count (I29, k132926).
func (c *check) foreign() {
	things := schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Thing"}
	var reports []string
	o := informer.ReflectorOptions{Queue: &refusing{}, HandleError: func(err error) { reports = append(reports, err.Error()) }}
	any := c.oneIn(3) // of any kind
	if expected := (&unstructured.Unstructured{}); !any {
		expected.SetGroupVersionKind(things)
		o.ExpectedType = expected
	}
	r := informer.NewReflector(o)
	c.is("TypeDescription", map[bool]string{false: "g/v1, Kind=Thing", true: "<unspecified>"}[any], r.TypeDescription())
	r.Start(start)
	c.is("Watching before a list", false, r.Watching())
	table := schema.GroupVersionKind{Group: metav1.GroupName, Version: []string{"v1", "v1beta1"}[c.IntN(2)], Kind: "Table"}
	list := &unstructured.UnstructuredList{}
	list.SetResourceVersion("5")
	list.SetGroupVersionKind(table)
	r.OnList(list)
	c.is("after a list that is a Table", informer.OpSleep, r.Want().Op)
	r.OnTime(r.Want().Until)
	r.OnList(untyped(things, "5"))
	c.is("after a list that is none", informer.OpSleep, r.Want().Op)
	r.OnTime(r.Want().Until)
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "g", Version: table.Version, Kind: []string{"Table", "ThingList"}[c.IntN(2)]})
	list.Items = []unstructured.Unstructured{*untyped(things, "4")}
	r.OnList(list)
	c.is("the watch after a list", "5", r.Want().Options.ResourceVersion)
	r.OnWatchOpened()
	c.is("Watching", true, r.Watching())
	reports = nil
	for n, e := range []struct {
		kind   schema.GroupVersionKind
		counts bool
	}{
		{table, false}, {things, true}, {schema.GroupVersionKind{Group: "g", Version: "v2", Kind: "Thing"}, any}, {schema.GroupVersionKind{Group: "h", Version: "v1", Kind: "Table"}, any},
		{schema.GroupVersionKind{Group: metav1.GroupName, Version: "v2", Kind: "Table"}, any}, {schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: "Chair"}, any},
	} {
		before, told := r.LastSyncResourceVersion(), len(reports)
		rv := fmt.Sprint(10 + n)
		r.OnEvent(watch.Event{Type: watch.Added, Object: untyped(e.kind, rv)})
		c.is(fmt.Sprintf("LastSyncResourceVersion after an event with a %v", e.kind), map[bool]string{true: rv, false: before}[e.counts], r.LastSyncResourceVersion())
		c.is("an error is reported of what is skipped", !e.counts, len(reports) > told)
	}
}

// unmarked has a streaming list come whose end does not, which is reported every ten seconds (I22).
func (c *check) unmarked() {
	var reports []string
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}, WatchList: true, HandleError: func(err error) { reports = append(reports, err.Error()) }})
	r.Start(start)
	r.OnWatchOpened()
	events := c.oneIn(2)
	if events {
		r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/a", 1)})
	}
	now := start
	for n := 1; n < 4; n++ {
		at, due := r.NextTime()
		c.is("the next time at which a missing end is looked for", fmt.Sprint(now.Add(10*time.Second), true), fmt.Sprint(at, due))
		now = now.Add(10 * time.Second)
		r.OnTime(now.Add(-time.Nanosecond))
		c.is("reports of a missing end", n-1, len(reports))
		r.OnTime(now)
		c.is("reports of a missing end after ten seconds", n, len(reports))
		if len(reports) == n {
			c.is("it says that there were events", events, strings.Contains(reports[n-1], "last event"))
		}
	}
}
