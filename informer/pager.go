package informer

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DefaultPageSize is the limit of a paged list (I5).
const DefaultPageSize = 500

// pager assembles one list from its pages (I5 to I8).
type pager struct {
	next      metav1.ListOptions // the request to send
	requested metav1.ListOptions // the first request
	items     []any
	rv        string // of page 1
	paginated bool   // a page had a continue token
	full      bool   // the pages expired and the whole list was requested
}

func newPager(o metav1.ListOptions, pageSize int64) pager {
	o.Limit = pageSize
	return pager{next: o, requested: o}
}

// page adds a page and reports whether the list is complete.
func (p *pager) page(items []runtime.Object, rv, cont string, remaining *int64) (done bool) {
	if p.items == nil {
		n := len(items)
		if remaining != nil && cont != "" && *remaining > 0 && *remaining < maxPrealloc {
			n += int(*remaining)
		}
		p.items = make([]any, 0, n)
	}
	for _, obj := range items {
		p.items = append(p.items, obj)
	}
	if !p.paginated || p.full {
		p.rv = rv
	}
	if cont == "" || p.full {
		return true
	}
	p.paginated = true
	p.next.Continue = cont
	// Servers reject a resourceVersion with a continue token (k85221).
	p.next.ResourceVersion, p.next.ResourceVersionMatch = "", ""
	return false
}

// maxPrealloc limits how much of a server's remainingItemCount is trusted.
const maxPrealloc = 1 << 22

// onError reports whether to send next instead of giving up: only if a continue token expired (I8).
func (p *pager) onError(err error) (again bool) {
	if p.full || p.next.Continue == "" || !apierrors.IsResourceExpired(err) {
		return false
	}
	p.full = true
	p.items = nil
	p.next = p.requested
	p.next.Limit = 0
	return true
}
