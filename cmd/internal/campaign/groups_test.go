package campaign

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Findings that break one property in the same way are told together, with what their shapes have besides; none is left out. Others are by themselves, whatever their shapes.
func TestFindingsThatAreAlike(t *testing.T) {
	c := New(Asked{Subject: "stack", First: 1, Last: 60, Shards: 1}, 1)
	c.Shards[0].Done, c.Shards[0].Failing = 60, 9
	handler := "HandlerGrammar: handler iN/cN was notified of an add of KEY, but already has it at rv=N"
	for n, f := range []Finding{
		{Reason: handler, Shape: "delete, informer queue=atomic, worker", Message: "c1 was notified"},
		{Reason: strings.ReplaceAll(handler, "/cN", "/hN"), Shape: "fault between lists, informer queue=atomic", Message: "h1 was notified"},
		{Reason: handler, Shape: "delete, informer queue=atomic", Message: "c2 was notified"},
		{Reason: handler, Message: "not shrunk"},
		{Reason: "HandlerGrammar: handler iN/cN was notified of a deletion of KEY, but does not have it", Shape: "delete, informer queue=atomic", Message: "another way"},
		{Reason: "LibraryAgrees: DeltaFIFO: Len", Shape: "DeltaFIFO: Len", Message: "DeltaFIFO: Len: 3, want 4"},
		{Reason: "LibraryAgrees: DeltaFIFO: Pop", Shape: "DeltaFIFO: Pop", Message: "DeltaFIFO: Pop: a, want b"},
		{Reason: "LibraryAgrees: DeltaFIFO: Pop", Shape: "delete, DeltaFIFO: Pop", Message: "DeltaFIFO: Pop: b, want c"},
		{Reason: "NoLivelock", Message: "NoLivelock"},
	} {
		f.Property, _, _ = strings.Cut(f.Reason, ": ")
		f.Seed = uint64(n + 1)
		c.Find(&f)
	}
	var groups [][]uint64
	for _, g := range c.Groups() {
		var seeds []uint64
		for _, f := range g {
			seeds = append(seeds, f.Seed)
		}
		groups = append(groups, seeds)
	}
	want := [][]uint64{{2, 3, 1, 4}, {5}, {6}, {7, 8}, {9}}
	if !slices.EqualFunc(groups, want, slices.Equal) {
		t.Fatalf("the groups are %v, want %v", groups, want)
	}
	var text, markdown, line bytes.Buffer
	if err := c.WriteText(&text, ""); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteJSON(&line); err != nil {
		t.Fatal(err)
	}
	name := func(seed int) string { return c.Findings[seed-1].Name }
	for _, want := range []string{
		"FAIL  9 findings, perhaps of 5 bugs, in 60 runs, of which 9 fail\n",
		"      " + name(2) + "  seed 2: h1 was notified\n" +
			"        perhaps the same: " + name(3) + "  seed 3, with delete in place of fault between lists\n" +
			"        probably the same: " + name(1) + "  seed 1, with delete, worker in place of fault between lists\n" +
			"        perhaps the same: " + name(4) + "  seed 4, which could not be shrunk\n" +
			"      " + name(5) + "  seed 5: another way\n",
		"        probably the same: " + name(8) + "  seed 8, with delete besides\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks\n%s\nin\n%s", want, &text)
		}
	}
	if want := "| `" + name(8) + "` | 8 | 1 |  | probably the same: DeltaFIFO: Pop: b, want c |"; !strings.Contains(markdown.String(), want) {
		t.Errorf("the table lacks %s:\n%s", want, &markdown)
	}
	var summary Line
	if err := json.Unmarshal(line.Bytes(), &summary); err != nil {
		t.Fatal(err)
	}
	if got := summary.Summary.Alike; len(got) != 2 || !slices.Equal(got[0], []string{name(2), name(3), name(1), name(4)}) || !slices.Equal(got[1], []string{name(7), name(8)}) {
		t.Errorf("alike are %v", got)
	}
}
