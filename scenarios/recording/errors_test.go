package recording

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios/script"
)

func TestImportErrors(t *testing.T) {
	const ok = `{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"5"}}}` + "\n"
	withMeta := func(meta string) string {
		return ok + ` {"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","metadata":{` + meta + `}}}`
	}
	tests := []struct {
		name   string
		format Format
		input  string
		want   string
	}{
		{"nothing", WatchEvents, "", "r: the recording has no objects; record a resource that has objects"},
		{"no audit event has an object", Audit, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"create","objectRef":{"resource":"pods","namespace":"d","name":"a","apiVersion":"v1"}}`,
			"r: the log has no objects; the level RequestResponse writes them down; docs/scenarios.md has a policy"},
		{"prose", WatchEvents, "No resources found\n", "r:1:1: not valid JSON: invalid character 'N' looking for beginning of value; a recording is what kubectl prints"},
		{"YAML", List, "apiVersion: v1\n", "r:1:1: not valid JSON: invalid character 'a' looking for beginning of value; a recording is what kubectl prints with -o json"},
		{"UTF-16", WatchEvents, "\xff\xfe{\x00", "r:1:1: the recording is UTF-16; save it as UTF-8"},
		{"UTF-8", WatchEvents, ok + `{"type":"` + "\xff" + `ADDED`, `r:2:10: byte 0xff is not valid UTF-8`},
		{"array", WatchEvents, "[1]", "r:1:1: document 1 (byte 0): this is not a watch event; record with kubectl get RESOURCE -A"},
		{"array cut off", WatchEvents, ok + "[1", "r:2:1: document 2 (byte 121): this is not a watch event"},
		{"cut off first", WatchEvents, ok[:20], "r:1:1: document 1 (byte 0): the recording is cut off inside the document"},
		{"list as watch", WatchEvents, `{"kind":"List","items":[]}`, "r:1:1: document 1 (byte 0): this is not a watch event: it has no type; this is a list: import it with --from list"},
		{"object as watch", WatchEvents, `{"kind":"Pod"}`, "r:1:1: document 1 (byte 0): this is not a watch event: it has no type; record with --output-watch-events"},
		{"unknown type", WatchEvents, `{"type":"GONE","object":{}}`, `r:1:1: document 1 (byte 0): the event has the unknown type "GONE"`},
		{"no object", WatchEvents, `{"type":"ADDED"}`, "r:1:1: document 1 (byte 0): the event has no object"},
		{"no kind", WatchEvents, `{"type":"ADDED","object":{}}`, "r:1:1: document 1 (byte 0): the object has no apiVersion or kind"},
		{"bad apiVersion", WatchEvents, `{"type":"ADDED","object":{"apiVersion":"a/b/c","kind":"Pod"}}`, `r:1:1: document 1 (byte 0): the object's apiVersion "a/b/c" is malformed`},
		{"bad kind", WatchEvents, `{"type":"ADDED","object":{"apiVersion":"v1","kind":"P d"}}`, `r:1:1: document 1 (byte 0): the object's kind "P d" is malformed`},
		{"no name", WatchEvents, withMeta(`"resourceVersion":"6"`), `r:2:2: document 2 (byte 122): the Pod object has no metadata.name`},
		{"name type", WatchEvents, withMeta(`"name":5`), `r:2:2: document 2 (byte 122): the object's metadata.name is a number, want string`},
		{"slash", WatchEvents, withMeta(`"name":"a/b"`), `r:2:2: document 2 (byte 122): the object's name " a/b" has a /`},
		{"no revision", WatchEvents, withMeta(`"name":"a","namespace":"n"`), `r:2:2: document 2 (byte 122): the object "n/a" has no metadata.resourceVersion`},
		{"bad revision", WatchEvents, withMeta(`"name":"a","namespace":"n","resourceVersion":"0x6"`), `r:2:2: document 2 (byte 122): the resourceVersion "0x6" of "n/a" is not a positive number`},
		{"back", WatchEvents, withMeta(`"name":"a","namespace":"n","resourceVersion":"4"`), `r:2:2: document 2 (byte 122): the revision goes back: Pod "n/a" has resourceVersion 4 after 5; import recordings of one cluster`},
		{"back of another", WatchEvents, withMeta(`"name":"b","namespace":"n","resourceVersion":"5"`), `r:2:2: document 2 (byte 122): the revision goes back: Pod "n/b" has resourceVersion 5 after 5`},
		{"scope", WatchEvents, withMeta(`"name":"a","resourceVersion":"6"`), `r:2:2: document 2 (byte 122): Pod "a" differs from earlier objects of its kind in having a namespace or not`},
		{"two clusters", WatchEvents, ok + strings.ReplaceAll(ok, "Pod", "Node"), `r:2:1: document 2 (byte 121): Node "n/a" has resourceVersion 5, which Pod "n/a" of document 1 also has`},
		{"two versions", WatchEvents, ok + strings.NewReplacer(`"v1"`, `"v2"`, `"5"`, `"6"`).Replace(ok), "r: the recording has pods in v1 and in v2; record one of them"},
		{"watch as list", List, ok, "r:1:1: this is a watch event, not a list; import it with --from watch-events"},
		{"table", List, `{"kind":"Table","rows":[]}`, "r:1:1: this is a Table, not a list"},
		{"array as list", List, "[]", "r:1:1: this is neither a list nor an object"},
		{"empty list", List, `{"kind":"List","apiVersion":"v1","items":[]}`, "r: the recording has no objects"},
		{"null list", List, `{"kind":"PodList","apiVersion":"v1","items":null}`, "r: the recording has no objects"},
		{"cut off list", List, "{\"kind\":\"List\",\n\"items\":[{}", "r:2:12: the list is cut off; record it again"},
		{"cut off items", List, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\n\"items\":[", "r:2:10: the list is cut off; record it again"},
		{"cut off item", List, "{\"kind\":\"List\",\n\"items\":[{\"a\":", "r:2:15: the list is cut off; record it again"},
		{"no comma", List, `{"items":[] "kind":"List"}`, `r:1:13: not valid JSON: found '"', want ','`},
		{"no key", List, `{items:[]}`, `r:1:2: not valid JSON: found 'i', want '"'`},
		{"no item kind", List, `{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, "r:1:43: document 1 (byte 42): the object has no apiVersion or kind"},
		{"twice", List, `{"items":[` + widget("n/a", 5) + `,` + widget("n/a", 6) + `]}`, `document 2 (byte 146): Widget "n/a" is listed twice; import one list of each kind`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Import(strings.NewReader(tt.input), Options{Name: "r", Format: tt.format})
			if err == nil {
				t.Fatalf("no error, got %s", script.Print(r.File))
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			var placed *script.Error
			if !errors.As(err, &placed) || placed.Pos.File != "r" {
				t.Errorf("no position in %v", err)
			}
		})
	}
}

func TestImportLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, MaxInputSize+1); err != nil { // sparse: only its size is read
		t.Fatal(err)
	}
	if _, err := ImportFile(path, Options{Format: List}); err == nil || !strings.Contains(err.Error(), "it is 1024.1 MiB; recordings are limited to 1024 MiB") {
		t.Errorf("got %v", err)
	}
	if _, err := ImportFile(path+"x", Options{Format: List}); err == nil || err.Error() != path+"x: the recording cannot be opened: no such file or directory; check the path" {
		t.Errorf("got %v", err)
	}
	// More objects than a script can hold end the import while it reads, at the first object too many.
	filler := strings.Repeat("x", 1<<20)
	var input strings.Builder
	for i := range 40 {
		input.WriteString(event("ADDED", strings.Replace(widget("n/a"+strings.Repeat("a", i), int64(i+1)), `"spec":`, `"filler":"`+filler+`","spec":`, 1)))
	}
	_, err := Import(strings.NewReader(input.String()), Options{Name: "r", Format: WatchEvents})
	if err == nil || !strings.HasPrefix(err.Error(), "r:32:1: document 32 ") || !strings.Contains(err.Error(), "the scenario would exceed 32 MiB") {
		t.Errorf("got %v", err)
	}
	large := event("ADDED", strings.Replace(widget("n/a", 1), `"spec":`, `"filler":"`+strings.Repeat(filler, 4)+`","spec":`, 1))
	if _, err := Import(strings.NewReader(large), Options{Name: "r", Format: WatchEvents}); err == nil || !strings.Contains(err.Error(), "a line of a script must be shorter than 4 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestImportOptionErrors(t *testing.T) {
	if _, err := ParseFormat("watch-event"); err == nil || err.Error() != `unknown recording format "watch-event"; did you mean watch-events?` {
		t.Errorf("got %v", err)
	}
	if _, err := Import(strings.NewReader(""), Options{}); err == nil || !strings.Contains(err.Error(), "use watch-events, list or audit") {
		t.Errorf("got %v", err)
	}
	_, err := Import(strings.NewReader(""), Options{Format: List, Plurals: map[string]string{"Pod": "Pods"}})
	if err == nil || !strings.Contains(err.Error(), `"Pods" is not a valid plural of Pod`) {
		t.Errorf("got %v", err)
	}
}
