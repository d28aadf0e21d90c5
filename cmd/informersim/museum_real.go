package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/guests"
	"github.com/informersim/informersim/internal/museum"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// maxRealSteps bounds a run of an exhibit on a release, which may have a livelock.
const maxRealSteps = 200_000

// real plays exhibits on the releases that had their bugs, and on those that mended them.
func (f *museumFlags) real(c *cobra.Command, root string, pieces []*museum.Piece) error {
	rows, err := museum.RealRows(pieces)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if !f.json {
		if err := museum.WriteRealHead(out); err != nil {
			return err
		}
	}
	hall := &releaseHall{ctx: c.Context(), root: root}
	var all []*museum.Shown
	wrong := 0
	for n := range rows {
		s, err := hall.show(&rows[n])
		if err != nil {
			return err
		}
		if all = append(all, s); s.Problem != "" {
			wrong++
		}
		if f.json {
			err = json.NewEncoder(out).Encode(s)
		} else {
			err = s.WriteText(out)
		}
		if err != nil {
			return err
		}
	}
	shown := len(all) - countOf(all, func(s *museum.Shown) bool { return s.Broken == nil })
	summary := fmt.Sprintf("%d exhibits: %d shown by a release of client-go, %d by none, %d not as they should be", len(all), shown, len(all)-shown, wrong)
	if !f.json {
		if _, err := fmt.Fprintf(out, "\n%s\n", summary); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return broken{summary}
	}
	if f.write == "" {
		return nil
	}
	grid, err := hall.grid(rows)
	if err != nil {
		return err
	}
	page := []byte(museum.RealPage(all, grid))
	if err := os.MkdirAll(filepath.Dir(f.write), 0o777); err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	return os.WriteFile(f.write, page, 0o666)
}

func countOf[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

// releaseHall plays scenarios on releases.
type releaseHall struct {
	ctx  context.Context
	root string
}

func (h *releaseHall) show(r *museum.RealRow) (*museum.Shown, error) {
	s := &museum.Shown{Bug: r.Bug, Scenario: r.Scenario(), Property: r.Property, Why: r.Why, Row: r}
	// The property alone: what else a release breaks on the way may come first, and is not what the bug is known for.
	for _, side := range []struct {
		version string
		only    string
		to      **museum.Played
	}{{r.Broken, r.Property, &s.Broken}, {r.Right, "", &s.Right}} {
		if side.version == "" {
			continue
		}
		p, err := h.play(r, side.version, side.only)
		if err != nil {
			return nil, err
		}
		*side.to = p
	}
	s.Judge()
	return s, nil
}

// play plays a row's scenario on a release, with one property, or all for "".
func (h *releaseHall) play(r *museum.RealRow, version, only string) (*museum.Played, error) {
	release, err := releases.Parse(version)
	if err != nil {
		return nil, err
	}
	kind := clientgo.Kind
	if release.Version != releases.BuiltIn || clientIsChanged {
		if kind, err = guests.Kind(h.ctx, release.Subject(), stderrOf(h.ctx)); err != nil {
			return nil, err
		}
	}
	s, err := scenarios.Load(filepath.Join(h.root, filepath.FromSlash(r.Scenario())))
	if err != nil {
		return nil, err
	}
	judged := properties.All()
	if r.Piece.Exhibit.Strict {
		judged = properties.WithoutExemptions()
	}
	if only != "" {
		judged = slices.DeleteFunc(judged, func(p properties.Property) bool { return p.Name != only })
	}
	p := &museum.Played{Release: release.Version}
	res, err := scenarios.Run(h.ctx, s, scenarios.Options{Subject: kind, Seed: 1, Properties: judged, MaxSteps: maxRealSteps})
	var lacks *scenarios.LacksError
	switch {
	case h.ctx.Err() != nil:
		return nil, h.ctx.Err()
	case errors.As(err, &lacks):
		p.Verdict, p.Message = lacksVerdict, lackingOf(kind, lacks.Feature)
	case err != nil:
		return nil, fmt.Errorf("%s on %s: %w", r.Scenario(), release.Subject(), err)
	case res.Violation != nil:
		p.Verdict, p.Step, p.Message = res.Violation.Property, res.Violation.Step, firstLineOf(res.Violation.Message)
	case len(res.Mismatches) > 0 && only == "":
		p.Verdict, p.Step = "mismatch", res.Steps
	default:
		p.Verdict, p.Step = "pass", res.Steps
	}
	return p, nil
}

func lackingOf(k subjects.Kind, f subjects.Feature) string {
	return fmt.Sprintf("%s: %s", f, k.Lacks[f])
}

// grid plays the scenario of each exhibit about client-go on every minor release.
func (h *releaseHall) grid(rows []museum.RealRow) (map[string]map[int]string, error) {
	grid := map[string]map[int]string{}
	for n := range rows {
		r := &rows[n]
		if !strings.HasPrefix(r.Piece.Where(), "client-go") {
			continue
		}
		grid[r.Bug] = map[int]string{}
		for _, m := range releases.All() {
			mark, err := h.mark(r, m.NewestVersion())
			if err != nil {
				return nil, err
			}
			grid[r.Bug][m.Number] = mark
		}
	}
	return grid, nil
}

func (h *releaseHall) mark(r *museum.RealRow, version string) (string, error) {
	p, err := h.play(r, version, r.Property)
	if err == nil && p.Verdict == "pass" {
		p, err = h.play(r, version, "")
	}
	switch {
	case err != nil:
		return "", err
	case p.Verdict == "pass":
		return "✓", nil
	case p.Verdict == lacksVerdict:
		return "–", nil
	case p.Verdict == "mismatch":
		return "≠", nil
	case p.Verdict == r.Property:
		return "✕", nil
	}
	return "!", nil
}
