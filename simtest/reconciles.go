package simtest

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Reconciling puts into the trace that a controller begins to reconcile an object, and returns the function that says how that ended. A failure's story,
// its diagram and its explanations then have the reconciles. The object is named as reports do, "pods default/web". Any goroutine of the run may
// call it: where your code calls its reconcile function, or around one that the test passes to it:
//
//	func(ctx context.Context, key string) error {
//		end := env.Reconciling("web", "deployments "+key)
//		err := c.reconcile(ctx, key)
//		end(err)
//		return err
//	}
//
// Until then, what the caller's goroutine sends is told as the reconcile's: call it on the goroutine that reconciles. What other goroutines send for
// it stays the process's.
//
// For controller-runtime, set [Logger] instead. Work queues do not tell: their metrics have no keys. It panics if controller or object is empty, and if the
// controller's name has a slash.
func (e *Env) Reconciling(controller, object string) (end func(error)) {
	if e == nil || e.w == nil {
		panic("simtest: this Env was not made by Run")
	}
	if controller == "" || strings.Contains(controller, "/") || object == "" {
		panic(fmt.Sprintf(`simtest: env.Reconciling(%q, %q) needs a controller's name, without a slash, and an object: "pods default/web"`, controller, object))
	}
	_, ended := e.w.reconciling(controller, "", "", object)
	return func(err error) { ended(outcomeOf(err), -1) }
}

// reconciling tells the engine of a reconcile on the caller's goroutine. Without a kind, the key begins with the plural.
func (w *world) reconciling(controller, group, kind, key string) (id int64, end func(outcome string, retry time.Duration)) {
	w.mu.Lock()
	w.ids++
	id = w.ids
	w.mu.Unlock()
	on := w.begun.enter(id)
	w.event(func(p *wire.Packet) {
		p.Byte(wire.EventReconcile).Num(id).Text(controller).Flag(false).Text(group).Text(kind).Text(key)
	})
	return id, func(outcome string, retry time.Duration) {
		w.begun.leave(on, id)
		w.event(func(p *wire.Packet) {
			p.Byte(wire.EventReconcile).Num(id).Text(controller).Flag(true).Text(outcome).Duration(retry)
		})
	}
}

// outcomeOf is how a reconcile that returned an error ended.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if text == "" || text == "ok" {
		return fmt.Sprintf("an error, %q", text)
	}
	return text
}

// Logger returns a logger for controller-runtime, or another user of logr. What it is told is logged like everything that is logged with klog: it is
// printed with a failure. What controller-runtime, from v0.15 on, logs at the beginning and the end of each reconcile also gets into the trace, whatever
// klog's -v is, as by [Env.Reconciling]; what is sent with the context that the reconcile was given is then told as its, too, whatever goroutine sends it.
// A number at the end of a controller's name is left out: that is how one makes it another in each run. A controller with a LogConstructor of its own goes by what
// its loggers are called (WithName), and its object by the last of their values that is the name of one, or by those called namespace and name. The logger serves any number of runs, one after the other:
//
//	func TestMain(m *testing.M) {
//		ctrl.SetLogger(simtest.Logger())
//		os.Exit(m.Run())
//	}
func Logger() klog.Logger {
	inner := klog.NewKlogr().GetSink()
	if d, ok := inner.(interface{ WithCallDepth(int) klog.LogSink }); ok {
		inner = d.WithCallDepth(1) // ours is between it and its caller
	}
	return klog.New(&sink{inner: inner})
}

// logged is the run whose controllers log.
var logged atomic.Pointer[world]

// sink passes on what is logged to klog, and notices reconciles.
type sink struct {
	inner klog.LogSink
	w     *world // the run in which it got its first value, nil before
	// The values by which controller-runtime names a reconcile.
	controller, group, kind, namespace, name, id string
	// Where the program names it in its own way (LogConstructor), controller-runtime adds only the id: what the logger is called, and the last value before it that
	// names an object, with its key.
	called, key string
	named       types.NamespacedName
}

// controller-runtime logs the beginning and the end of a reconcile at this level, but for errors.
const reconcileLevel = 5

// What controller-runtime logs.
const (
	logBegin   = "Reconciling"
	logOK      = "Reconcile successful"
	logRequeue = "Reconcile done, requeueing"
	logAfter   = "Reconcile done, requeueing after "
	logFailed  = "Reconciler error"
)

// Init implements logr.LogSink. klog's sink has been told of logr's own frame before, and would skip one more.
func (s *sink) Init(klog.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (s *sink) Enabled(level int) bool {
	return s.inner.Enabled(level) || s.reconciles() && level <= reconcileLevel
}

// Info implements logr.LogSink.
func (s *sink) Info(level int, msg string, values ...any) {
	if s.reconciles() {
		after, isAfter := strings.CutPrefix(msg, logAfter)
		switch {
		case msg == logBegin:
			s.w.begins(s)
		case msg == logOK:
			s.w.ends(s, outcomeOf(nil), -1)
		case msg == logRequeue:
			s.w.ends(s, outcomeOf(nil), 0)
		case isAfter:
			d, err := time.ParseDuration(after)
			if err != nil {
				d = -1
			}
			s.w.ends(s, outcomeOf(nil), d)
		}
	}
	if s.inner.Enabled(level) {
		s.inner.Info(level, msg, values...)
	}
}

// Error implements logr.LogSink.
func (s *sink) Error(err error, msg string, values ...any) {
	if s.reconciles() && msg == logFailed {
		s.w.ends(s, outcomeOf(err), -1)
	}
	s.inner.Error(err, msg, values...)
}

// WithValues implements logr.LogSink.
func (s *sink) WithValues(values ...any) klog.LogSink {
	c := *s
	if c.w == nil {
		c.w = logged.Load()
	}
	for n := 0; n+1 < len(values); n += 2 {
		into := map[any]*string{
			"controller": &c.controller, "controllerGroup": &c.group, "controllerKind": &c.kind, "namespace": &c.namespace, "name": &c.name, "reconcileID": &c.id,
		}[values[n]]
		if into != nil {
			*into = fmt.Sprint(values[n+1])
		} else if key, is := values[n].(string); is && c.id == "" { // what comes later is what the reconcile says
			if of, is := namedBy(values[n+1]); is {
				c.key, c.named = key, of
			}
		}
	}
	c.inner = s.inner.WithValues(values...)
	return &c
}

// WithName implements logr.LogSink.
func (s *sink) WithName(name string) klog.LogSink {
	c := *s
	c.inner = s.inner.WithName(name)
	c.called = strings.TrimPrefix(s.called+"."+name, ".")
	return &c
}

// namedBy returns the object that a value names: a name, a reference of klog's, or a request of controller-runtime's.
func namedBy(value any) (of types.NamespacedName, is bool) {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return of, false
	}
	if f := v.FieldByName("NamespacedName"); f.IsValid() {
		v = f
	}
	switch x := v.Interface().(type) {
	case types.NamespacedName:
		of = x
	case klog.ObjectRef:
		of = types.NamespacedName{Namespace: x.Namespace, Name: x.Name}
	}
	return of, of.Name != ""
}

// WithCallDepth implements logr.CallDepthLogSink.
func (s *sink) WithCallDepth(depth int) klog.LogSink {
	c := *s
	if d, ok := s.inner.(interface{ WithCallDepth(int) klog.LogSink }); ok {
		c.inner = d.WithCallDepth(depth)
	}
	return &c
}

// reconciles reports whether this is a logger of a reconcile in the current run: one of an earlier run belongs to a goroutine that was left behind.
func (s *sink) reconciles() bool {
	return s.id != "" && (s.controller != "" || s.called != "" && (s.key != "" || s.name != "")) && s.w != nil && s.w == logged.Load()
}

// object is the kind of what is reconciled, "" for none, and its key without its resource.
func (s *sink) object() (kind, name string) {
	if s.key != "" && (s.controller == "" || s.name == "") {
		return cmp.Or(s.kind, s.key), strings.TrimPrefix(s.named.String(), "/")
	}
	return s.kind, strings.TrimPrefix(s.namespace+"/"+s.name, "/")
}

// lasting is the controller's name without a number at its end. From v0.19 on, controller-runtime wants another name for each controller that there
// ever was in a process, and two runs of a seed are to be the same.
func (s *sink) lasting() string {
	name := strings.ReplaceAll(cmp.Or(s.controller, s.called), "/", "-")
	return cmp.Or(strings.TrimRight(strings.TrimRight(name, "0123456789"), "-_."), name)
}

// begins tells of the reconcile that a logger is of.
func (w *world) begins(s *sink) {
	kind, key := s.object()
	if kind == "" {
		key = "object " + key // of a controller for no kind
	}
	id, end := w.reconciling(s.lasting(), s.group, kind, key)
	w.begun.name(s.id, logging{id, end})
}

// ends tells how it ended.
func (w *world) ends(s *sink, outcome string, retry time.Duration) {
	if l := w.begun.unname(s.id); l.end != nil {
		l.end(outcome, retry)
	}
}
