package recording

import (
	"bytes"
	"fmt"
	"testing"
)

func BenchmarkImport(b *testing.B) {
	recording := readTestdata(b, "widgets-watch.jsonl")
	lines := bytes.SplitAfter(recording, []byte("\n"))
	var long bytes.Buffer
	rv := 100
	for range 40 {
		for _, line := range lines[5:20] {
			o := recordedStep(b, "", bytes.TrimSuffix(bytes.TrimSpace(line[bytes.Index(line, []byte(`"object":`))+9:]), []byte("}")))
			rv++
			long.Write(bytes.Replace(line, fmt.Appendf(nil, `"resourceVersion":"%d"`, o.rv), fmt.Appendf(nil, `"resourceVersion":"%d"`, rv), 1))
		}
	}
	b.SetBytes(int64(long.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Import(bytes.NewReader(long.Bytes()), Options{Name: "r", Format: WatchEvents}); err != nil {
			b.Fatal(err)
		}
	}
}
