package keytable

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A table behaves like a map under any sequence of operations.
func TestTableAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table[int]
		model := map[string]*int{}
		keys := rapid.OneOf(rapid.StringMatching(`[ab]{0,3}`), rapid.StringMatching(`ns-[0-9]/pod-[0-9]{1,3}`), rapid.StringN(0, 60, -1))
		key := func(t *rapid.T) string {
			return strings.Clone(keys.Draw(t, "key")) // an equal string at another address
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key(t), new(int)
				table.Put(k, v)
				model[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key(t)
				if _, there := model[k]; table.Delete(k) != there {
					t.Fatalf("Delete(%q) = %v", k, !there)
				}
				delete(model, k)
			},
			"get": func(t *rapid.T) {
				if k := key(t); table.Get(k) != model[k] {
					t.Fatalf("Get(%q) = %p, want %p", k, table.Get(k), model[k])
				}
			},
			"adopt": func(t *rapid.T) {
				if k := key(t); table.Adopt(k) != model[k] {
					t.Fatalf("Adopt(%q) = %p, want %p", k, table.Adopt(k), model[k])
				}
			},
			"": func(t *rapid.T) {
				if table.Len() != len(model) {
					t.Fatalf("Len = %d, want %d", table.Len(), len(model))
				}
				for k, v := range model {
					if table.Get(k) != v {
						t.Fatalf("Get(%q) = %p, want %p", k, table.Get(k), v)
					}
				}
			},
		})
	})
}

// Keys whose hashes collide in the bits that choose the slot form a run, and a deletion in it loses no other key.
func TestCollisions(t *testing.T) {
	var keys []string
	for i := 0; len(keys) < 40; i++ {
		if k := fmt.Sprint("k", i); hash(k)&63 >= 62 { // at the end of the table, so that they wrap around
			keys = append(keys, k)
		}
	}
	var table Table[string]
	for i := range keys {
		table.Put(keys[i], &keys[i])
	}
	if len(table.slots) != 64 {
		t.Fatalf("%d slots, want the 64 in which the keys collide", len(table.slots))
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(keys))
	for n, i := range order {
		if !table.Delete(keys[i]) {
			t.Fatalf("Delete(%s) = false", keys[i])
		}
		for m, j := range order {
			if got := table.Get(keys[j]); (got != nil) != (m > n) || got != nil && *got != keys[j] {
				t.Fatalf("after %d deletions Get(%s) = %v", n+1, keys[j], got)
			}
		}
	}
}

// A table that is emptied shrinks.
func TestShrinks(t *testing.T) {
	var table Table[int]
	v := 0
	for i := range 10_000 {
		table.Put(fmt.Sprint(i), &v)
	}
	for i := range 9_990 {
		table.Delete(fmt.Sprint(i))
	}
	if len(table.slots) > 128 || table.Len() != 10 || table.Get("9995") != &v {
		t.Errorf("%d slots for %d keys, want at most 128 for 10", len(table.slots), table.Len())
	}
}

func TestNilValue(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Put of a nil value must panic")
		}
	}()
	new(Table[int]).Put("a", nil)
}

// The hash spreads keys that differ in a digit or two over the low bits, which choose the slot.
func TestHashSpreads(t *testing.T) {
	var table Table[int]
	v, run, longest := 0, 0, 0
	for i := range 1 << 16 {
		table.Put(fmt.Sprintf("namespace-%d/pod-%d", i%10, i), &v)
	}
	for i := range table.slots {
		if run++; table.slots[i].value == nil {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 100 {
		t.Errorf("the longest run has %d of %d slots, want at most 100", longest, len(table.slots))
	}
}

// BenchmarkGet compares lookups with a map's: by the stored string itself, and by an equal one.
func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		keys, equal := make([]string, n), make([]string, n)
		var table Table[int]
		m := map[string]*int{}
		for i := range keys {
			keys[i] = fmt.Sprintf("ns-%d/pod-%d", i%10, i)
			equal[i] = strings.Clone(keys[i])
			table.Put(keys[i], &i)
			m[keys[i]] = &i
		}
		for _, with := range []struct {
			name string
			keys []string
		}{{"same", keys}, {"equal", equal}} {
			b.Run(fmt.Sprintf("table/%s/keys=%d", with.name, n), func(b *testing.B) {
				for i := range b.N {
					if table.Get(with.keys[i%n]) == nil {
						b.Fatal("a key is missing")
					}
				}
			})
			b.Run(fmt.Sprintf("map/%s/keys=%d", with.name, n), func(b *testing.B) {
				for i := range b.N {
					if m[with.keys[i%n]] == nil {
						b.Fatal("a key is missing")
					}
				}
			})
		}
	}
}
