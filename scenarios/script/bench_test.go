package script

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchScript returns a script like an imported recording, if payload is set, or like a hand-written one.
func benchScript(payload bool) []byte {
	var b bytes.Buffer
	for i := range 2000 {
		if payload {
			fmt.Fprintf(&b, "update widgets default/w%d rv=%d {\"metadata\":{\"name\":\"w%d\",\"labels\":{%s}},\"spec\":{\"size\":%d}}\n",
				i, i, i, strings.TrimSuffix(strings.Repeat(`"app.example.dev/name":"checkout",`, 12), ","), i)
			continue
		}
		fmt.Fprintf(&b, "# step %d\nfault i1 watch=410 after=%dms note=\"two words\"\nupdate widgets default/w%d\nlog h1\n----\nh1 update default/w%d rv=%d\n\n", i, i, i, i, i)
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, payload := range []bool{true, false} {
		src := benchScript(payload)
		b.Run(fmt.Sprintf("payload=%t", payload), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("x.sim", src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	f, err := Parse("x.sim", benchScript(true))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(Print(f))))
	b.ReportAllocs()
	for b.Loop() {
		Print(f)
	}
}
