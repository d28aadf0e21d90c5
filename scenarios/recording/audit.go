package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/reports"
)

// auditEvent is what is read of an event of audit.k8s.io/v1: one stage of a request.
type auditEvent struct {
	Kind       string
	APIVersion string
	Level      string
	Stage      string
	AuditID    string
	RequestURI string
	Verb       string
	User       struct{ Username string }
	ObjectRef  *auditRef

	ResponseStatus *struct {
		Code   int
		Reason string
	}
	ResponseObject json.RawMessage
}

// auditRef names the object that a request is about.
type auditRef struct {
	Resource, Namespace, Name, UID, APIGroup, Subresource string
}

// auditLog is what the lines of an audit log say of the cluster's objects.
type auditLog struct {
	im       *importer
	versions map[string]map[int64]bool // of objects that are known, by kind and key
	last     map[string]*object        // the newest of those
	entries  []auditEntry
	open     map[string]place            // requests of which no end was seen, by audit id
	unknown  []string                    // what cannot be known, with its line, as far as it is shown
	missing  int                         // how often that was
	highest  int64                       // revision so far
	refused  int                         // requests that failed
	kinds    map[schema.GroupKind]string // the version in which a kind was first seen
}

// auditEntry is a version of an object, or its end.
type auditEntry struct {
	object  *object
	created bool
	deleted bool
	unseen  bool  // the revision of the deletion is not known
	rv      int64 // of the object; if it is unseen, the highest of the answers before it
	order   int
}

// The most lines of which is said what they lack.
const maxUnknown = 20

const auditHint = "an audit log has a JSON object of kind Event, audit.k8s.io/v1, on each line: --audit-log-format=json"

// readAudit reads the lines of an apiserver's audit log. They are in the order in which requests ended; objects have a history by their revisions.
func (im *importer) readAudit() error {
	a := &auditLog{
		im: im, versions: map[string]map[int64]bool{}, last: map[string]*object{}, open: map[string]place{}, kinds: map[schema.GroupKind]string{},
	}
	for {
		c, more := im.in.next()
		if !more {
			if err := im.in.failure(); err != nil {
				return err
			}
			break
		}
		im.count++
		raw, at, err := im.in.read()
		if errors.Is(err, errTruncated) && c == '{' {
			if err := im.truncated(at); err != nil {
				return err
			}
			break
		}
		if errors.Is(err, errTruncated) {
			return wrong(at, im.count, auditHint, "this is not an audit event")
		}
		if err != nil {
			return err
		}
		if err := a.event(at, raw); err != nil {
			return err
		}
	}
	return a.finish()
}

// event takes in a line.
func (a *auditLog) event(at place, raw []byte) error {
	var e auditEvent
	if err := json.Unmarshal(raw, &e); err != nil || e.Kind != "Event" || e.APIVersion != "audit.k8s.io/v1" {
		return wrong(at, a.im.count, auditHint, "this is not an audit event")
	}
	if e.Stage != "ResponseComplete" {
		if e.Stage == "Panic" {
			a.lacks(at, &e, "the apiserver panicked: whether it was carried out is not known")
		} else if _, known := a.open[e.AuditID]; !known && e.writes() {
			a.open[e.AuditID] = at
		}
		return nil
	}
	delete(a.open, e.AuditID)
	if e.ObjectRef == nil || !a.wants(e.ObjectRef) {
		return nil
	}
	switch {
	case e.ResponseStatus != nil && e.ResponseStatus.Code >= 400:
		a.refused++
		return nil
	case e.dryRun():
		return nil
	}
	switch e.Verb {
	case "create", "update", "patch", "get", "delete":
		return a.object(at, &e)
	case "list", "deletecollection":
		return a.list(at, &e)
	}
	return nil
}

func (e *auditEvent) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// creates reports whether the request has made an object: an apply may, too.
func (e *auditEvent) creates() bool {
	made := e.Verb == "create" || e.writes() && e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusCreated
	return made && e.ObjectRef.Subresource == ""
}

func (e *auditEvent) dryRun() bool {
	u, err := url.Parse(e.RequestURI)
	return err == nil && u.Query().Get("dryRun") != ""
}

// what names a request.
func (e *auditEvent) what() string {
	r := e.ObjectRef
	if r == nil {
		return e.Verb + " " + e.RequestURI
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	name := cmp.Or(r.Name, "an object with a generated name")
	if e.Verb == "list" || e.Verb == "deletecollection" {
		name = ""
	}
	return strings.TrimSpace(e.Verb + " " + resource + " " + strings.Trim(r.Namespace+"/"+name, "/"))
}

// wants reports whether the options ask for a resource.
func (a *auditLog) wants(r *auditRef) bool {
	only := a.im.opts.Resources
	return len(only) == 0 || slices.Contains(only, r.Resource) || r.APIGroup != "" && slices.Contains(only, r.Resource+"."+r.APIGroup)
}

// lacks notes what cannot be known of a request.
func (a *auditLog) lacks(at place, e *auditEvent, format string, args ...any) {
	if a.missing++; a.missing <= maxUnknown {
		text := e.what()
		if a.im.opts.RedactAll {
			text = e.Verb
		}
		a.unknown = append(a.unknown, fmt.Sprintf("%s:%d: %s: %s.", a.im.base(), at.pos.Line, text, fmt.Sprintf(format, args...)))
	}
}

// named names an object of a list.
func (a *auditLog) named(namespace, name string) string {
	if a.im.opts.RedactAll {
		return "an object"
	}
	return strings.TrimPrefix(namespace+"/"+name, "/")
}

// object takes in a request for one object.
func (a *auditLog) object(at place, e *auditEvent) error {
	sub := e.ObjectRef.Subresource
	switch {
	case sub == "binding" && e.Verb == "create" || sub == "eviction" || sub == "scale" && e.Verb != "get":
		a.lacks(at, e, "the answer is not the object, whose new version is not known unless a later line has it")
		return nil
	case sub != "" && sub != "status" && sub != "approval" && sub != "ephemeralcontainers" && sub != "finalize" && sub != "resize":
		return nil // logs, tokens and the like: no object changes
	case len(e.ResponseObject) == 0 || string(e.ResponseObject) == "null":
		if e.Verb == "delete" {
			a.ended(at, e, e.ObjectRef.UID)
		} else if e.writes() {
			a.lacks(at, e, "at level %s there is no responseObject, so the version that it made is not known", cmp.Or(e.Level, "None"))
		}
		return nil
	}
	var head struct {
		Kind     string
		Details  struct{ UID string }
		Metadata struct {
			UID                        string
			ResourceVersion            string
			DeletionTimestamp          string
			DeletionGracePeriodSeconds int64
			Finalizers                 []string
		}
	}
	if err := json.Unmarshal(e.ResponseObject, &head); err != nil {
		return wrong(at, a.im.count, "objects have the form of the Kubernetes API", "the responseObject is malformed: %v", err)
	}
	if e.Verb == "delete" && head.Kind == "Status" {
		a.ended(at, e, cmp.Or(head.Details.UID, e.ObjectRef.UID))
		return nil
	}
	if head.Metadata.ResourceVersion == "" || head.Kind == "Status" {
		return nil // a review, which is not stored
	}
	m := head.Metadata
	dies := m.DeletionTimestamp != ""
	stays := dies && (len(m.Finalizers) > 0 || m.DeletionGracePeriodSeconds > 0)
	if err := a.version(at, e, e.ResponseObject, schema.GroupVersionKind{}, e.Verb == "delete" && !stays); err != nil {
		return err
	}
	if dies && !stays && (e.Verb == "update" || e.Verb == "patch") {
		a.ended(at, e, m.UID) // it has taken the last finalizer: the answer has the revision before the end
	}
	return nil
}

// list takes in a request for many objects.
func (a *auditLog) list(at place, e *auditEvent) error {
	if len(e.ResponseObject) == 0 || string(e.ResponseObject) == "null" {
		if e.writes() {
			a.lacks(at, e, "at level %s there is no responseObject, so what it deleted is not known", cmp.Or(e.Level, "None"))
		}
		return nil
	}
	var list struct {
		Kind, APIVersion string
		Items            []json.RawMessage
	}
	if err := json.Unmarshal(e.ResponseObject, &list); err != nil {
		return wrong(at, a.im.count, "lists have the form of the Kubernetes API", "the responseObject is malformed: %v", err)
	}
	if list.Kind == "Status" && e.Verb == "deletecollection" {
		a.lacks(at, e, "the answer is a Status, so what it deleted is not known")
	}
	kind := schema.FromAPIVersionAndKind(list.APIVersion, strings.TrimSuffix(list.Kind, "List"))
	if !strings.HasSuffix(list.Kind, "List") || kind.Kind == "" || kind.Kind == "PartialObjectMetadata" {
		return nil
	}
	for _, item := range list.Items {
		if err := a.version(at, e, item, kind, false); err != nil {
			return err
		}
		if e.Verb == "deletecollection" {
			var head struct {
				Metadata struct {
					Name, Namespace, UID string
					Finalizers           []string
				}
			}
			switch {
			case json.Unmarshal(item, &head) != nil:
			case len(head.Metadata.Finalizers) > 0:
				a.lacks(at, e, "%s has finalizers: the version that says that it is being deleted is not known unless a later line has it", a.named(head.Metadata.Namespace, head.Metadata.Name))
			default:
				a.endedAs(at, e, kind, head.Metadata.Namespace, head.Metadata.Name, head.Metadata.UID)
			}
		}
	}
	return nil
}

// version takes in a version of an object.
func (a *auditLog) version(at place, e *auditEvent, raw []byte, kind schema.GroupVersionKind, deleted bool) error {
	o, err := readObject(at, a.im.count, raw, kind)
	if err != nil {
		return err
	}
	gk := o.gvk.GroupKind()
	if gk.Kind == "Table" || gk.Kind == "PartialObjectMetadata" {
		return nil // kubectl's way to read
	}
	switch v, known := a.kinds[gk]; {
	case !known:
		a.kinds[gk] = o.gvk.Version
	case v != o.gvk.Version:
		a.lacks(at, e, "the answer is of version %s, and earlier ones are of %s: an object has one of them here", o.gvk.Version, v)
		return nil
	}
	if gk.Group == e.ObjectRef.APIGroup && pluralName.MatchString(e.ObjectRef.Resource) && a.im.opts.Plurals[gk.String()] == "" {
		a.im.plurals[gk.String()] = e.ObjectRef.Resource
	}
	id := gk.String() + " " + o.key
	if deleted && a.versions[id][o.rv] {
		a.add(auditEntry{object: o, deleted: true, unseen: true})
		return nil
	}
	if a.versions[id][o.rv] {
		return nil
	}
	if a.versions[id] == nil {
		a.versions[id] = map[int64]bool{}
	}
	a.versions[id][o.rv] = true
	if l := a.last[id]; l == nil || l.rv < o.rv {
		a.last[id] = o
	}
	a.add(auditEntry{object: o, deleted: deleted, created: e.creates()})
	return nil
}

func (a *auditLog) add(e auditEntry) {
	e.order, e.rv = len(a.entries), e.object.rv
	if a.highest = max(a.highest, e.rv); e.unseen {
		e.rv = a.highest
	}
	a.entries = append(a.entries, e)
}

// ended takes in the deletion of an object that the answer does not show.
func (a *auditLog) ended(at place, e *auditEvent, uid string) {
	r := e.ObjectRef
	for gk := range a.kinds { // order: one at most has the resource's name
		if gk.Group == r.APIGroup && a.plural(gk) == r.Resource {
			a.endedAs(at, e, gk.WithVersion(a.kinds[gk]), r.Namespace, r.Name, uid)
			return
		}
	}
	a.lacks(at, e, "no version of the object is known: its end is left out")
}

func (a *auditLog) plural(gk schema.GroupKind) string {
	return cmp.Or(a.im.opts.Plurals[gk.String()], a.im.plurals[gk.String()])
}

func (a *auditLog) endedAs(at place, e *auditEvent, gvk schema.GroupVersionKind, namespace, name, uid string) {
	o := a.last[gvk.GroupKind().String()+" "+strings.TrimPrefix(namespace+"/"+name, "/")]
	switch {
	case o == nil:
		a.lacks(at, e, "no version of the object is known: its end is left out")
	case uid != "" && o.uid != "" && o.uid != uid:
		a.lacks(at, e, "it is about another object of that name: its end is left out")
	default:
		a.add(auditEntry{object: o, deleted: true, unseen: true})
	}
}

// finish makes histories of what was read.
func (a *auditLog) finish() error {
	slices.SortFunc(a.entries, func(x, y auditEntry) int {
		return cmp.Or(cmp.Compare(x.rv, y.rv), cmp.Compare(asInt(x.unseen), asInt(y.unseen)), cmp.Compare(x.order, y.order))
	})
	before := 0
	seen := map[string]bool{}
	for _, e := range a.entries {
		o := e.object
		if e.unseen {
			if h := a.im.kinds[o.gvk]; h != nil && h.known[o.key] != nil && h.known[o.key].uid == o.uid { // else it has come back meanwhile
				h.guessDeletion(h.known[o.key], e.rv)
			}
			continue
		}
		h, err := a.im.history(o)
		if err != nil {
			return err
		}
		id := o.gvk.GroupKind().String() + " " + o.key
		if !e.created && !seen[id] && !e.deleted {
			before++
		}
		switch seen[id] = true; {
		case e.deleted:
			err = h.removed(o)
		case !e.created && len(h.changes) == 0 && h.known[o.key] == nil:
			h.list([]*object{o})
		default:
			h.put(o, h.last)
		}
		if err != nil {
			return err
		}
	}
	for _, h := range a.im.order {
		h.listed = true
	}
	a.warn(before)
	return nil
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// warn says what is not known.
func (a *auditLog) warn(before int) {
	add := func(format string, args ...any) { a.im.warnings = append(a.im.warnings, fmt.Sprintf(format, args...)) }
	if before > 0 {
		add("Older than the log: %s, of which the first version is the first that it shows.", reports.Counted(before, "object"))
	}
	if a.refused > 0 {
		add("%s failed, and changed nothing.", reports.Counted(a.refused, "request"))
	}
	var lines []int
	for _, at := range a.open { // order: sorted below
		lines = append(lines, at.pos.Line)
	}
	slices.Sort(lines)
	if n := len(lines); n > 0 {
		add("%s:%d: of %s, this one first, the log has no ResponseComplete stage: what became of it is not known.", a.im.base(), lines[0], reports.Counted(n, "write"))
	}
	for _, text := range a.unknown {
		add("%s", text)
	}
	if n := a.missing - len(a.unknown); n > 0 {
		add("%s of which something is not known are not listed.", strconv.Itoa(n)+" more requests")
	}
}
