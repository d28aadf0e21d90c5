package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Merge joins the shards in folders to a campaign in the folder out, which must be empty or absent. Shards that are missing are none
// of its errors: see [Campaign.Missing].
func Merge(ctx context.Context, dirs []string, out string) (sum *Campaign, err error) {
	if len(dirs) == 0 {
		return nil, errors.New("there is no shard to merge")
	}
	parts := make([]*Campaign, len(dirs))
	from := map[uint64]string{} // by shard
	for n, dir := range dirs {
		c, err := Load(dir)
		if err != nil {
			return nil, err
		}
		if c.Merged {
			return nil, fmt.Errorf("%s holds shards that are merged already; name the folders of all shards together", dir)
		}
		index := c.Shards[0].Index
		if other := from[index]; other != "" {
			return nil, fmt.Errorf("%s and %s both hold shard %d of %d; leave one of them out", other, dir, index, c.Asked.Shards)
		}
		if n > 0 {
			if what := c.Asked.differs(&parts[0].Asked); what != "" {
				return nil, fmt.Errorf("%s was made with %s, as %s was; only shards of one campaign can be merged", dir, what, dirs[0])
			}
		}
		parts[n], from[index] = c, dir
	}
	folder, err := Begin(out)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil { // out was empty, and is again, so that the command can be repeated
			err = errors.Join(err, os.RemoveAll(filepath.Join(out, findings)))
		}
	}()
	all := &Campaign{Version: Version, Asked: parts[0].Asked, Merged: true, Barren: map[string]int{}}
	source := map[*Finding]*Folder{} // where the files of a finding are
	for n, c := range parts {
		all.take(c, func(f *Finding) { source[f] = &Folder{dirs[n]} })
	}
	all.sort()
	for _, f := range all.Findings {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		files, err := source[f].filesOf(f)
		if err == nil {
			err = folder.Keep(f, files)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, folder.Save(ctx, all)
}

// take adds a shard's results. chosen is called with the finding that stands for its like from then on, if that changes.
func (c *Campaign) take(part *Campaign, chosen func(*Finding)) {
	c.Shards = append(c.Shards, part.Shards...)
	c.Undecided = append(c.Undecided, part.Undecided...)
	if len(c.Properties) == 0 {
		c.Properties = part.Properties
	}
	for _, f := range part.Findings {
		at := slices.IndexFunc(c.Findings, func(x *Finding) bool { return x.Name == f.Name })
		if at < 0 {
			c.Findings = append(c.Findings, f)
			chosen(f)
			continue
		}
		best, other := c.Findings[at], f
		if f.Seed < best.Seed {
			best, other = f, best
			c.Findings[at] = f
			chosen(f)
		}
		best.join(other)
	}
}

// sort puts everything in the order of shards and seeds.
func (c *Campaign) sort() {
	slices.SortFunc(c.Shards, func(a, b *Shard) int { return cmp.Compare(a.Index, b.Index) })
	slices.SortFunc(c.Findings, func(a, b *Finding) int { return cmp.Compare(a.Seed, b.Seed) })
	slices.SortFunc(c.Undecided, func(a, b Undecided) int { return cmp.Compare(a.Seed, b.Seed) })
}
