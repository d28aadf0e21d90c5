package recording

import (
	"bytes"
	"errors"
	"testing"

	"github.com/informersim/informersim/scenarios/script"
)

func FuzzImport(f *testing.F) {
	watch := readTestdata(f, "widgets-watch.jsonl")
	f.Add(watch[:4000], true)
	f.Add(readTestdata(f, "widgets-list-raw.json"), false)
	f.Add(readTestdata(f, "widgets-list.json")[:600], false)
	f.Add([]byte(event("ADDED", secret)+event("ERROR", "{}")+event("BOOKMARK", "{}")), true)
	f.Add([]byte(event("ADDED", widget("n/a", 4))+event("ADDED", widget("n/b", 5))+event("MODIFIED", widget("n/a", 6, "u"))+event("ADDED", widget("n/b", 5))), true)
	f.Add([]byte(`{"items":[{"metadata":{"name":"a","resourceVersion":"1"}}],"kind":"PodList","apiVersion":"v1"}`), false)
	f.Fuzz(func(t *testing.T, input []byte, isWatch bool) {
		format := List
		if isWatch {
			format = WatchEvents
		}
		r, err := Import(bytes.NewReader(input), Options{Name: "r", Format: format})
		if err != nil {
			var placed *script.Error
			if !errors.As(err, &placed) || placed.Pos.File != "r" {
				t.Fatalf("an error without a position in the recording: %v", err)
			}
			return
		}
		fold(t, scriptSteps(t, r.File))
	})
}
