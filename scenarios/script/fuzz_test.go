package script

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{transcript, "a {", "a k=\"\\x00\"", "a\n----\n-----\n----\n-----\n-----\n", "\xef\xbb\xbfa\r\n----\r\nb\r\r\n", "a {\"b\":1}#c", "a {\n}\r\n}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Parse("x.sim", src)
		if err != nil {
			var one *Error
			if !errors.As(err, &one) || one.Pos.Line < 1 || one.Pos.Column < 1 || one.Pos.Line > bytes.Count(src, []byte("\n"))+1 {
				t.Fatalf("an error without a position in the script: %v", err)
			}
			return
		}
		printed := Print(file)
		back, err := Parse("x.sim", printed)
		if err != nil {
			t.Fatalf("printed script does not parse: %v\n%q", err, printed)
		}
		if !Equal(file, back) || !bytes.Equal(Print(back), printed) {
			t.Fatalf("round trip failed:\n%q", printed)
		}
		outputs := map[*Command]string{}
		for _, c := range file.Commands() {
			if c.Output != nil {
				outputs[c] = c.Output.Text
			}
		}
		same, err := Rewrite(file, outputs)
		if err != nil || !bytes.Equal(same, src) {
			t.Fatalf("rewriting with the same outputs: %v\n%q", err, same)
		}
	})
}
