package render

import (
	"bytes"
	"encoding/binary"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Encoded caches the bytes of one object in every form that was asked for, so that a list of ten thousand objects or a fan-out to a
// thousand watchers encodes each once. The object must not change. The zero value is empty. It is not safe for concurrent use,
// but the bytes that it returns are.
type Encoded struct {
	first encodedForm
	more  []encodedForm
}

// encodedForm is an object in one form: a watch frame, which contains the object itself and its form as a list item.
type encodedForm struct {
	form             *Form
	frame            []byte
	from, to         int // the object's place in the frame
	itemFrom, itemTo int // the list item's place, 0 if it cannot be part of a list
}

// Form is a way to encode objects of a resource. Views that show the same share one Form within a Forms.
type Form struct {
	resource    *types.Resource
	subresource string
	format      Format
}

// Forms holds the forms in use. The zero value is ready to use.
type Forms struct{ known map[Form]*Form }

// Object returns the form of objects and watch events in the view; nil for Tables, which show ages, and for YAML.
func (t *Forms) Object(v *View) *Form {
	switch v.format.As.Kind {
	case "", "PartialObjectMetadata":
		return t.form(v, v.format)
	}
	return nil
}

// Item returns the form of list items in the view; nil if lists are not assembled from their items' bytes.
func (t *Forms) Item(v *View) *Form {
	if v.format.Pretty {
		return nil
	}
	f := v.format
	switch f.As.Kind {
	case "":
	case "PartialObjectMetadataList":
		f.As.Kind = "PartialObjectMetadata"
	default:
		return nil
	}
	return t.form(v, f)
}

func (t *Forms) form(v *View, f Format) *Form {
	if f.MediaType == types.YAML {
		return nil
	}
	f.Pretty = false // frames are never pretty
	key := Form{v.resource, v.subresource, f}
	form := t.known[key]
	if form == nil {
		if t.known == nil {
			t.known = map[Form]*Form{}
		}
		form = &key
		t.known[key] = form
	}
	return form
}

// find returns the object in that form, nil if it is not cached.
func (e *Encoded) find(f *Form) *encodedForm {
	if e.first.form == f {
		return &e.first
	}
	for i := range e.more {
		if e.more[i].form == f {
			return &e.more[i]
		}
	}
	return nil
}

// Source is an object to encode, with what encoding needs.
type Source struct {
	View *View
	Form *Form
	// Event is the event that most watchers see the object in: its frame is the one cached.
	Event  watch.EventType
	Object runtime.Object
	// Convert returns the object in the version of the view's resource; nil if obj is already in it.
	Convert func(runtime.Object) (runtime.Object, error)
	Now     time.Time
}

func (s *Source) converted() (runtime.Object, error) {
	if s.Convert == nil {
		return s.Object, nil
	}
	return s.Convert(s.Object)
}

// get returns the object in the source's form, encoding it on first use.
func (e *Encoded) get(s *Source) (*encodedForm, error) {
	if have := e.find(s.Form); have != nil {
		return have, nil
	}
	obj, err := s.converted()
	if err != nil {
		return nil, err
	}
	v := *s.View
	if v.format.As.Kind == "PartialObjectMetadataList" {
		v.format.As.Kind = "PartialObjectMetadata" // the kind of its items
	}
	frame, err := v.Frame(s.Event, obj, s.Now)
	if err != nil {
		return nil, err
	}
	made := encodedForm{form: s.Form, frame: frame}
	made.locate(&v, s.Event)
	if e.first.form == nil {
		e.first = made
		return &e.first, nil
	}
	e.more = append(e.more, made)
	return &e.more[len(e.more)-1], nil
}

// locate finds the object, and the list item, in the frame.
func (f *encodedForm) locate(v *View, event watch.EventType) {
	if v.format.MediaType == types.Protobuf {
		from := bytes.Index(f.frame, protobufMagic)
		f.from, f.to = from, len(f.frame)
		if u, ok := parseUnknown(f.frame[from:]); ok {
			f.itemFrom, f.itemTo = f.from+u.rawTag, f.from+u.rawEnd
		}
		return
	}
	f.from, f.to = len(jsonHead(event)), len(f.frame)-len(jsonTail)
	f.itemFrom, f.itemTo = f.from, f.to
	if kind := itemKind(v); kind != "" {
		f.itemFrom += len(kind)
		if !bytes.HasPrefix(f.frame[f.from:], []byte(kind)) {
			f.itemFrom, f.itemTo = 0, 0
		}
	}
}

// itemKind returns the start of an object's JSON that list items lack, because they have no kind (S7).
func itemKind(v *View) string {
	if v.resource.Custom || v.format.As.Kind != "" {
		return ""
	}
	gvk := v.resource.KindOf(v.subresource)
	return `{"kind":"` + gvk.Kind + `","apiVersion":"` + gvk.GroupVersion().String() + `",`
}

// Frame returns a watch frame, which must not be modified.
func (e *Encoded) Frame(event watch.EventType, s *Source) ([]byte, error) {
	f, err := e.get(s)
	if err != nil || event == s.Event {
		return f.whole(), err
	}
	plain := s.View.format
	plain.Pretty = false
	return WrapFrame(plain, event, f.frame[f.from:f.to])
}

func (f *encodedForm) whole() []byte {
	if f == nil {
		return nil
	}
	return f.frame
}

// Whole returns the object as the body of an answer, whose bytes must not be modified.
func (e *Encoded) Whole(s *Source) (Body, error) {
	f, err := e.get(s)
	if err != nil {
		return Body{}, err
	}
	b := Body{Head: f.frame[f.from:f.to]}
	if s.View.format.MediaType == types.JSON {
		b.Tail = []byte("\n")
	}
	return b, nil
}

// Item returns the object as an item of a ListBody, which must not be modified; ok is false if it cannot be one.
func (e *Encoded) Item(s *Source) (item []byte, ok bool, err error) {
	f, err := e.get(s)
	if err != nil {
		return nil, false, err
	}
	return f.frame[f.itemFrom:f.itemTo], f.itemTo > 0, nil
}

// ListBody assembles a list from the items of a view whose form is not nil; ok is false if that is not possible.
func ListBody(v *View, items [][]byte, m metav1.ListMeta, now time.Time) (b Body, ok bool, err error) {
	list, err := List(v.resource, nil, m)
	if err != nil {
		return b, false, err
	}
	if _, untyped := list.(runtime.Unstructured); untyped && !v.resource.Custom {
		return b, false, nil // there are no lists of the kind
	}
	shown, err := v.Of(list, now)
	if err != nil {
		return b, false, err
	}
	empty, err := v.format.Encode(shown)
	if err != nil {
		return b, false, err
	}
	if len(items) == 0 {
		return Body{Head: empty}, true, nil
	}
	b.Items = items
	if v.format.MediaType == types.Protobuf {
		return b, b.aroundProtobuf(empty), nil
	}
	return b, b.aroundJSON(empty, itemKind(v) != ""), nil
}

// aroundJSON splits an encoded list without items. bare is set if the items lack their kind.
func (b *Body) aroundJSON(empty []byte, bare bool) bool {
	// Neither can occur in a string, where quotes are escaped.
	head, tail, ok := bytes.Cut(empty, []byte(`"items":[]`))
	if !ok {
		head, tail, ok = bytes.Cut(empty, []byte(`"items":null`))
	}
	b.Head, b.Between, b.Tail = append(head[:len(head):len(head)], `"items":[`...), []byte(","), append([]byte("]"), tail...)
	if bare {
		b.Head, b.Between = append(b.Head, '{'), []byte(",{")
	}
	return ok
}

// aroundProtobuf does the same to a list in protobuf, whose items are fields: their number is that of the field that holds the
// object when it is encoded alone.
func (b *Body) aroundProtobuf(empty []byte) bool {
	u, ok := parseUnknown(empty)
	if !ok {
		return false
	}
	size := u.rawEnd - u.raw
	for _, item := range b.Items {
		size += len(item)
	}
	b.Head = binary.AppendUvarint(append(empty[:u.rawTag:u.rawTag], empty[u.rawTag]), uint64(size))
	b.Head = append(b.Head, empty[u.raw:u.rawEnd]...)
	b.Tail = empty[u.rawEnd:]
	return true
}
