package html

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
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
	By    string // the reconcile that wrote it, "" if that is not known
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
	of := t.Table(o)
	for _, c := range of.Columns {
		x.Columns = append(x.Columns, titleOf(t, c))
	}
	first := max(0, len(of.Rows)-maxVersions)
	if first > 0 {
		x.Fewer = fmt.Sprintf("the last %d of %d versions", maxVersions, len(of.Rows))
	}
	for _, v := range of.Rows[first:] {
		r := row{RV: v.RV, What: v.What, N: v.Step, At: clock(v.At)}
		if q := v.Request; q != nil {
			r.By = "by " + q.By.Worker + ", for " + q.By.Key
		}
		for _, c := range v.Cells {
			r.Cells = append(r.Cells, cellOf(v.Version, c))
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}

func titleOf(t *timeline.Timeline, p timeline.Part) string {
	name := t.Lanes[p.Lane].Name
	switch p.Kind {
	case timeline.PartDelivered:
		return name + " was sent it"
	case timeline.PartIndexer:
		return "in " + name
	case timeline.PartTold:
		return name + " was told"
	}
	return name
}

func cellOf(v *timeline.Version, c timeline.Cell) cell {
	switch {
	case c.Skipped:
		return cell{Text: "skipped", Class: "passed"}
	case c.Unknown:
		return cell{Text: "never had it", Class: "passed"}
	case c.Stage == nil:
		return cell{Text: "never", Class: "never"}
	}
	x := cell{N: c.Stage.Step, Class: "ok"}
	if lag := c.Stage.At - v.At; lag > 0 {
		x.Text = "+" + short(lag)
	}
	if c.Stage.How != "" {
		x.Class, x.Text = "list", strings.TrimSpace(c.Stage.How+" "+x.Text)
	}
	return x
}

func short(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	}
	return reports.Rounded(d)
}
