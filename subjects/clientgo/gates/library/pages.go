package library

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

// book is a list of objects that is read by pages. One request may fail.
type book struct {
	objects int
	fails   int // the number of the request that fails, from 1; 0 for none
	err     error
	cancels int // the number of the request that ends the context
	cancel  context.CancelFunc
	hollow  int // the number of the request whose page has no objects, and a token
	asked   []string
	within  context.Context // of the last request
}

// page answers a request as a server does: limit objects from where the last page ended, and a token unless these are the last.
func (b *book) page(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	b.within = ctx
	b.asked = append(b.asked, fmt.Sprintf("limit %d, continue %q, revision %q %s", o.Limit, o.Continue, o.ResourceVersion, o.ResourceVersionMatch))
	switch len(b.asked) {
	case b.fails:
		return nil, b.err
	case b.cancels:
		b.cancel()
	}
	from, _ := strconv.Atoi(o.Continue)
	to := b.objects
	list := &metav1.PartialObjectMetadataList{}
	list.ResourceVersion = fmt.Sprint(100 + len(b.asked)) // no server does that: it shows of which page the version is
	if len(b.asked) == b.hollow && o.Limit > 0 {
		to, list.Continue = from, fmt.Sprint(from)
	} else if o.Limit > 0 && from+int(o.Limit) < to {
		to = from + int(o.Limit)
		list.Continue = fmt.Sprint(to)
	}
	for n := from; n < to; n++ {
		list.Items = append(list.Items, *object(fmt.Sprint("ns1/o", n), n+1))
	}
	return list, nil
}

// reading is what comes of reading a book.
type reading struct {
	asked []string
	read  int  // how many objects
	of    int  // the request whose list's version is kept
	paged bool // there was a token
	err   error
}

// model says how a pager reads a book.
func (b *book) model(size int64, options metav1.ListOptions, full, each bool) (r reading) {
	limit := options.Limit
	if limit == 0 {
		limit = size
	}
	revision, match, token := options.ResourceVersion, options.ResourceVersionMatch, ""
	for n := 1; ; n++ {
		if n > 1 && n-1 == b.cancels {
			r.err = context.Canceled
			return r
		}
		r.asked = append(r.asked, fmt.Sprintf("limit %d, continue %q, revision %q %s", limit, token, revision, match))
		if n == b.fails {
			if each || !full || token == "" || !apierrors.IsResourceExpired(b.err) {
				r.err = b.err
				return r
			}
			limit, token, revision, match, r.read, r.of = 0, "", options.ResourceVersion, options.ResourceVersionMatch, 0, 0
			continue
		}
		if r.of == 0 {
			r.of = n
		}
		if n != b.hollow || limit == 0 {
			if limit == 0 || r.read+int(limit) >= b.objects {
				r.read = b.objects
				return r
			}
			r.read += int(limit)
		}
		r.paged, token = true, fmt.Sprint(r.read)
		if !each {
			revision, match = "", ""
		}
	}
}

// pages read lists by pages of one's own size: at once, or object by object. A page that has expired is followed by the whole list, if that is wanted.
func pages(c *check) {
	for range 12 {
		c.pages()
	}
	c.canceledInPage()
	c.endsInPage()
	c.neverBegun()
}

// pages reads one list.
func (c *check) pages() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := &book{objects: c.IntN(8), err: errors.New("no such page"), cancel: cancel}
	switch c.IntN(5) {
	case 4:
		b.hollow = 1 + c.IntN(3)
	case 0:
		b.fails = 1 + c.IntN(3)
	case 1:
		b.fails, b.err = 1+c.IntN(3), apierrors.NewResourceExpired("it has expired")
	case 2:
		b.cancels = 1 + c.IntN(3)
	}
	options := metav1.ListOptions{Limit: int64(max(0, c.IntN(6)-3))}
	if c.IntN(2) == 0 {
		options.ResourceVersion, options.ResourceVersionMatch = "7", metav1.ResourceVersionMatchNotOlderThan
	}
	p := pager.New(b.page)
	c.is("the page size of a pager, whether it reads all of a list that has expired, and how many pages it reads ahead", [3]any{int64(500), true, int32(10)}, [3]any{p.PageSize, p.FullListIfExpired, p.PageBufferSize})
	p.PageSize, p.FullListIfExpired = int64(c.IntN(4)), c.IntN(4) > 0
	p.PageBufferSize = int32(c.IntN(3))
	alloc := c.IntN(2) == 0
	if c.IntN(2) == 0 {
		c.readsAll(ctx, p, b, options, alloc)
	} else {
		c.readsEach(ctx, p, b, options, alloc)
	}
}

// readsAll asks a pager for the list.
func (c *check) readsAll(ctx context.Context, p *pager.ListPager, b *book, options metav1.ListOptions, alloc bool) {
	want := b.model(p.PageSize, options, p.FullListIfExpired, false)
	call, f := "List", p.List
	if alloc {
		call, f = "ListWithAlloc", p.ListWithAlloc
	}
	var list runtime.Object
	var paged bool
	var err error
	if !c.returns(call, func() { list, paged, err = f(ctx, options) }) {
		return
	}
	c.is("the requests of "+call, fmt.Sprintf("%q", want.asked), fmt.Sprintf("%q", b.asked))
	c.is("the error of "+call, message(want.err), message(err))
	c.is("whether "+call+" says that the list came in pages", want.paged, paged)
	if want.err != nil {
		c.is("whether "+call+" gives a list, and an error", false, list != nil)
		return
	}
	items, err := meta.ExtractList(list)
	c.no("ExtractList", err)
	c.is("how many objects "+call+" gives", want.read, len(items))
	for n, item := range items {
		c.is(fmt.Sprintf("object %d that %s gives", n, call), fmt.Sprintf("ns1/o%d@%d", n, n+1), text(item))
	}
	m, err := meta.ListAccessor(list)
	c.no("ListAccessor", err)
	c.is("the revision of the list that "+call+" gives", fmt.Sprint(100+want.of), m.GetResourceVersion())
	c.is("the token of the list that "+call+" gives", "", m.GetContinue())
}

// readsEach asks a pager for each object, which may be one too many.
func (c *check) readsEach(ctx context.Context, p *pager.ListPager, b *book, options metav1.ListOptions, alloc bool) {
	call, f := "EachListItem", p.EachListItem
	if alloc {
		call, f = "EachListItemWithAlloc", p.EachListItemWithAlloc
	}
	enough, stop := errors.New("it is enough"), -1
	if b.cancels = 0; c.IntN(4) == 0 {
		stop = c.IntN(6)
	}
	if c.IntN(8) == 0 {
		p.PageBufferSize = -1
		c.refused(call+" with a buffer of less than nothing", f(ctx, options, func(runtime.Object) error { return nil }))
		return
	}
	want := b.model(p.PageSize, options, p.FullListIfExpired, true)
	if stop >= 0 && stop < want.read {
		want.err, want.read = enough, stop
	} else {
		stop = -1
	}
	n := 0
	var err error
	if !c.returns(call, func() {
		err = f(ctx, options, func(obj runtime.Object) error {
			if n == stop {
				return enough
			}
			c.is(fmt.Sprintf("object %d that %s gives", n, call), fmt.Sprintf("ns1/o%d@%d", n, n+1), text(obj))
			n++
			return nil
		})
	}) {
		return
	}
	c.quiesce()
	c.is("how many objects "+call+" gives", want.read, n)
	c.is("the error of "+call, message(want.err), message(err))
	c.is("whether the context of a page ends when "+call+" returns", true, b.within.Err() != nil)
	if stop < 0 { // what is read ahead of the one that is enough is not said
		c.is("the requests of "+call, fmt.Sprintf("%q", want.asked), fmt.Sprintf("%q", b.asked))
	}
}
