package html

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports/timeline"
)

// table shows what became of the versions of an object.
type table struct {
	Key     string
	Columns []string
	Rows    []row
	Fewer   string
}

// row is a version.
type row struct {
	RV    int64
	What  string
	N     uint64
	At    string
	By    string
	Cells []cell
}

// cell says when a version got somewhere.
type cell struct {
	N     uint64 // the step; 0 if it never did
	Text  string
	Class string // ok, list, never, passed
}

// The most objects that have a table, and the most versions in one.
const (
	maxTables   = 6
	maxVersions = 14
)

// column is where a version can get.
type column struct {
	lane  int
	kind  timeline.PartKind
	title string
}

func columns(t *timeline.Timeline, o *timeline.Object) []column {
	var all []column
	for n, l := range t.Lanes {
		switch l.Role {
		case timeline.RoleReplica:
			all = append(all, column{n, timeline.PartApplied, l.Name})
		case timeline.RoleConn:
			all = append(all, column{n, timeline.PartDelivered, l.Name + " was sent it"})
		case timeline.RoleIndexer:
			all = append(all, column{n, timeline.PartIndexer, "in " + l.Name})
		case timeline.RoleHandler:
			all = append(all, column{n, timeline.PartTold, l.Name + " was told"})
		}
	}
	wanted := all[:0]
	for _, c := range all {
		if owner := t.Lanes[c.lane].Owner; c.kind == timeline.PartApplied || t.Wants(owner, o) {
			wanted = append(wanted, c)
		}
	}
	return wanted
}

func (p *page) tables(t *timeline.Timeline, tight bool) {
	all := t.Involved()
	most := maxTables
	if tight {
		most = 2
	}
	if n := len(all); n > most {
		all = all[:most]
		p.Fewer = fmt.Sprintf("%d of %d objects: those written last.", most, n)
		if t.Named() {
			p.Fewer = fmt.Sprintf("%d of the %d objects that the verdict is about: those written last.", most, n)
		}
	}
	for _, o := range all {
		p.Objects = append(p.Objects, tableOf(t, o))
	}
}

func tableOf(t *timeline.Timeline, o *timeline.Object) table {
	x := table{Key: o.Key}
	all := columns(t, o)
	for _, c := range all {
		x.Columns = append(x.Columns, c.title)
	}
	first := max(0, len(o.Versions)-maxVersions)
	if first > 0 {
		x.Fewer = fmt.Sprintf("the last %d of %d versions", maxVersions, len(o.Versions))
	}
	for i := first; i < len(o.Versions); i++ {
		v := &o.Versions[i]
		r := row{RV: v.RV, What: v.What, N: v.Step, At: clock(v.At), By: v.By}
		for _, c := range all {
			r.Cells = append(r.Cells, cellOf(o, i, c))
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}

func cellOf(o *timeline.Object, i int, c column) cell {
	v := &o.Versions[i]
	if s := v.Stage(c.lane, c.kind); s != nil {
		x := cell{N: s.Step, Class: "ok"}
		if lag := s.At - v.At; lag > 0 {
			x.Text = "+" + short(lag)
		}
		if s.How != "" {
			x.Class, x.Text = "list", strings.TrimSpace(s.How+" "+x.Text)
		}
		return x
	}
	for n := i + 1; n < len(o.Versions); n++ {
		if o.Versions[n].Stage(c.lane, c.kind) != nil {
			return cell{Text: "skipped", Class: "passed"}
		}
	}
	if v.Deleted() && !had(o, i, c) {
		return cell{Text: "never had it", Class: "passed"}
	}
	return cell{Text: "never", Class: "never"}
}

// had reports whether a version before i got to a column.
func had(o *timeline.Object, i int, c column) bool {
	for n := range i {
		if o.Versions[n].Stage(c.lane, c.kind) != nil {
			return true
		}
	}
	return false
}

func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}
