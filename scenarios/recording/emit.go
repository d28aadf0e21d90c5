package recording

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/script"
)

// result builds the script.
func (im *importer) result() (*Result, error) {
	if len(im.order) == 0 {
		what, fix := "recording", "record a resource that has objects"
		if im.opts.Format == Audit {
			what, fix = "log", "the level RequestResponse writes them down; docs/scenarios.md has a policy"
		}
		return nil, script.Errorf(script.Pos{File: im.opts.Name}, fix, "the %s has no objects", what)
	}
	for i, h := range im.order {
		if err := im.name(h, i); err != nil {
			return nil, err
		}
	}
	changes, err := merge(im.order)
	if err != nil {
		return nil, err
	}
	if len(changes) == 0 {
		return nil, script.Errorf(script.Pos{File: im.opts.Name}, "begin to record before the deletions", "the recording has nothing but deletions of objects that it never shows")
	}
	r := &Result{Documents: im.count, Bookmarks: im.marks, Redacted: im.redacted}
	for _, h := range im.order {
		r.Kinds = append(r.Kinds, Kind{Resource: h.fullName(), Kind: h.gvk.Kind, Namespaced: h.namespaced, Informer: h.informer})
	}
	for _, c := range changes {
		switch c.verb {
		case "create":
			r.Creates++
		case "update":
			r.Updates++
		case "delete":
			r.Deletes++
		}
	}
	im.guesses(changes)
	im.warnings = append(im.warnings, im.suspects.warnings()...)
	r.Warnings = im.warnings

	e := &emitter{im: im}
	if err := e.emit(r, changes); err != nil {
		return nil, err
	}
	printed := script.Print(&e.file)
	if len(printed) > script.MaxFileSize {
		return nil, script.Errorf(script.Pos{File: im.opts.Name}, recordLess, "the scenario would be %s, over %s",
			script.FormatSize(int64(len(printed))), script.FormatSize(script.MaxFileSize))
	}
	r.File, err = script.Parse(strings.TrimSuffix(im.base(), filepath.Ext(im.base()))+".sim", printed)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// name assigns a kind its resource name and informer.
func (im *importer) name(h *history, i int) error {
	resource, _ := meta.UnsafeGuessKindToResource(h.gvk)
	h.plural = cmp.Or(im.plurals[h.gvk.GroupKind().String()], resource.Resource)
	for _, kind := range []string{h.gvk.Kind, h.gvk.GroupKind().String()} {
		if plural := im.opts.Plurals[kind]; plural != "" {
			h.plural = plural
		}
	}
	h.short, h.informer = h.plural, "i"+strconv.Itoa(i+1)
	for _, other := range im.order[:i] {
		if other.plural != h.plural {
			continue
		}
		if other.gvk.Group == h.gvk.Group {
			return script.Errorf(script.Pos{File: im.opts.Name}, "record one of them, or give them different plurals",
				"the recording has %s in %s and in %s", h.plural, other.gvk.GroupVersion(), h.gvk.GroupVersion())
		}
		other.short, h.short = other.groupResource(), h.groupResource()
	}
	return nil
}

// groupResource returns the resource name qualified by its group.
func (h *history) groupResource() string {
	if h.gvk.Group == "" {
		return h.plural
	}
	return h.plural + "." + h.gvk.Group
}

func (h *history) fullName() string { return h.groupResource() + "/" + h.gvk.Version }

// guesses adds warnings about gaps in the recording.
func (im *importer) guesses(changes []*change) {
	guessed := 0
	for _, c := range changes {
		if c.guessed {
			guessed++
		}
	}
	if guessed > 0 {
		im.warnings = append(im.warnings, fmt.Sprintf("The recording has gaps: the revisions and last states of %s are guessed and marked below.", reports.Counted(guessed, "deletion")))
	}
	for _, h := range im.order {
		if h.relists > 0 {
			im.warnings = append(im.warnings, fmt.Sprintf("The recording of %s was restarted %s; changes in between are replayed as its lists show them.",
				h.plural, reports.Counted(h.relists, "time")))
		}
		if h.neverSeen > 0 {
			im.warnings = append(im.warnings, fmt.Sprintf("Omitted: %s of %s that were never seen.", reports.Counted(h.neverSeen, "deletion"), h.plural))
		}
	}
}

// base returns the recording's name without its directory.
func (im *importer) base() string {
	if im.opts.Name == "" {
		return "recording"
	}
	return filepath.Base(im.opts.Name)
}

// emitter builds the script.
type emitter struct {
	im      *importer
	file    script.File
	started map[*history]bool
	title   string // of the last section
}

func (e *emitter) emit(r *Result, changes []*change) error {
	e.started = map[*history]bool{}
	e.header(r, changes)
	e.blank()
	for _, h := range e.im.order {
		scope := "cluster"
		if h.namespaced {
			scope = "namespaced"
		}
		e.command("resource", word(h.fullName()), pair("kind", h.gvk.Kind), pair("scope", scope))
	}
	for _, c := range changes {
		title := "The initial state, in the order of its revisions."
		if !c.initial {
			e.start(c.kind, true)
			title = "What changed."
		}
		e.section(title)
		if err := e.change(c); err != nil {
			return err
		}
	}
	for _, h := range e.im.order {
		e.start(h, false)
	}
	e.section("The end.")
	e.command("settle")
	for _, h := range e.im.order {
		e.command("expect", word(h.informer), word("converged"))
	}
	return nil
}

func (e *emitter) header(r *Result, changes []*change) {
	what := "watch events"
	switch e.im.opts.Format {
	case List:
		what = "listed objects"
	case Audit:
		what = "audit events"
	}
	bookmarks := ""
	if r.Bookmarks > 0 {
		bookmarks = fmt.Sprintf(", of which bookmarks: %d", r.Bookmarks)
	}
	e.prose("Imported from %s: %d %s%s.", e.im.base(), r.Documents, what, bookmarks)
	e.prose("%d creates, %d updates, %d deletes; revisions %d to %d.", r.Creates, r.Updates, r.Deletes, changes[0].rv, changes[len(changes)-1].rv)
	switch {
	case e.im.opts.RedactAll:
		e.prose("Every string that no selector needs is replaced by a hash.")
	case r.Redacted > 0:
		e.prose("The values of Secrets are redacted.")
	}
	for _, w := range r.Warnings {
		e.prose("%s", w)
	}
}

// start starts a kind's informer on its initial state, once. Settling before the first change makes the initial state the
// informer's first list; otherwise the list could come after the changes and hide them.
func (e *emitter) start(h *history, settle bool) {
	if e.started[h] {
		return
	}
	e.started[h] = true
	e.section("The informer lists the initial state of " + h.short + ".")
	e.command("informer", word(h.informer), word(h.short), pair("handlers", "h"+strings.TrimPrefix(h.informer, "i")))
	if settle {
		e.command("settle")
	}
}

func (e *emitter) change(c *change) error {
	raw := c.object.raw
	if c.guessed {
		e.prose("Deleted unseen: the revision is a guess, the object as last seen.")
		var err error
		if raw, err = setRevision(raw, c.rv); err != nil {
			return wrong(c.object.place, c.object.document, jsonHint, "%v", err)
		}
	}
	cmd := e.command(c.verb, word(c.kind.short), word(c.object.key), pair("rv", strconv.FormatInt(c.rv, 10)))
	cmd.Payload = raw
	return nil
}

// section starts a titled paragraph, unless the current one has the same title.
func (e *emitter) section(title string) {
	if e.title == title {
		return
	}
	e.title = title
	e.blank()
	e.prose("%s", title)
}

func (e *emitter) prose(format string, args ...any) {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(fmt.Sprintf(format, args...), "?")), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?' // the name of the recording may hold anything
	}, text)
	e.file.Nodes = append(e.file.Nodes, &script.Comment{Text: " " + text})
}

func (e *emitter) blank() { e.file.Nodes = append(e.file.Nodes, &script.Blank{}) }

func (e *emitter) command(name string, args ...script.Arg) *script.Command {
	c := &script.Command{Name: name, Args: args}
	e.file.Nodes = append(e.file.Nodes, c)
	return c
}

func word(value string) script.Arg { return script.Arg{Value: value} }

func pair(key, value string) script.Arg { return script.Arg{Key: key, Value: value} }
