package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Programs without a version, or with local changes, are told apart by themselves: what one has begun, another one neither goes on with nor is merged with.
func TestFuzzTellsBuildsApart(t *testing.T) {
	inTemp(t, nil)
	for _, shard := range []string{"1", "2"} {
		if got := command(t, "fuzz", "--seeds", "8", "--shard", shard+"/2", "--out", shard); got.code != exitOK {
			t.Fatalf("shard %s: exit code %d: %s%s", shard, got.code, got.stdout, got.stderr)
		}
	}
	own := campaignIn(t, "1").Asked.Program
	if len(own) != 16 {
		t.Fatalf("the program of a test has no version, and is called %q", own)
	}
	data, err := os.ReadFile("2/campaign.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("2/campaign.json", bytes.ReplaceAll(data, []byte(own), []byte("0123456789abcdef")), 0o666); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"fuzz --seeds 8 --shard 2/2 --out 2 --resume": "--resume: 2 was made with another build of informersim: devel (program 0123456789abcdef), not devel (program " + own + ")",
		"merge 1 2 --out sum":                         "2 was made with another build of informersim: devel (program 0123456789abcdef), not devel (program " + own + "), as 1 was",
	} {
		if got := command(t, strings.Fields(args)...); got.code != exitBadInput || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d: %s%s", args, got.code, got.stdout, got.stderr)
		}
	}
	if got := command(t, "fuzz", "--seeds", "8", "--shard", "1/2", "--out", "1", "--resume"); got.code != exitOK {
		t.Errorf("the same program: exit code %d: %s", got.code, got.stderr)
	}
}

// A release and a commit without local changes say by themselves what a program does, unless a folder takes the place of a module: a client-go that
// somebody works on, for instance.
func TestProgramDigest(t *testing.T) {
	for _, tt := range []struct {
		released, sealed bool
		commit           string
		want             bool
	}{
		{true, true, "", false},
		{false, true, "abc", false},
		{false, true, "abc+dirty", true},
		{false, true, "", true},
		{true, false, "", true},
		{false, false, "abc", true},
	} {
		got, err := programDigest(tt.released, tt.sealed, tt.commit)
		if err != nil || (got != "") != tt.want {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}
