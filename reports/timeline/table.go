package timeline

// A Table says of each version of an object when it got where.
type Table struct {
	Object  *Object
	Columns []Part // where a version can get
	Rows    []Row  // one for each version
}

// A Row is a version, with a cell for each column.
type Row struct {
	*Version
	Cells []Cell
}

// A Cell says whether a version got somewhere. Stage is nil if it did not.
type Cell struct {
	Stage *Stage
	// Skipped: a newer version came there in its place. Unknown: it is a deletion of what that place never had.
	Skipped, Unknown bool
}

// Table returns the table of an object: replicas, and what belongs to clients that watch or list its resource.
func (t *Timeline) Table(o *Object) *Table {
	x := &Table{Object: o}
	kinds := map[Role]PartKind{RoleReplica: PartApplied, RoleConn: PartDelivered, RoleIndexer: PartIndexer, RoleHandler: PartTold}
	for n, l := range t.Lanes {
		if kind, ok := kinds[l.Role]; ok && (l.Role == RoleReplica || t.Wants(l.Owner, o)) {
			x.Columns = append(x.Columns, Part{n, kind})
		}
	}
	for i := range o.Versions {
		r := Row{Version: &o.Versions[i]}
		for _, p := range x.Columns {
			r.Cells = append(r.Cells, o.cell(i, p))
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}

func (o *Object) cell(i int, p Part) Cell {
	v := &o.Versions[i]
	if s := v.Stage(p.Lane, p.Kind); s != nil {
		return Cell{Stage: s}
	}
	for n := i + 1; n < len(o.Versions); n++ {
		if o.Versions[n].Stage(p.Lane, p.Kind) != nil {
			return Cell{Skipped: true}
		}
	}
	if !v.Deleted() {
		return Cell{}
	}
	for n := range i {
		if o.Versions[n].Stage(p.Lane, p.Kind) != nil {
			return Cell{}
		}
	}
	return Cell{Unknown: true}
}
