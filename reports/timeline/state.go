package timeline

// An Item is an item of a part at some step.
type Item struct {
	Key  string
	RV   int64
	Note string
	Step uint64 // that made it what it is
}

// State returns the items of each part after a step (0 for the beginning), those that came first first.
func (t *Timeline) State(after uint64) [][]Item {
	parts := make([]map[string]int, len(t.Parts)) // by key, the place in items
	items := make([][]Item, len(t.Parts))
	for i := range t.Steps {
		if uint64(i) >= after {
			break
		}
		for _, f := range t.Steps[i].Effects {
			if parts[f.Part] == nil {
				parts[f.Part] = map[string]int{}
			}
			n, ok := parts[f.Part][f.Key]
			x := Item{Key: f.Key, RV: f.RV, Note: f.Note, Step: uint64(i + 1)}
			switch {
			case f.Gone && ok:
				items[f.Part][n].Step = 0 // removed below: that keeps the order
				delete(parts[f.Part], f.Key)
			case f.Gone:
			case ok:
				items[f.Part][n] = x
			default:
				parts[f.Part][f.Key] = len(items[f.Part])
				items[f.Part] = append(items[f.Part], x)
			}
		}
	}
	for n, all := range items {
		var there []Item
		for _, x := range all {
			if x.Step > 0 {
				there = append(there, x)
			}
		}
		items[n] = there
	}
	return items
}
