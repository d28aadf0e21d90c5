package fakeapiserver

import (
	"encoding/base64"
	"encoding/json"
	"testing"
)

// A token is read in the same way, whether or not it is written as ours are.
func TestDecodeOwn(t *testing.T) {
	own := 0
	for _, text := range []string{
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/default/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":-1,"start":"default/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":05,"start":"/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5.0,"start":"/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":99999999999999999999,"start":"/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/a"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/a\u0001\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/a\u0000","start":"/b\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/a","rv":6,"start":"/b\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/ä\u0000"}`,
		"{\"v\":\"meta.k8s.io/v1\",\"rv\":5,\"start\":\"/\xff\\u0000\"}",
		"{\"v\":\"meta.k8s.io/v1\",\"rv\":5,\"start\":\"/a\t\\u0000\"}",
		`{"v":"meta.k8s.io/v1","rv":5,"start":"/a\\u0000"}`,
		`{"v":"meta.k8s.io/v2","rv":5,"start":"/a\u0000"}`,
		`{"rv":5,"v":"meta.k8s.io/v1","start":"/a\u0000"}`,
	} {
		got, ok := decodeOwn(text)
		if !ok {
			continue
		}
		own++
		var want continueToken
		if err := json.Unmarshal([]byte(text), &want); err != nil || got != want {
			t.Errorf("%s: %+v, want %+v, %v", text, got, want, err)
		}
	}
	if own != 3 {
		t.Errorf("%d texts are read as ours, want 3", own)
	}
	for _, start := range []string{"default/a\x00", "a\x00", "ns/with-a.dot\x00"} {
		data, err := base64.RawURLEncoding.DecodeString(encodeContinue(7, start))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := decodeOwn(string(data)); !ok || got.Start != "/"+start || got.Revision != 7 {
			t.Errorf("the token of %q is read as %+v, %v", start, got, ok)
		}
	}
}
