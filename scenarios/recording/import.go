package recording

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/scenarios/script"
)

// ImportFile imports a recording from a file and sets opts.Name to its path. See Import.
func ImportFile(path string, opts Options) (*Result, error) {
	opts.Name = path
	at := script.Pos{File: path}
	file, err := os.Open(path)
	if err != nil {
		var inner *fs.PathError
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, script.Errorf(at, script.MissingHint(path), "the recording cannot be opened: %v", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		return nil, script.Errorf(at, "name a recording in it", "it is a directory")
	}
	if err == nil && info.Size() > MaxInputSize {
		return nil, script.Errorf(at, recordLess,
			"it is %s; recordings are limited to %s", script.FormatSize(info.Size()), script.FormatSize(MaxInputSize))
	}
	return Import(file, opts)
}

// Import reads a recording and returns it as a script. Bad input is refused with a *script.Error that has its position in
// the recording; only a truncated last event or an ERROR event at the end of a watch is a mere warning.
func Import(in io.Reader, opts Options) (*Result, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	im := &importer{opts: opts, in: newStream(opts.Name, in), kinds: map[schema.GroupVersionKind]*history{}, plurals: map[string]string{}}
	if err := im.in.skipByteOrderMark(); err != nil {
		return nil, err
	}
	read := im.readWatch
	switch opts.Format {
	case List:
		read = im.readList
	case Audit:
		read = im.readAudit
	}
	if err := read(); err != nil {
		return nil, err
	}
	for _, h := range im.order {
		if err := h.endRun(false); err != nil {
			return nil, err
		}
	}
	return im.result()
}

func (o Options) check() error {
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return err
	}
	if o.RedactAll && o.KeepSecrets {
		return script.Errorf(script.Pos{}, "leave out one of them", "all values are to be redacted, and those of Secrets to be kept")
	}
	for _, kind := range slices.Sorted(maps.Keys(o.Plurals)) {
		plural := o.Plurals[kind]
		if !pluralName.MatchString(plural) {
			return script.Errorf(script.Pos{}, "resource names are lower case letters, digits and -", "%q is not a valid plural of %s", plural, kind)
		}
	}
	return nil
}

type importer struct {
	opts     Options
	in       *stream
	kinds    map[schema.GroupVersionKind]*history
	order    []*history        // in the order of their first objects
	plurals  map[string]string // of kinds, where the recording says them
	count    int               // documents
	bytes    int64             // size of the objects
	redacted int
	marks    int // bookmarks
	suspects suspects
	warnings []string
}

// history returns the history of an object's kind, and redacts the object.
func (im *importer) history(o *object) (*history, error) {
	h := im.kinds[o.gvk]
	if h == nil {
		h = newHistory(o.gvk, im.opts.WatchOnly, &im.bytes)
		h.namespaced = o.scoped
		im.kinds[o.gvk] = h
		im.order = append(im.order, h)
	}
	if h.namespaced != o.scoped {
		return nil, wrong(o.place, o.document, "a kind is either namespaced or not", "%s %s differs from earlier objects of its kind in having a namespace or not",
			o.gvk.Kind, shorten(o.key))
	}
	if err := im.redact(o); err != nil {
		return nil, wrong(o.place, o.document, jsonHint, "%v", err)
	}
	im.bytes += int64(len(o.raw))
	if im.bytes > script.MaxFileSize {
		return nil, im.tooMuch(o.place, o.document)
	}
	return h, nil
}

// redact removes from an object what the options do not keep, and looks for secrets in the rest.
func (im *importer) redact(o *object) (err error) {
	if !im.opts.KeepManagedFields {
		if o.raw, err = dropManagedFields(o.raw); err != nil {
			return err
		}
	}
	secret := isSecret(o.gvk) && !im.opts.KeepSecrets
	if secret {
		if o.raw, err = redactSecret(o.raw); err != nil {
			return err
		}
	}
	if im.opts.RedactAll {
		o.raw, err = redactAll(o.raw, o.gvk, im.opts.KeepFields)
	} else {
		err = im.suspects.look(o)
	}
	if secret || im.opts.RedactAll {
		im.redacted++
	}
	return err
}

const recordLess = "record less: one namespace (-n), a selector (-l), a shorter time"

func (im *importer) tooMuch(at place, document int) error {
	return wrong(at, document, recordLess, "the scenario would exceed %s, the limit of scripts", script.FormatSize(script.MaxFileSize))
}
