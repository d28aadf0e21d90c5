package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/scenarios/script"
)

// listDocument is a list without its items.
type listDocument struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Type       string          `json:"type"`
	Object     json.RawMessage `json:"object"`
	Metadata   struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
}

// listItem is an item whose kind is known only after the whole list has been read.
type listItem struct {
	place
	document int
	raw      []byte
}

// readList reads lists and single objects. It streams each list: the raw items are never all in memory.
func (im *importer) readList() error {
	for {
		c, more := im.in.next()
		if !more {
			return im.in.failure()
		}
		start := im.in.place()
		if c != '{' {
			if _, _, err := im.in.read(); err != nil && !errors.Is(err, errTruncated) {
				return err
			}
			return script.Errorf(start.pos, listHint, "this is neither a list nor an object")
		}
		err := im.list(start)
		if errors.Is(err, errTruncated) {
			err = script.Errorf(im.in.place().pos, "record it again", "the list is cut off")
		}
		if err != nil {
			return err
		}
	}
}

const listHint = "record with kubectl get RESOURCE -A -o json"

// list reads one list or single object, starting with the next byte.
func (im *importer) list(start place) error {
	rest := []byte{'{'} // the document without its items
	isList := false
	var later []listItem
	err := im.members('{', '}', func() error {
		key, err := im.memberKey()
		if err != nil {
			return err
		}
		if c, _ := im.in.next(); string(key) == `"items"` && c == '[' && !isList {
			isList = true
			later, err = im.items(itemKind(append(bytes.Clone(rest), '}')))
			return err
		}
		value, _, err := im.in.read()
		if err != nil {
			return err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, key...), ':'), value...)
		if len(rest) > maxDocumentSize {
			return script.Errorf(start.pos, listHint, "the document exceeds %s", script.FormatSize(maxDocumentSize))
		}
		return nil
	})
	if err != nil {
		return err
	}
	rest = append(rest, '}')
	var doc listDocument
	if err := json.Unmarshal(rest, &doc); err != nil {
		return script.Errorf(start.pos, listHint, "this is neither a list nor an object: %v", err)
	}
	if !isList {
		return im.single(start, doc, rest)
	}
	if doc.Metadata.Continue != "" {
		im.warnings = append(im.warnings, "The list is one page of a longer one: the rest is missing.")
	}
	kind := itemKind(rest)
	for _, item := range later {
		if err := im.item(item.place, item.document, item.raw, kind); err != nil {
			return err
		}
	}
	return nil
}

// itemKind returns the kind of the items of a typed list, or an empty one if the fields around them do not tell.
func itemKind(around []byte) schema.GroupVersionKind {
	var doc listDocument
	if err := json.Unmarshal(around, &doc); err != nil {
		return schema.GroupVersionKind{}
	}
	kind := strings.TrimSuffix(doc.Kind, "List")
	gvk := schema.FromAPIVersionAndKind(doc.APIVersion, kind)
	if _, err := readKind(place{}, 0, header{APIVersion: doc.APIVersion, Kind: kind}); err != nil || kind == doc.Kind {
		return schema.GroupVersionKind{}
	}
	return gvk
}

// single handles a document that has no items.
func (im *importer) single(start place, doc listDocument, raw []byte) error {
	switch {
	case doc.Type != "" && doc.Object != nil:
		return script.Errorf(start.pos, "import it with --from watch-events", "this is a watch event, not a list")
	case doc.Kind == "Table" || doc.Kind == "Status":
		return script.Errorf(start.pos, listHint, "this is a %s, not a list", doc.Kind)
	case strings.HasSuffix(doc.Kind, "List"):
		return nil // its items are null, as in an empty list
	}
	im.count++
	return im.item(start, im.count, raw, schema.GroupVersionKind{})
}

// items reads the items of a list. If kind is empty, it returns the items that have no kind of their own.
func (im *importer) items(kind schema.GroupVersionKind) (later []listItem, err error) {
	err = im.members('[', ']', func() error {
		raw, at, err := im.in.read()
		if err != nil {
			return err
		}
		im.count++
		head, err := readHeader(at, im.count, raw)
		if err != nil {
			return err
		}
		if head.Kind != "" || head.APIVersion != "" || !kind.Empty() {
			return im.item(at, im.count, raw, kind)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			return wrong(at, im.count, jsonHint, "%v", err)
		}
		im.bytes += int64(compact.Len())
		if im.bytes > script.MaxFileSize {
			return im.tooMuch(at, im.count)
		}
		later = append(later, listItem{place: at, document: im.count, raw: compact.Bytes()})
		return nil
	})
	for _, item := range later {
		im.bytes -= int64(len(item.raw))
	}
	return later, err
}

// item handles one listed object.
func (im *importer) item(at place, document int, raw []byte, kind schema.GroupVersionKind) error {
	o, err := readObject(at, document, raw, kind)
	if err != nil {
		return err
	}
	h, err := im.history(o)
	if err != nil {
		return err
	}
	if h.known[o.key] != nil {
		return wrong(at, document, "import one list of each kind", "%s %s is listed twice", o.gvk.Kind, shorten(o.key))
	}
	h.listed = true
	h.list([]*object{o})
	return nil
}

// members reads comma-separated members between two brackets; it calls read at the first byte of each.
func (im *importer) members(open, end byte, read func() error) error {
	if err := im.expect(open); err != nil {
		return err
	}
	if c, _ := im.in.next(); c == end {
		return im.expect(end)
	}
	for {
		if _, more := im.in.next(); !more {
			return im.ended()
		}
		if err := read(); err != nil {
			return err
		}
		if c, _ := im.in.next(); c == end {
			return im.expect(end)
		}
		if err := im.expect(','); err != nil {
			return err
		}
	}
}

// memberKey reads a key and its colon, and returns the key verbatim.
func (im *importer) memberKey() ([]byte, error) {
	if c, _ := im.in.next(); c != '"' {
		return nil, im.expect('"')
	}
	key, _, err := im.in.read()
	if err != nil {
		return nil, err
	}
	key = bytes.Clone(key)
	if err := im.expect(':'); err != nil {
		return nil, err
	}
	if _, more := im.in.next(); !more {
		return nil, im.ended()
	}
	return key, nil
}

// expect consumes the byte want or returns an error.
func (im *importer) expect(want byte) error {
	c, more := im.in.next()
	if !more {
		return im.ended()
	}
	if c != want {
		return script.Errorf(im.in.place().pos, jsonHint, "not valid JSON: found %s, want %q", fmt.Sprintf("%q", rune(c)), want)
	}
	im.in.i++
	return nil
}

// ended returns the error for input that ends too early.
func (im *importer) ended() error {
	if err := im.in.failure(); err != nil {
		return err
	}
	return errTruncated
}
