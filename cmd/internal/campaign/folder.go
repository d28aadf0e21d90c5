package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/internal/outfile"
)

// The names in a campaign's folder, and the file that a finding's folder is known by.
const (
	file        = "campaign.json"
	findings    = "findings"
	findingFile = "finding.json"
)

// Folder is where a campaign is kept.
type Folder struct{ dir string }

// Begin makes the folder of a new campaign. An existing one must be empty.
func Begin(dir string) (*Folder, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("--out: %s is not empty; name a folder that is, or that is yet to be made", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("--out: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return &Folder{dir}, nil
}

// ErrNone means that a folder has no campaign.
var ErrNone = errors.New("there is no campaign in it")

// Load reads the campaign in a folder. The error wraps ErrNone if there is none.
func Load(dir string) (*Campaign, error) {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: there is no such folder, so %w; check the path", dir, ErrNone)
		}
		return nil, fmt.Errorf("%s: %w: informersim fuzz --out has not written %s", dir, ErrNone, file)
	}
	if err != nil {
		return nil, err
	}
	var c Campaign
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s: it is not readable as the state of a campaign: %w; name another folder. What was found is still in %s", filepath.Join(dir, file), err, filepath.Join(dir, findings))
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
	}
	return &c, nil
}

// check refuses what this program did not write.
func (c *Campaign) check() error {
	switch {
	case c.Version == 0:
		return errors.New("it is not the state of a campaign")
	case c.Version != Version:
		return fmt.Errorf("it has the format %d, and this program reads %d", c.Version, Version)
	case c.Asked.Shards == 0 || c.Asked.Last < c.Asked.First || len(c.Shards) == 0:
		return errors.New("it lacks what was asked for")
	}
	for _, s := range c.Shards {
		if s == nil || s.Index == 0 || s.Index > c.Asked.Shards || s.Done > c.Asked.Runs(s.Index) {
			return errors.New("it has a shard that cannot be")
		}
	}
	for _, f := range c.Findings {
		if f == nil || f.Name == "" || f.Name != filepath.Base(f.Name) || strings.HasPrefix(f.Name, ".") {
			return errors.New("it has a finding without a proper name")
		}
	}
	if c.Barren == nil {
		c.Barren = map[string]int{}
	}
	return nil
}

// Resume returns the campaign in a folder, to go on with it. It must have been asked the same, of the same shard. An absent or empty
// folder has nothing to go on with: c is nil, and the folder is as after Begin.
func Resume(dir string, asked Asked, shard uint64) (*Folder, *Campaign, error) {
	c, err := Load(dir)
	if errors.Is(err, ErrNone) {
		f, err := Begin(dir)
		return f, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	switch what := c.Asked.differs(&asked); {
	case c.Merged:
		return nil, nil, fmt.Errorf("--resume: %s holds merged shards; go on with the folder of a shard", dir)
	case what != "":
		return nil, nil, fmt.Errorf("--resume: %s was made with %s; resume it with what it was begun with, or name another --out", dir, what)
	case c.Shards[0].Index != shard:
		return nil, nil, fmt.Errorf("--resume: %s holds shard %d of %d, not shard %d", dir, c.Shards[0].Index, c.Asked.Shards, shard)
	}
	c.Shards[0].Ended = ""
	f := &Folder{dir}
	f.sweep()
	return f, c, f.forgetCut(c)
}

// settled is how old something is that nobody is writing any more: a pod that is evicted may still write when its successor begins.
const settled = time.Minute

// sweep removes what a program that was killed has left beside what it was writing. What cannot be removed does no harm.
func (f *Folder) sweep() {
	for _, dir := range []string{f.dir, filepath.Join(f.dir, findings)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), outfile.Hidden) && time.Since(info.ModTime()) > settled {
				_ = os.RemoveAll(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// forgetCut removes the finding of which the search was interrupted.
func (f *Folder) forgetCut(c *Campaign) error {
	var failed error
	c.Findings = slices.DeleteFunc(c.Findings, func(x *Finding) bool {
		if !x.Cut {
			return false
		}
		failed = errors.Join(failed, os.RemoveAll(f.FindingPath(x)))
		return true
	})
	return failed
}

// Holds reports whether a folder has a campaign.
func Holds(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, file))
	return err == nil
}

// Save writes how far the campaign has come. The file is the old or the new one, whatever happens.
func (f *Folder) Save(ctx context.Context, c *Campaign) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return outfile.Target{Path: filepath.Join(f.dir, file), Flag: "--out"}.Write(ctx, append(data, '\n'))
}

// FindingPath is the folder of a finding.
func (f *Folder) FindingPath(x *Finding) string { return PathIn(f.dir, x) }

// PathIn returns the folder of a finding in that of a campaign.
func PathIn(dir string, x *Finding) string { return filepath.Join(dir, findings, x.Name) }

// Keep writes a finding and its files, by path within its folder. An earlier one of that name is replaced.
func (f *Folder) Keep(x *Finding, files map[string][]byte) error {
	return keep(filepath.Join(f.dir, findings), x, files)
}

// Recount writes anew what the files of findings say of their seeds, since later ones may have them, too.
func (f *Folder) Recount(c *Campaign) error { return recount(filepath.Join(f.dir, findings), c) }

func recount(dir string, c *Campaign) error {
	var failed error
	for _, x := range c.Findings {
		name := filepath.Join(dir, x.Name, findingFile)
		if _, err := os.Stat(name); err != nil {
			continue // it was not kept, which has been reported
		}
		meta, err := json.MarshalIndent(x, "", "  ")
		if err == nil {
			err = write(name+".new", append(meta, '\n'))
		}
		if err == nil {
			err = os.Rename(name+".new", name)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Loose is a folder with findings of no campaign.
type Loose string

// FindingPath is the folder of a finding.
func (l Loose) FindingPath(x *Finding) string { return filepath.Join(string(l), x.Name) }

// Keep writes a finding and its files, by path within its folder. An earlier one of that name is replaced.
func (l Loose) Keep(x *Finding, files map[string][]byte) error { return keep(string(l), x, files) }

// Recount is that of [Folder].
func (l Loose) Recount(c *Campaign) error { return recount(string(l), c) }

// keep writes the folder of a finding beside its place and renames it: it is complete or not there.
func keep(dir string, x *Finding, files map[string][]byte) (err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	at := filepath.Join(dir, x.Name)
	if _, err := os.Lstat(at); err == nil {
		if _, err := os.Stat(filepath.Join(at, findingFile)); err != nil {
			return fmt.Errorf("%s is there and not a finding's folder; move it away", at)
		}
	}
	beside, err := os.MkdirTemp(dir, outfile.Hidden)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(beside)
		}
	}()
	if err := os.Chmod(beside, 0o755); err != nil { // MkdirTemp's is for one user only
		return err
	}
	x.Holds, x.TraceBytes = slices.Sorted(maps.Keys(files)), map[string]int64{}
	for name, data := range files { // order: each is an entry of its own
		if strings.HasSuffix(name, ".jsonl") {
			x.TraceBytes[name] = int64(len(data))
		}
	}
	meta, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(beside, findingFile), append(meta, '\n')); err != nil {
		return err
	}
	for name, data := range files { // order: each is a file of its own
		if err := write(filepath.Join(beside, name), data); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.Rename(beside, at)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// filesOf reads the files of a finding, by path within its folder.
func (f *Folder) filesOf(x *Finding) (map[string][]byte, error) {
	files := map[string][]byte{}
	dir := f.FindingPath(x)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == findingFile {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	if err == nil {
		err = f.lacks(x)
	}
	if err != nil {
		return nil, fmt.Errorf("the files of the finding %s: %w; copy the folder of the campaign anew, or leave it out", x.Name, err)
	}
	return files, nil
}

// lacks returns an error if a file of a finding is gone, or a part of a trace. What else is in the folder users may have shortened.
func (f *Folder) lacks(x *Finding) error {
	for _, name := range append([]string{findingFile}, x.Holds...) {
		path := filepath.Join(f.FindingPath(x), filepath.FromSlash(name))
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if all := x.TraceBytes[name]; info.Size() < all {
			return fmt.Errorf("%s was cut short: it has %d of %d bytes", path, info.Size(), all)
		}
	}
	return nil
}

// Gone returns the findings of which a file is gone, or a part of a trace.
func (f *Folder) Gone(c *Campaign) (gone []*Finding) {
	for _, x := range c.Findings {
		if f.lacks(x) != nil {
			gone = append(gone, x)
		}
	}
	return gone
}
