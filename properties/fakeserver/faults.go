package fakeserver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// trial is a server where nothing goes wrong but what is injected, and all that its clients hear: c is served by replica/0, d by replica/1. Things happen in
// the order in which they are asked for.
type trial struct {
	*sim.Stream
	driver
	verdict
	cluster *fakeapiserver.Cluster
	pods    store.ResourceID
	clients map[string]*fakeapiserver.Client
	heard   []string
	said    string // the last ERROR in full
}

// newTrial has three objects, at the revisions 10 to 12.
func newTrial(s *sim.Stream, turn uint64) *trial {
	t := &trial{Stream: s, clients: map[string]*fakeapiserver.Client{}}
	t.serves(sim.NewKernel(sim.Options{Seed: turn, Strategy: sim.NewFIFO()}), fakeapiserver.ClusterOptions{})
	return t
}

// serves begins with a cluster, or anew with another one.
func (t *trial) serves(k *sim.Kernel, o fakeapiserver.ClusterOptions) {
	*t = trial{Stream: t.Stream, clients: t.clients, verdict: t.verdict, driver: driver{kernel: k}}
	o.Replicas, o.FirstRevision = 2, first
	t.cluster = fakeapiserver.NewCluster(t.kernel, o)
	t.kernel.Clock().Freeze()
	var err error
	t.pods, err = t.cluster.AddResource(pods)
	t.is("AddResource", nil, err)
	for n, name := range []string{"c", "d"} {
		t.clients[name] = t.cluster.Connect(name, fakeapiserver.Sticky(n))
	}
	t.id = t.kernel.Register(t)
	t.now(func() {
		for _, key := range []string{"a/x", "a/y", "b/x"} {
			_, err := t.cluster.Create(t.pods, named(key))
			t.is("Create", nil, err)
		}
	})
	t.rest()
	t.cluster.OnCommit(func(_ store.ResourceID, c store.Committed) {
		t.hears("commit %s@%d", c.Key, c.Revision)
	})
}

// again begins anew, with another server.
func (t *trial) again(o fakeapiserver.ClusterOptions) {
	t.serves(sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()}), o)
}

func named(key string) *object {
	ns, name, _ := strings.Cut(key, "/")
	return &object{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
}

// hears notes what happens, and when if that is not at the beginning.
func (t *trial) hears(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if at := t.kernel.Elapsed(); at > 0 {
		what += fmt.Sprint(" after ", at)
	}
	t.heard = append(t.heard, what)
}

// passes lets time pass, and everything happen that is due by then.
func (t *trial) passes(d time.Duration) {
	t.rest()
	t.driver.passes(d)
}

// injects injects a fault.
func (t *trial) injects(f fault.Fault) {
	t.now(func() { t.is("Inject", nil, t.cluster.Inject(f)) })
}

func (t *trial) updates(key string) {
	t.now(func() {
		_, err := t.cluster.Update(t.pods, named(key))
		t.is("Update", nil, err)
	})
	t.rest()
}

// lists has a client list, from a replica or, without a revision, as the Store is.
func (t *trial) lists(client, rv string) {
	t.asks(client, metav1.ListOptions{ResourceVersion: rv})
}

// asks has a client list, as it says.
func (t *trial) asks(client string, o metav1.ListOptions) {
	t.now(func() { t.clients[client].List(t.pods, "", o, &ear{t, client, ""}) })
}

func (t *trial) watches(client, rv string, o metav1.ListOptions) {
	o.ResourceVersion = rv
	t.now(func() {
		t.clients[client].Watch(t.pods, "", o, &ear{t, client, ""})
	})
}

func (t *trial) writes(client, key string) {
	t.now(func() {
		t.clients[client].Write(fakeapiserver.Write{Resource: t.pods, Verb: fakeapiserver.Update, Object: named(key)}, &ear{t, client, ""})
	})
}

// ear is what a client hears of a request.
type ear struct {
	t      *trial
	client string
	token  string // of the next page
}

var _ fakeapiserver.Receiver = (*ear)(nil)

// failure describes an error as a client sees it.
func failure(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err.Error()
	}
	st := status.Status()
	text := fmt.Sprintf("%d %s", st.Code, st.Reason)
	if d := st.Details; d != nil && d.RetryAfterSeconds > 0 {
		text += fmt.Sprintf(" retry after %d s", d.RetryAfterSeconds)
	}
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		text += " too large"
		var want, have int64
		if _, said, ok := strings.Cut(st.Message, "Too large resource version: "); ok {
			_, _ = fmt.Sscanf(said, "%d, current: %d", &want, &have) // what it does not say stays 0
		}
		if want <= have {
			text += ", although it is not: " + st.Message
		}
	}
	if st.Continue != "" {
		text += " goes on"
	}
	return text
}

// OnList implements fakeapiserver.Receiver.
func (e *ear) OnList(_ fakeapiserver.ReqID, p *fakeapiserver.Page, err error) {
	if err != nil {
		e.t.is("whether a page comes with the error of a list", false, p != nil)
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			e.token = status.Status().Continue
		}
		e.t.hears("%s list: %s", e.client, failure(err))
		return
	}
	e.token = p.Continue
	all := ""
	for _, obj := range p.Items {
		all += " " + short(obj)
	}
	e.t.hears("%s list:%s at %s", e.client, all, p.ResourceVersion)
}

func short(obj runtime.Object) string {
	m, ok := obj.(*object)
	if !ok || m == nil {
		return fmt.Sprintf("%T", obj)
	}
	return strings.TrimPrefix(m.Namespace+"/"+m.Name, "/") + "@" + m.ResourceVersion
}

// OnWrite implements fakeapiserver.Receiver.
func (e *ear) OnWrite(_ fakeapiserver.ReqID, obj runtime.Object, err error) {
	if err != nil {
		e.t.is("whether an object comes with the error of a write", false, obj != nil)
		e.t.hears("%s write: %s", e.client, failure(err))
		return
	}
	e.t.hears("%s write: %s", e.client, short(obj))
}

// OnWatchOpened implements fakeapiserver.Receiver.
func (e *ear) OnWatchOpened(fakeapiserver.ReqID) { e.t.hears("%s opened", e.client) }

// OnWatchOpenError implements fakeapiserver.Receiver.
func (e *ear) OnWatchOpenError(_ fakeapiserver.ReqID, err error) {
	e.t.hears("%s watch: %s", e.client, failure(err))
}

// OnEvent implements fakeapiserver.Receiver.
func (e *ear) OnEvent(_ fakeapiserver.ReqID, v fakeapiserver.Event) {
	if st, ok := v.Object.(*metav1.Status); ok {
		err := &apierrors.StatusError{ErrStatus: *st}
		e.t.said = refusal(err)
		e.t.hears("%s %s %s", e.client, v.Type, failure(err))
		return
	}
	m, ok := v.Object.(*object)
	e.t.is("the type of an event's object", true, ok)
	if !ok {
		return
	}
	e.t.is("the revision of an event", strconv.FormatInt(v.Rev, 10), m.ResourceVersion)
	if v.Type != watch.Bookmark {
		e.t.hears("%s %s %s", e.client, v.Type, short(m))
		return
	}
	ends := ""
	if m.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
		ends = " ends"
	}
	e.t.hears("%s BOOKMARK %s%s", e.client, m.ResourceVersion, ends)
}

// OnWatchClosed implements fakeapiserver.Receiver.
func (e *ear) OnWatchClosed(_ fakeapiserver.ReqID, err error) {
	if err != nil {
		e.t.hears("%s closed: %s", e.client, failure(err))
		return
	}
	e.t.hears("%s closed", e.client)
}

// lane is what one of them hears, or what is committed: in which order two of them hear of something is left open.
func lane(of string, all []string) string {
	b := strings.Builder{}
	for _, what := range all {
		if rest, ok := strings.CutPrefix(what, of+" "); ok {
			b.WriteString(rest + ", ")
		}
	}
	return b.String()
}

// compares compares what was committed and what both clients hear.
func (t *trial) compares(want []string) {
	for _, of := range []string{"commit", "c", "d"} {
		t.is("what "+of+" hears", lane(of, want), lane(of, t.heard))
	}
}

// finding says what is wrong with something, "" if nothing is.
func (t *trial) finding(of string) string {
	if err := t.kernel.Err(); err != nil {
		return fmt.Sprintf("%s: %v", of, err)
	}
	if t.wrong != "" {
		return of + ": " + t.wrong
	}
	return ""
}

// faulty injects one fault of a kind that is drawn, and compares what its clients hear with what the kind's description says.
func faulty(s *sim.Stream, turn uint64) string {
	specs := fault.Specs()
	spec := &specs[s.IntN(len(specs))]
	t := newTrial(s, turn)
	var want []string
	switch spec.Stage {
	case fault.OnList, fault.OnListAnswer:
		want = t.faultyList(spec)
	case fault.OnWrite, fault.OnWriteAnswer:
		want = t.faultyWrite(spec)
	case fault.OnOpen, fault.OnOpenAnswer:
		want = t.faultyOpening(spec)
	case fault.OnStream:
		want = t.faultyStream(spec)
	case fault.OnFrame:
		want = t.faultyFrame(spec)
	case fault.OnReplica:
		want = t.faultyReplica(spec)
	default:
		want = t.faultyStore(spec)
	}
	t.is("what is left of the fault", 0, len(t.cluster.Faults()))
	t.compares(want)
	return t.finding(fmt.Sprintf("with the fault %s", spec.Kind))
}
