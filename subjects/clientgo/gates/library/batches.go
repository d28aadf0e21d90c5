package library

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// batches change a store by one transaction, and another one by single changes. They have to be the same, whatever of the transaction has no key.
func batches(c *check) {
	byName := func(obj any) ([]string, error) { return []string{obj.(*metav1.PartialObjectMetadata).Name}, nil }
	batch, single := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}), cache.NewStore(cache.MetaNamespaceKeyFunc)
	m := model{}
	var txns []cache.Transaction
	var good []int
	broken := c.IntN(8) // 0 to 6 are places, 7 is nowhere
	for n := range 7 {
		if n == broken {
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeAdd, Object: "without a key"})
			continue
		}
		good = append(good, n)
		key := c.key()
		obj := object(key, n+1)
		switch c.IntN(3) {
		case 0:
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeDelete, Object: obj})
			delete(m, key)
			c.no("Delete", single.Delete(obj))
		case 1:
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj})
			m[key] = obj
			c.no("Update", single.Update(obj))
		default:
			txns = append(txns, cache.Transaction{Type: cache.TransactionTypeAdd, Object: obj})
			m[key] = obj
			c.no("Add", single.Add(obj))
		}
	}
	err := batch.(cache.TransactionStore).Transaction(txns...)
	switch {
	case broken == 7:
		c.is("the error of a transaction", true, err == nil)
	case err == nil:
		c.is("the error of a transaction with an object without a key", "there is one", "there is none")
	default:
		c.is("what of a transaction was done", fmt.Sprint(good), fmt.Sprint(err.SuccessfulIndices))
		c.is("how many errors a transaction of how many has", [2]int{1, 7}, [2]int{len(err.Errors), err.TotalTransactions})
		var of cache.KeyError
		c.is("whether the error of a transaction is a KeyError", true, len(err.Errors) == 1 && errors.As(err.Errors[0], &of))
	}
	c.holds(" after a transaction", batch, m)
	c.is("LastStoreSyncResourceVersion after a transaction", single.LastStoreSyncResourceVersion(), batch.LastStoreSyncResourceVersion())

	c.refused("AddIndexers of an index that there is, and of another one", batch.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "name": byName}))
	_, absent := batch.ByIndex("name", "a")
	c.refused("ByIndex of an index that was refused", absent)
	c.no("AddIndexers", batch.AddIndexers(cache.Indexers{"name": byName}))
	values := []string{}
	for _, name := range []string{"a", "b", "c"} {
		want := []string{}
		for _, key := range m.keys() {
			if m[key].Name == name {
				want = append(want, key)
			}
		}
		if len(want) > 0 {
			values = append(values, name)
		}
		got, err := batch.IndexKeys("name", name)
		c.no("IndexKeys", err)
		c.is("IndexKeys of an index that was added late, with "+name, want, sorted(got))
	}
	c.is("ListIndexFuncValues of an index that was added late", values, sorted(batch.ListIndexFuncValues("name")))
	c.revisions()
	c.strangers()
	c.untransformed()
	c.nothing()
	c.goesOnUnindexed()
	c.keepsKnown()
	c.manyIndices()
	c.unversionedLast()
	c.indexedAtOnce()
	c.onlyKeyless()
}

// indexedAtOnce adds several indices at once to an indexer that has some objects. Each of them has all.
func (c *check) indexedAtOnce() {
	x, want := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}), sorted(keys)
	for n, key := range keys {
		c.no("Add", x.Add(object(key, n+1)))
	}
	added := cache.Indexers{}
	for n := range 2 + c.IntN(2) {
		added[fmt.Sprint("x", n)] = func(any) ([]string, error) { return []string{fmt.Sprint("of ", n)}, nil }
	}
	c.no("AddIndexers", x.AddIndexers(added))
	for n := range len(added) {
		got, err := x.IndexKeys(fmt.Sprint("x", n), fmt.Sprint("of ", n))
		c.no("IndexKeys", err)
		c.is(fmt.Sprintf("IndexKeys of index %d of %d that were added at once", n+1, len(added)), want, sorted(got))
	}
}

// onlyKeyless is a transaction of which nothing can be done, since nothing of it has a key.
func (c *check) onlyKeyless() {
	s, txns := cache.NewStore(cache.MetaNamespaceKeyFunc), make([]cache.Transaction, 1+c.IntN(2))
	for n := range txns {
		txns[n] = cache.Transaction{Type: cache.TransactionTypeAdd, Object: "without a key"}
	}
	err := s.(cache.TransactionStore).Transaction(txns...)
	if err == nil {
		c.is("the error of a transaction of nothing but objects without a key", "there is one", "there is none")
		return
	}
	c.is("how much was done of a transaction of nothing but objects without a key, and how many errors it has", [2]int{0, len(txns)}, [2]int{len(err.SuccessfulIndices), len(err.Errors)})
}

// unversionedLast is a transaction whose last object has no revision. The store has that of the last, as after single changes.
func (c *check) unversionedLast() {
	batch, single := cache.NewStore(cache.MetaNamespaceKeyFunc), cache.NewStore(cache.MetaNamespaceKeyFunc)
	last := object("c", 0)
	last.ResourceVersion = ""
	var txns []cache.Transaction
	for _, obj := range []any{object("ns1/a", 7), last} {
		txns = append(txns, cache.Transaction{Type: cache.TransactionTypeAdd, Object: obj})
		c.no("Add", single.Add(obj))
	}
	c.is("whether a transaction has no error", true, batch.(cache.TransactionStore).Transaction(txns...) == nil)
	c.is("LastStoreSyncResourceVersion after a transaction whose last object has none", single.LastStoreSyncResourceVersion(), batch.LastStoreSyncResourceVersion())
}
