package fakeserver

import (
	"encoding/base64"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// streams are the options of a streaming list.
func streams() metav1.ListOptions {
	return metav1.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
}

// compactsLagging compacts what a replica has not got to yet. Its watches may begin where the others' may not.
func (t *trial) compactsLagging() []string {
	t.now(t.cluster.Replica(0).Hold)
	for range 3 {
		t.updates("a/x")
	}
	t.now(func() { t.is("Compact", nil, t.cluster.Compact(15)) })
	t.watches("c", "13", metav1.ListOptions{})
	t.watches("d", "13", metav1.ListOptions{})
	t.rest()
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	return []string{
		"commit a/x@13", "commit a/x@14", "commit a/x@15", "c opened", "d opened", "d ERROR 410 Expired", "d closed", "c MODIFIED a/x@14", "c MODIFIED a/x@15",
	}
}

// other writes objects of a resource without namespaces, one after the other.
func (t *trial) other() (write func(names ...string)) {
	nodes := t.nodes()
	return func(names ...string) {
		for _, name := range names {
			t.now(func() {
				_, err := t.cluster.Create(nodes, named("/"+name))
				t.is("Create", nil, err)
			})
			t.rest()
		}
	}
}

// compactsQuiet compacts what a watch cache has only heard of: a watch from before has expired, though nothing of its resource has happened since.
func (t *trial) compactsQuiet() []string {
	t.now(t.cluster.Replica(0).Restart) // its window is empty
	t.rest()
	write := t.other()
	write("m", "n", "o")
	t.lists("c", "15")
	t.rest()
	t.now(func() { t.is("Compact", nil, t.cluster.Compact(15)) })
	for _, rv := range []string{"14", "15"} {
		t.watches("c", rv, metav1.ListOptions{})
		t.rest()
	}
	return []string{"commit m@13", "commit n@14", "commit o@15", "c list: " + all + " at 15", "c opened", "c ERROR 410 Expired", "c closed", "c opened"}
}

// begunAnew restarts a replica that knew of revisions which a restore has undone: it has forgotten them.
func (t *trial) begunAnew() []string {
	write := t.other()
	write("m", "n", "o")
	t.lists("c", "15")
	t.rest()
	t.now(func() {
		t.is("Restore", nil, t.cluster.Restore(12, 0))
		t.cluster.Replica(0).Restart()
	})
	t.rest()
	t.lists("c", "0")
	t.rest()
	t.updates("a/x")
	t.lists("c", "0")
	t.rest()
	return []string{
		"commit m@13", "commit n@14", "commit o@15", "c list: " + all + " at 15", "c list: " + all + " at 12", "commit a/x@13", "c list: a/x@13 a/y@11 b/x@12 at 13",
	}
}

// behindRestore restores the Store to a revision that a replica has not got to. It reads on from where it is, as it does from etcd, unless that was compacted:
// then it begins anew.
func (t *trial) behindRestore() []string {
	t.now(t.cluster.Replica(0).Hold)
	t.watches("c", "12", metav1.ListOptions{})
	t.rest()
	for _, key := range []string{"a/x", "a/y", "b/x"} {
		t.updates(key)
	}
	told := []string{"c MODIFIED a/x@13", "c MODIFIED a/y@14", "commit b/x@15", "c MODIFIED b/x@15"}
	if t.IntN(2) == 0 {
		t.now(func() { t.is("CompactStore", nil, t.cluster.CompactStore(14)) })
		told = []string{"c closed", "commit b/x@15"}
	}
	t.now(func() { t.is("Restore", nil, t.cluster.Restore(14, 0)) })
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	t.updates("b/x")
	t.lists("c", "0")
	t.rest()
	return append(append([]string{"commit a/x@13", "commit a/y@14", "commit b/x@15", "c opened"}, told...), "c list: a/x@13 a/y@14 b/x@15 at 15")
}

// keptForIt compacts the Store when a replica that has missed a restore has not read what came then. That is kept for it.
func (t *trial) keptForIt() []string {
	t.watches("c", "12", metav1.ListOptions{})
	t.rest()
	t.now(func() { t.is("Restore", nil, t.cluster.Restore(11, 0)) })
	t.now(t.cluster.Replica(0).Hold)
	for range 3 {
		t.updates("a/x")
	}
	t.now(func() { t.is("CompactStore", nil, t.cluster.CompactStore(14)) })
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	return []string{"c opened", "commit a/x@12", "commit a/x@13", "commit a/x@14", "c MODIFIED a/x@13", "c MODIFIED a/x@14"}
}

// oneByOne has the newest state asked for again and again while a replica is held, and others write. Each waits for what was newest then, and no longer.
func (t *trial) oneByOne() []string {
	write := t.other()
	t.now(t.cluster.Replica(0).Hold)
	for _, name := range []string{"m", "n"} {
		write(name)
		t.lists("c", "")
		t.rest()
	}
	t.now(t.cluster.Replica(0).Release)
	t.rest()
	return []string{"commit m@13", "commit n@14", "c list: " + all + " at 14", "c list: " + all + " at 14"}
}

// badTokens are not those of this server, or lead out of its keys.
func (t *trial) badTokens() (want []string) {
	for _, token := range []string{
		`{"v":"meta.k8s.io/v1","rv":12,"start":"/../b/x\u0000"}`, `{"v":"meta.k8s.io/v1","rv":12,"start":"/a/../../x\u0000"}`, `{"v":"meta.k8s.io/v1","rv":12,"start":"/a//x\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":12,"start":"/./a/x\u0000"}`, `{"v":"meta.k8s.io/v2","rv":12,"start":"/a/x\u0000"}`, `{"v":"meta.k8s.io/v1","rv":0,"start":"/a/x\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":12,"start":""}`, `{"rv":12,"start":"/a/x\u0000"}`, `{"v":"meta.k8s.io/v1","rv":12,"start":"/a/x`, `[]`,
	} {
		t.asks("c", metav1.ListOptions{Limit: 1, Continue: base64.RawURLEncoding.EncodeToString([]byte(token))})
		t.rest()
		want = append(want, "c list: 400 BadRequest")
	}
	return want
}

// unlimited goes on with a list at resourceVersion 0: the limit does not count any more (S9).
func (t *trial) unlimited() []string {
	e := &ear{t, "c", ""}
	list := func(o metav1.ListOptions) {
		t.now(func() { t.clients["c"].List(t.pods, "", o, e) })
		t.rest()
	}
	list(metav1.ListOptions{Limit: 1})
	list(metav1.ListOptions{Limit: 1, Continue: e.token, ResourceVersion: "0"})
	t.is("the token behind the last page", "", e.token)
	return []string{"c list: a/x@10 at 12", "c list: a/y@11 b/x@12 at 12"}
}
