package informer

import (
	"errors"
	"testing"
	"time"
)

func addLog(t testing.TB, p *Processor, o ListenerOptions, now time.Time) (*Listener, *log) {
	t.Helper()
	h := &log{}
	l, err := p.AddListener(h, o, now, nil)
	must(t, err)
	return l, h
}

func period(d time.Duration) *time.Duration { return &d }

func deliverAll(l *Listener) {
	for l.Deliver() {
	}
}

func note(t NotificationType, key string, old, now int) Notification {
	n := Notification{Type: t, Key: key}
	if old > 0 {
		n.Old = pod(key, old)
	}
	if now > 0 {
		n.New = pod(key, now)
	}
	return n
}

func TestI75SyncUpdatesGoToSyncingListenersOnly(t *testing.T) {
	p := &Processor{ResyncCheckPeriod: time.Minute}
	a, aLog := addLog(t, p, ListenerOptions{ResyncPeriod: period(time.Minute)}, t0)
	b, bLog := addLog(t, p, ListenerOptions{ResyncPeriod: period(0)}, t0)
	p.Start()
	if !p.ShouldResync(t0.Add(time.Minute)) {
		t.Fatal("no resync is due after a minute")
	}
	p.Distribute(note(NotifyUpdate, "k", 1, 1))
	p.Distribute(note(NotifyUpdate, "k", 1, 2))
	deliverAll(a)
	deliverAll(b)
	equal(t, aLog.calls, []string{"update k@1→k@1", "update k@1→k@2"})
	equal(t, bLog.calls, []string{"update k@1→k@2"})
}

func TestI76NewListenersAreSyncingUntilTheFirstShouldResync(t *testing.T) {
	p := &Processor{}
	l, h := addLog(t, p, ListenerOptions{}, t0)
	p.Start()
	p.Distribute(note(NotifyUpdate, "k", 1, 1)) // replay as in k86015, k127964
	p.ShouldResync(t0)
	p.Distribute(note(NotifyUpdate, "k", 2, 2))
	deliverAll(l)
	equal(t, h.calls, []string{"update k@1→k@1"})
}

func TestI77ShouldResyncMovesEachListenersNextResync(t *testing.T) {
	p := &Processor{ResyncCheckPeriod: time.Minute}
	a, _ := addLog(t, p, ListenerOptions{ResyncPeriod: period(time.Minute)}, t0)
	b, _ := addLog(t, p, ListenerOptions{ResyncPeriod: period(3 * time.Minute)}, t0)
	for i, want := range []struct{ any, a, b bool }{
		{false, false, false}, {true, true, false}, {true, true, false}, {true, true, true}, {true, true, false},
	} {
		now := t0.Add(time.Duration(i) * time.Minute)
		if got := p.ShouldResync(now); got != want.any || a.Syncing() != want.a || b.Syncing() != want.b {
			t.Fatalf("minute %d: got %v, a %v, b %v, want %+v", i, got, a.Syncing(), b.Syncing(), want)
		}
	}
	if got := b.NextResync(); !got.Equal(t0.Add(6 * time.Minute)) {
		t.Errorf("b's next resync is %v", got)
	}
}

func TestI78ResyncPeriods(t *testing.T) {
	p := &Processor{ResyncCheckPeriod: time.Hour, DefaultResyncPeriod: time.Hour}
	a, _ := addLog(t, p, ListenerOptions{}, t0)
	b, _ := addLog(t, p, ListenerOptions{ResyncPeriod: period(time.Millisecond)}, t0)
	if p.ResyncCheckPeriod != time.Second || b.ResyncPeriod() != time.Second {
		t.Errorf("a request below the minimum gave check period %v, own %v; want 1s", p.ResyncCheckPeriod, b.ResyncPeriod())
	}
	if a.ResyncPeriod() != time.Hour {
		t.Errorf("a lower check period changed another listener's to %v", a.ResyncPeriod())
	}
	p.ResyncCheckPeriod = time.Minute
	p.Start()
	late, _ := addLog(t, p, ListenerOptions{ResyncPeriod: period(2 * time.Second)}, t0)
	if late.ResyncPeriod() != time.Minute || p.ResyncCheckPeriod != time.Minute {
		t.Errorf("after start got %v, check period %v; want the request raised to 1m", late.ResyncPeriod(), p.ResyncCheckPeriod)
	}
	off := &Processor{}
	never, _ := addLog(t, off, ListenerOptions{ResyncPeriod: period(time.Minute)}, t0)
	if never.ResyncPeriod() != 0 || off.ShouldResync(t0.Add(time.Hour)) {
		t.Errorf("got period %v with check period 0, want resyncs disabled", never.ResyncPeriod())
	}
}

func TestI79LateHandlerGetsTheStoreAsInitialList(t *testing.T) {
	inf := NewInformer(InformerOptions{})
	inf.Start(t0)
	inf.Reflector.OnPage(objects(pod("b", 1), pod("a", 2)), "2", "", nil)
	drainInformer(t, inf)
	h := &log{}
	l, err := inf.AddHandler(h, ListenerOptions{}, t0)
	must(t, err)
	if l.HasSynced() {
		t.Error("synced before the replay was delivered")
	}
	deliverAll(l)
	equal(t, h.calls, []string{"add a@2 initial", "add b@1 initial"})
	if !l.HasSynced() {
		t.Error("not synced after the replay")
	}
}

func TestI80AfterStopNoHandlerIsAdded(t *testing.T) {
	inf := NewInformer(InformerOptions{})
	inf.Start(t0)
	inf.Stop()
	if _, err := inf.AddHandler(&log{}, ListenerOptions{}, t0); !errors.Is(err, ErrStopped) {
		t.Fatalf("got %v, want ErrStopped", err)
	}
	if !inf.Processor.Stopped() || !inf.Reflector.Stopped() || !inf.Queue.IsClosed() {
		t.Error("the informer did not stop completely")
	}
	r := inf.Reflector
	inf.Start(t0)
	if inf.Reflector != r || inf.Reflector.Want().Op != OpNone {
		t.Error("a second Start had an effect")
	}
}

func TestI81RemoveDropsTheRingAndLetsTheCallFinish(t *testing.T) {
	p := &Processor{}
	l, h := addLog(t, p, ListenerOptions{}, t0)
	other, _ := addLog(t, p, ListenerOptions{}, t0)
	p.Start()
	p.Distribute(note(NotifyAdd, "a", 0, 1))
	p.Distribute(note(NotifyAdd, "b", 0, 2))
	n := l.Begin()
	p.RemoveListener(l)
	p.RemoveListener(l) // idempotent
	if l.InFlight() == nil || l.Len() != 0 || !l.Removed() {
		t.Fatalf("in flight %v, %d pending", l.InFlight(), l.Len())
	}
	n.Call(h)
	l.Finish()
	p.Distribute(note(NotifyAdd, "c", 0, 3))
	if l.Deliver() {
		t.Error("a removed listener received a notification")
	}
	equal(t, h.calls, []string{"add a@1"})
	if other.Len() != 3 || len(p.Listeners()) != 1 {
		t.Errorf("the other listener has %d pending", other.Len())
	}
}

func TestI83StalledListenerBlocksNobody(t *testing.T) {
	p := &Processor{}
	stalled, _ := addLog(t, p, ListenerOptions{}, t0)
	quick, _ := addLog(t, p, ListenerOptions{}, t0)
	if !p.AwaitsStart() {
		t.Error("AwaitsStart is false for a processor that has listeners and is not started")
	}
	p.Start()
	const n = 3*maxIdleSlots + 5
	for i := range n {
		p.Distribute(note(NotifyAdd, "k", 0, i+1))
		quick.Deliver()
	}
	if quick.Len() != 0 {
		t.Errorf("the quick listener has %d pending", quick.Len())
	}
	if stalled.Len() != n {
		t.Fatalf("the stalled listener has %d pending, want %d", stalled.Len(), n)
	}
	for i := 0; ; i++ {
		m := stalled.Begin()
		if m == nil {
			break
		}
		if show(m.New) != show(pod("k", i+1)) {
			t.Fatalf("at %d: %s", i, show(m.New))
		}
		stalled.Finish()
	}
	if len(stalled.pending.slots) > maxIdleSlots {
		t.Errorf("a drained ring keeps %d slots", len(stalled.pending.slots))
	}
}

func TestI84DeliveryIsSequential(t *testing.T) {
	p := &Processor{}
	l, _ := addLog(t, p, ListenerOptions{}, t0)
	p.Start()
	p.Distribute(note(NotifyAdd, "a", 0, 1))
	p.Distribute(note(NotifyAdd, "b", 0, 2))
	if show(l.Peek().New) != "a@1" || l.Begin() == nil || l.Begin() != nil || l.Deliver() {
		t.Fatal("two calls in flight")
	}
	l.Finish()
	if m := l.Begin(); show(m.New) != "b@2" {
		t.Fatal("out of order")
	}
}

func TestI85PanicSkipsTheItemAndRestsASecond(t *testing.T) {
	p := &Processor{UpstreamHasSynced: func() bool { return true }}
	l, h := addLog(t, p, ListenerOptions{}, t0)
	p.Start()
	p.Distribute(Notification{Type: NotifyAdd, Key: "a", New: pod("a", 1), IsInInitialList: true})
	l.Begin()
	l.Crash()
	if _, resting := l.CrashBackoff(t0); resting {
		t.Error("the backoff began before the next item")
	}
	p.Distribute(note(NotifyAdd, "b", 0, 2))
	later := t0.Add(10 * time.Second)
	until, resting := l.CrashBackoff(later)
	if !resting || !until.Equal(later.Add(time.Second)) || l.Deliver() {
		t.Fatalf("backing off: %v until %v", resting, until)
	}
	if _, resting := l.CrashBackoff(until); resting || !l.Deliver() {
		t.Fatal("the backoff does not end")
	}
	equal(t, h.calls, []string{"add b@2"})
	if l.HasSynced() {
		t.Error("synced though the initial add panicked")
	}
}

func TestI86RegistrationSyncsWhenEveryInitialAddIsFinished(t *testing.T) {
	upstream := false
	p := &Processor{UpstreamHasSynced: func() bool { return upstream }}
	l, _ := addLog(t, p, ListenerOptions{}, t0)
	p.Start()
	p.Distribute(Notification{Type: NotifyAdd, Key: "a", New: pod("a", 1), IsInInitialList: true})
	upstream = true
	l.Begin()
	if l.HasSynced() {
		t.Error("synced while the handler is in its add")
	}
	l.Finish()
	if !l.HasSynced() {
		t.Error("not synced")
	}
}

func TestI87InformerSyncsWithoutItsHandlers(t *testing.T) {
	inf := NewInformer(InformerOptions{})
	l, err := inf.AddHandler(&log{}, ListenerOptions{}, t0)
	must(t, err)
	inf.Start(t0)
	inf.Reflector.OnPage(objects(pod("a", 1)), "1", "", nil)
	if inf.HasSynced() {
		t.Error("synced before the queue was popped (k113763)")
	}
	_, err = inf.Controller.Step()
	must(t, err)
	if !inf.HasSynced() || l.HasSynced() {
		t.Errorf("informer %v, listener %v, want true and false", inf.HasSynced(), l.HasSynced())
	}
}
