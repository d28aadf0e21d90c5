package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios/script"
)

// step is one change of a history, to compare a recording with a script.
type step struct {
	verb   string
	key    string
	rv     int64
	object string // compact JSON
}

// assertions is implemented by *testing.T and *rapid.T.
type assertions interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// scriptSteps returns the changes in a script.
func scriptSteps(t assertions, f *script.File) []step {
	t.Helper()
	var steps []step
	for _, c := range f.Commands() {
		switch c.Name {
		case "create", "update", "delete":
			r := script.NewArgReader(c, "")
			resource, key := r.Next("resource").Value, r.Next("object").Value
			rv := r.Int64("rv", 0, 1, 1<<62)
			payload := r.Payload()
			if err := r.Done(); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step{c.Name, resource + " " + key, rv, string(payload)})
		}
	}
	return steps
}

// fold returns the objects that exist after the steps, and fails the test on an impossible step.
func fold(t assertions, steps []step) map[string]string {
	t.Helper()
	objects := map[string]string{}
	var last int64
	for _, s := range steps {
		if _, exists := objects[s.key]; exists == (s.verb == "create") {
			t.Fatalf("%s of %s at %d: it exists: %t", s.verb, s.key, s.rv, exists)
		}
		if s.rv <= last {
			t.Fatalf("%s of %s: revision %d after %d", s.verb, s.key, s.rv, last)
		}
		last = s.rv
		if s.verb == "delete" {
			delete(objects, s.key)
		} else {
			objects[s.key] = s.object
		}
	}
	return objects
}

// recordedSteps returns the history in a recording of widgets without gaps, by event type and in order of revision.
func recordedSteps(t testing.TB, recording []byte) []step {
	t.Helper()
	verbs := map[string]string{"ADDED": "create", "MODIFIED": "update", "DELETED": "delete"}
	var steps []step
	for in := json.NewDecoder(bytes.NewReader(recording)); ; {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := in.Decode(&event); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if event.Type == "BOOKMARK" {
			continue
		}
		steps = append(steps, recordedStep(t, verbs[event.Type], event.Object))
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.rv - b.rv) })
	return steps
}

func recordedStep(t testing.TB, verb string, object []byte) step {
	t.Helper()
	var o struct {
		Metadata struct{ Namespace, Name, ResourceVersion string }
	}
	if err := json.Unmarshal(object, &o); err != nil {
		t.Fatal(err)
	}
	rv, err := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, object); err != nil {
		t.Fatal(err)
	}
	return step{verb, "widgets " + o.Metadata.Namespace + "/" + o.Metadata.Name, rv, compact.String()}
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestImportWatchReplaysTheRecordedHistory(t *testing.T) {
	recording := readTestdata(t, "widgets-watch.jsonl")
	want := recordedSteps(t, recording)
	if len(want) != 57 {
		t.Fatalf("%d changes in the recording, want 57", len(want))
	}
	var pretty bytes.Buffer
	for line := range bytes.Lines(recording) {
		if err := json.Indent(&pretty, bytes.TrimSpace(line), "", "    "); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
	}
	for name, input := range map[string][]byte{
		"a line each":    recording,
		"pretty-printed": pretty.Bytes(),
		"no separators":  bytes.ReplaceAll(recording, []byte("\n"), nil),
		"CRLF and BOM":   append([]byte("\xef\xbb\xbf"), bytes.ReplaceAll(recording, []byte("\n"), []byte("\r\n"))...),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Import(iotestOneByte{bytes.NewReader(input)}, Options{Name: "dir/w.jsonl", Format: WatchEvents, KeepManagedFields: true})
			if err != nil {
				t.Fatal(err)
			}
			got := scriptSteps(t, r.File)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%v\nwant\n%v", got, want)
			}
			if final := fold(t, got); len(final) != 8 {
				t.Errorf("%d objects at the end, want 8", len(final))
			}
			if r.Documents != 59 || r.Creates != 13 || r.Updates != 39 || r.Deletes != 5 || len(r.Warnings) != 0 {
				t.Errorf("result %+v", r)
			}
			wantKinds := []Kind{{Resource: "widgets.probe.dev/v1", Kind: "Widget", Namespaced: true, Informer: "i1"}}
			if !reflect.DeepEqual(r.Kinds, wantKinds) {
				t.Errorf("kinds %+v", r.Kinds)
			}
			frame := commandsWithoutObjects(r.File)
			wantFrame := "resource widgets.probe.dev/v1 kind=Widget scope=namespaced|5 changes|informer i1 widgets handlers=h1|settle|52 changes|settle|expect i1 converged"
			if frame != wantFrame {
				t.Errorf("got  %s\nwant %s", frame, wantFrame)
			}
			if strings.Contains(string(script.Print(r.File)), "dir/") {
				t.Error("the path of the recording is in the script")
			}
		})
	}
}

// iotestOneByte returns few bytes per read, so that values span reads.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 7)]) }

// commandsWithoutObjects renders a script with runs of changes replaced by their number.
func commandsWithoutObjects(f *script.File) string {
	var parts []string
	changes := 0
	flush := func() {
		if changes > 0 {
			parts = append(parts, fmt.Sprintf("%d changes", changes))
		}
		changes = 0
	}
	for _, c := range f.Commands() {
		if c.Payload != nil {
			changes++
			continue
		}
		flush()
		parts = append(parts, c.String())
	}
	flush()
	return strings.Join(parts, "|")
}

func TestImportListReplaysTheList(t *testing.T) {
	for _, name := range []string{"widgets-list.json", "widgets-list-raw.json"} {
		var list struct{ Items []json.RawMessage }
		if err := json.Unmarshal(readTestdata(t, name), &list); err != nil {
			t.Fatal(err)
		}
		var want []step
		for _, item := range list.Items {
			want = append(want, recordedStep(t, "create", item))
		}
		slices.SortFunc(want, func(a, b step) int { return int(a.rv - b.rv) })
		r, err := ImportFile(filepath.Join("testdata", name), Options{Format: List, KeepManagedFields: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := scriptSteps(t, r.File); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, want)
		}
		frame := "resource widgets.probe.dev/v1 kind=Widget scope=namespaced|5 changes|informer i1 widgets handlers=h1|settle|expect i1 converged"
		if got := commandsWithoutObjects(r.File); got != frame {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func importString(t testing.TB, format Format, input string, opts Options) *Result {
	t.Helper()
	opts.Format, opts.Name = format, "r.json"
	r, err := Import(strings.NewReader(input), opts)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, input)
	}
	return r
}

func TestImportTypedListWithoutItemKinds(t *testing.T) {
	item := `{"metadata":{"name":"a","namespace":"n","resourceVersion":"5"}}`
	want := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5"}}`
	for _, input := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"x"},"items":[` + item + `]}`,
		`{"items":[ ` + item + ` ],"metadata":{"continue":"x"},"kind":"PodList","apiVersion":"v1"}`,
	} {
		r := importString(t, List, input, Options{})
		if got := scriptSteps(t, r.File); len(got) != 1 || got[0].object != want {
			t.Errorf("got %v, want %s", got, want)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "one page of a longer one") {
			t.Errorf("warnings %q", r.Warnings)
		}
	}
}

func TestImportSeveralKinds(t *testing.T) {
	object := func(apiVersion, kind, namespace, name string, rv int) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":%q,"resourceVersion":"%d"}}`, apiVersion, kind, name, namespace, rv)
	}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join([]string{
		object("v1", "Node", "", "a", 7), object("events.k8s.io/v1", "Event", "n", "e", 3), object("v1", "Event", "n", "e2", 4), object("v1", "Gas", "", "g", 5),
	}, ",") + `]}`
	r := importString(t, List, list, Options{Plurals: map[string]string{"Gas": "gases"}})
	want := "resource nodes/v1 kind=Node scope=cluster|resource events.events.k8s.io/v1 kind=Event scope=namespaced|" +
		"resource events/v1 kind=Event scope=namespaced|resource gases/v1 kind=Gas scope=cluster|4 changes|" +
		"informer i1 nodes handlers=h1|informer i2 events.events.k8s.io handlers=h2|informer i3 events handlers=h3|informer i4 gases handlers=h4|" +
		"settle|expect i1 converged|expect i2 converged|expect i3 converged|expect i4 converged"
	if got := commandsWithoutObjects(r.File); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	// Two watches of one cluster, appended to one file: the revisions order them.
	event := func(typ, object string) string { return `{"type":"` + typ + `","object":` + object + "}\n" }
	watch := event("ADDED", object("v1", "Node", "", "a", 7)) + event("MODIFIED", object("v1", "Node", "", "a", 9)) + event("MODIFIED", object("v1", "Node", "", "a", 12)) +
		event("ADDED", object("v1", "Pod", "n", "p", 8)) + event("DELETED", object("v1", "Pod", "n", "p", 11))
	r = importString(t, WatchEvents, watch, Options{})
	want = "resource nodes/v1 kind=Node scope=cluster|resource pods/v1 kind=Pod scope=namespaced|2 changes|" +
		"informer i1 nodes handlers=h1|settle|1 changes|informer i2 pods handlers=h2|settle|2 changes|settle|expect i1 converged|expect i2 converged"
	if got := commandsWithoutObjects(r.File); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	fold(t, scriptSteps(t, r.File))
}

func TestImportKeepsObjectsVerbatim(t *testing.T) {
	// Numbers, escapes, key order and repeated keys are preserved.
	object := `{"kind":"Pod","apiVersion":"v1","spec":{"z":1.0,"a":1e3,"big":12345678901234567890,"s":"\u003c<\u2028/\/ä","z":2},"metadata":{"name":"a","resourceVersion":"5"}}`
	r := importString(t, WatchEvents, ` {"object" : `+object+` , "type":"ADDED"}`, Options{})
	if got := scriptSteps(t, r.File)[0].object; got != object {
		t.Errorf("got\n%s\nwant\n%s", got, object)
	}
}

func TestImportTruncatedWatch(t *testing.T) {
	recording := readTestdata(t, "widgets-watch.jsonl")
	lines := bytes.SplitAfter(recording, []byte("\n"))
	whole := bytes.Join(lines[:10], nil)
	want := recordedSteps(t, whole)
	for cut := 1; cut < len(lines[10])-2; cut++ {
		input := string(whole) + string(lines[10][:cut])
		r := importString(t, WatchEvents, input, Options{KeepManagedFields: true})
		if got := scriptSteps(t, r.File); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d: got\n%v\nwant\n%v", cut, got, want)
		}
		if len(r.Warnings) != 1 || r.Warnings[0] != "The recording is cut off inside document 11, at 11:1: that document is omitted." {
			t.Fatalf("warnings %q", r.Warnings)
		}
		if !strings.Contains(string(script.Print(r.File)), "# "+r.Warnings[0]) {
			t.Fatal("the warning is not in the script")
		}
	}
	_, err := Import(bytes.NewReader(recording[:len(recording)-9]), Options{Name: "w", Format: WatchEvents, RefuseTruncated: true})
	if err == nil || !strings.HasPrefix(err.Error(), "w:59:1: document 59 (byte ") || !strings.Contains(err.Error(), "cut off inside the document") {
		t.Errorf("got %v", err)
	}
	// An error in the middle is not a truncated end, even if no bracket closes it.
	broken := bytes.Replace(recording, []byte(`"size":3}}}`), []byte(`"size":3}}`), 1)
	_, err = Import(bytes.NewReader(broken), Options{Name: "w", Format: WatchEvents})
	if want := "w:6:1: not valid JSON: invalid character '{' after object key:value pair"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
