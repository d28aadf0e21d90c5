package recording

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// watchDocument is one event. Items, Kind and APIVersion are set in documents that are not events.
type watchDocument struct {
	Type       string          `json:"type"`
	Object     json.RawMessage `json:"object"`
	Items      json.RawMessage `json:"items"`
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
}

// readWatch reads the events of a watch.
func (im *importer) readWatch() error {
	for {
		c, more := im.in.next()
		if !more {
			return im.in.failure()
		}
		im.count++
		raw, at, err := im.in.read()
		if errors.Is(err, errTruncated) {
			if c != '{' {
				return wrong(at, im.count, watchHint, "this is not a watch event")
			}
			return im.truncated(at)
		}
		if err != nil {
			return err
		}
		ended, err := im.event(at, raw)
		if err != nil || ended {
			return err
		}
	}
}

// truncated handles a last event that is cut off.
func (im *importer) truncated(at place) error {
	document := im.count
	if im.opts.RefuseTruncated || document == 1 {
		return wrong(at, document, "record again, or remove the cut off end", "the recording is cut off inside the document")
	}
	im.count--
	im.warnings = append(im.warnings, fmt.Sprintf("The recording is cut off inside document %d, at %d:%d: that document is omitted.",
		document, at.pos.Line, at.pos.Column))
	return nil
}

// event handles one event and reports whether the recording ended with it.
func (im *importer) event(at place, raw []byte) (ended bool, err error) {
	var doc watchDocument
	if err := json.Unmarshal(raw, &doc); err != nil {
		return false, wrong(at, im.count, watchHint, "this is not a watch event")
	}
	switch doc.Type {
	case "ADDED", "MODIFIED", "DELETED":
		return false, im.change(at, doc)
	case "BOOKMARK":
		return false, im.bookmark(at, doc.Object)
	case "ERROR":
		return true, im.watchError(doc.Object)
	case "":
		hint := watchHint
		switch {
		case doc.Items != nil:
			hint = "this is a list: import it with --from list"
		case doc.Kind != "":
			hint = "record with --output-watch-events"
		}
		return false, wrong(at, im.count, hint, "this is not a watch event: it has no type")
	}
	return false, wrong(at, im.count, watchHint, "the event has the unknown type %s", shorten(doc.Type))
}

const watchHint = "record with kubectl get RESOURCE -A -o json --watch --output-watch-events"

func (im *importer) change(at place, doc watchDocument) error {
	o, err := readObject(at, im.count, doc.Object, schema.GroupVersionKind{})
	if err != nil {
		return err
	}
	h, err := im.history(o)
	if err != nil {
		return err
	}
	switch doc.Type {
	case "ADDED":
		h.added(o)
		return nil
	case "MODIFIED":
		return h.modified(o)
	}
	return h.removed(o)
}

// bookmark ends a run of ADDED events: it occurs between a list and the changes after it, or among changes.
func (im *importer) bookmark(at place, raw []byte) error {
	im.marks++
	head, err := readHeader(at, im.count, raw)
	if err != nil {
		return err
	}
	kind := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	if h := im.kinds[kind]; h != nil {
		return h.endRun(head.Metadata.Annotations[initialEventsEnd] == "true")
	}
	return nil
}

// watchError ends the recording: the server sends nothing after an error (S13).
func (im *importer) watchError(raw []byte) error {
	var status struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
		Code    int    `json:"code"`
	}
	if err := json.Unmarshal(raw, &status); err != nil {
		status.Message = "without a readable status"
	}
	im.warnings = append(im.warnings, fmt.Sprintf("The recording ends with an ERROR event at document %d: code %d, reason %s, message %s.",
		im.count, status.Code, shorten(status.Reason), shorten(status.Message)))
	if _, more := im.in.next(); more {
		at := im.in.place()
		im.warnings = append(im.warnings, fmt.Sprintf("Everything after the ERROR event, from %d:%d on, is not imported.", at.pos.Line, at.pos.Column))
	}
	return im.in.failure()
}
