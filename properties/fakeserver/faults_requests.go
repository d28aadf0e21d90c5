package fakeserver

import (
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
)

// hit injects a fault of the kind at one request of c, before that is sent or, if it is of both, afterwards, and tells what became of it: an error, or that it is slow.
func (t *trial) hit(spec *fault.Spec, send func()) (err string, slow time.Duration) {
	f := fault.Fault{Kind: spec.Kind, Target: []string{"c", "conn/c"}[t.IntN(2)]}
	f.RetryAfter = []time.Duration{0, time.Second, 2500 * time.Millisecond}[t.IntN(3)]
	seconds := f.RetrySeconds()
	t.is("Retry-After in seconds", map[time.Duration]int{0: 0, time.Second: 1, 2500 * time.Millisecond: 3}[f.RetryAfter], seconds)
	switch spec.Kind {
	case fault.ListSlow, fault.WatchOpenSlow, fault.WriteSlow, fault.WriteLate:
		f.Duration = time.Duration(1+t.IntN(4)) * 700 * time.Millisecond
		slow = f.Duration
	}
	if t.IntN(2) == 0 {
		f.Replica = []string{"", "0", "replica/0"}[t.IntN(3)] // which makes it wait for that
		t.injects(f)
		armed := t.cluster.Faults()
		t.is("the faults that are armed", 1, len(armed))
		if len(armed) == 1 {
			t.is("an armed fault", fmt.Sprint(fault.Kind(spec.Kind), fakeapiserver.FaultArmed, 1), fmt.Sprint(armed[0].Fault.Kind, armed[0].State, armed[0].Left))
		}
		send()
	} else {
		t.now(func() {
			send()
			t.injects(f)
		})
	}
	return t.errorOf(spec, seconds), slow
}

// errorOf is how a client sees the fault: "" if it sees no error.
func (t *trial) errorOf(spec *fault.Spec, retry int) string {
	after := ""
	if retry > 0 {
		after = fmt.Sprintf(" retry after %d s", retry)
	}
	switch spec.Code {
	case http.StatusGone:
		return "410 Expired"
	case http.StatusTooManyRequests:
		return fmt.Sprintf("429 TooManyRequests retry after %d s", max(retry, 1))
	case http.StatusInternalServerError:
		return "500 InternalError" + after
	case http.StatusServiceUnavailable:
		return "503 ServiceUnavailable" + after
	case http.StatusGatewayTimeout:
		return "504 Timeout" + after
	}
	switch spec.Kind {
	case fault.ListLost, fault.WatchOpenLost, fault.WriteLost:
		return "unexpected EOF"
	case fault.ListReset, fault.ListResetHeaders, fault.WatchOpenResetHeader, fault.WriteReset, fault.WriteResetHeaders:
		return "read tcp: read: connection reset by peer"
	case fault.ListRefused, fault.WatchOpenRefused, fault.WriteRefused:
		return "dial tcp: connect: connection refused"
	case fault.ListTooLarge:
		return "504 Timeout retry after 1 s too large"
	}
	return ""
}

// after is what comes some time later.
func after(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprint(" after ", d)
}

const all = "a/x@10 a/y@11 b/x@12"

func (t *trial) faultyList(spec *fault.Spec) []string {
	switch {
	case spec.Kind == fault.ListStale:
		return t.untrueList(spec)
	case spec.Kind == fault.ListTorn:
		return t.tornList(spec)
	case spec.Kind == fault.List410 && t.IntN(2) == 0:
		return t.expiredPage(spec)
	}
	rv := "12" // which each of these faults can hit
	err, slow := t.hit(spec, func() { t.lists("c", rv) })
	t.lists("d", rv)
	t.passes(slow)
	t.lists("c", rv)
	t.rest()
	ok := ": " + all + " at 12"
	if err != "" {
		return []string{"c list: " + err, "d list" + ok, "c list" + ok}
	}
	return []string{"d list" + ok, "c list" + ok + after(slow), "c list" + ok + after(slow)}
}

// untrueList has a list answered by the replica that lags.
func (t *trial) untrueList(spec *fault.Spec) []string {
	t.now(t.cluster.Replica(1).Hold)
	t.updates("a/y")
	t.hit(spec, func() { t.lists("c", "12") })
	t.rest()
	t.now(t.cluster.Replica(1).Release)
	t.rest()
	t.lists("c", "12")
	t.rest()
	return []string{"commit a/y@13", "c list: " + all + " at 12", "c list: a/x@10 a/y@13 b/x@12 at 13"}
}

// tornList has a list whose second half is newer than the first, without what is gone by now.
func (t *trial) tornList(spec *fault.Spec) []string {
	t.now(t.cluster.Replica(0).Hold)
	t.updates("a/x")
	t.updates("b/x")
	want, torn := []string{"commit a/x@13", "commit b/x@14"}, "a/x@10 a/y@11 b/x@14"
	if t.IntN(2) == 0 {
		t.now(func() {
			_, err := t.cluster.Delete(t.pods, "a", "y", nil)
			t.is("Delete", nil, err)
		})
		want, torn = append(want, "commit a/y@15"), "a/x@10 b/x@14"
	}
	t.hit(spec, func() { t.lists("c", "12") })
	t.rest()
	return append(want, "c list: "+torn+" at 12")
}

// expiredPage has the token of a list expire, which then goes on at another revision.
func (t *trial) expiredPage(spec *fault.Spec) []string {
	e := &ear{t, "c", ""}
	page := func(o metav1.ListOptions) {
		o.Limit = 1
		t.now(func() { t.clients["c"].List(t.pods, "", o, e) })
	}
	page(metav1.ListOptions{})
	t.rest()
	t.updates("b/x")
	t.hit(spec, func() { page(metav1.ListOptions{Continue: e.token}) })
	t.rest()
	page(metav1.ListOptions{Continue: e.token})
	t.rest()
	page(metav1.ListOptions{Continue: e.token})
	t.rest()
	return []string{"c list: a/x@10 at 12", "commit b/x@13", "c list: 410 Expired goes on", "c list: a/y@11 at 13", "c list: b/x@13 at 13"}
}

func (t *trial) faultyWrite(spec *fault.Spec) []string {
	if spec.Kind == fault.WriteOvertaken {
		return t.overtaken(spec)
	}
	err, slow := t.hit(spec, func() { t.writes("c", "a/x") })
	t.writes("d", "a/y")
	t.passes(slow)
	late := ""
	switch spec.Kind {
	case fault.WriteLate:
		return []string{"commit a/y@13", "d write: a/y@13", "commit a/x@14" + after(slow), "c write: a/x@14" + after(slow)}
	case fault.WriteSlow:
		late = after(slow)
		return []string{"commit a/x@13", "commit a/y@14", "d write: a/y@14", "c write: a/x@13" + late}
	case fault.WriteLost, fault.WriteResetHeaders:
		return []string{"commit a/x@13", "commit a/y@14", "c write: " + err, "d write: a/y@14"}
	}
	t.writes("c", "a/x")
	t.rest()
	return []string{"commit a/y@13", "c write: " + err, "d write: a/y@13", "commit a/x@14", "c write: a/x@14"}
}

// overtaken has somebody else write an object before a client does, which knows the revision from before, goes by none, or deletes it.
func (t *trial) overtaken(spec *fault.Spec) []string {
	obj := named("a/x")
	w, want := fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Update, Object: obj}, []string{"commit a/x@13", "commit a/x@14", "c write: a/x@14"}
	switch t.IntN(3) {
	case 0:
		obj.ResourceVersion = "10"
		want = []string{"commit a/x@13", "c write: 409 Conflict"}
	case 2:
		w = fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Delete, Namespace: "a", Name: "x"}
	}
	t.hit(spec, func() { t.now(func() { t.clients["c"].Write(w, &ear{t, "c", ""}) }) })
	t.rest()
	return want
}

func (t *trial) faultyOpening(spec *fault.Spec) []string {
	rv, o := "12", metav1.ListOptions{}
	switch spec.Kind {
	case fault.WatchOpenStale:
		return t.staleOpening(spec)
	case fault.WatchOpenTooLarge:
		yes := true
		o = metav1.ListOptions{SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true}
		t.hit(spec, func() { t.watches("c", rv, o) })
		t.rest()
		t.watches("c", rv, o)
		t.rest()
		return []string{"c opened", "c ERROR 504 Timeout retry after 1 s too large", "c closed", "c opened", "c ADDED a/x@10", "c ADDED a/y@11", "c ADDED b/x@12", "c BOOKMARK 12 ends"}
	}
	err, slow := t.hit(spec, func() { t.watches("c", rv, o) })
	t.rest()
	t.updates("a/x")
	if slow > 0 {
		t.passes(slow)
		return []string{"commit a/x@13", "c opened" + after(slow), "c MODIFIED a/x@13" + after(slow)}
	}
	t.watches("c", rv, o)
	t.rest()
	return []string{"c watch: " + err, "commit a/x@13", "c opened", "c MODIFIED a/x@13"}
}

// staleOpening has a watch opened by the replica that lags, for which its revision is in the future: it shows what comes after that (S14).
func (t *trial) staleOpening(spec *fault.Spec) []string {
	t.now(t.cluster.Replica(1).Hold)
	t.updates("a/x")
	t.hit(spec, func() { t.watches("c", "13", metav1.ListOptions{}) })
	t.rest()
	t.updates("a/y")
	t.now(t.cluster.Replica(1).Release)
	t.updates("b/x")
	return []string{"commit a/x@13", "c opened", "commit a/y@14", "commit b/x@15", "c MODIFIED a/y@14", "c MODIFIED b/x@15"}
}
