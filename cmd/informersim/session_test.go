package main

import (
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var sessionFile = flag.String("session", "", "write the README's terminal session into this file")

const stale = `# The apiserver restarts while an informer lists in pages.
cluster compact-every=0s
resource pods
create pods default/a default/b default/c
informer i1 pods page=2
advance 2s
restart replica/0
delete pods default/b
advance 30s
expect i1 converged
`

// The README's terminal session is what the commands print: a bug of client-go as it is (k133810).
func TestSession(t *testing.T) {
	file := *sessionFile
	if file == "" {
		file = docs + "session.svg"
	}
	want, err := os.ReadFile(file)
	if err != nil && *sessionFile == "" {
		t.Fatal(err)
	}
	if file, err = filepath.Abs(file); err != nil {
		t.Fatal(err)
	}
	inTemp(t, map[string]string{"stale.sim": stale})
	scenes := []scene{{"cat stale.sim", stale}}
	for _, line := range []string{
		"informersim run stale.sim --subject client-go",
		"informersim explain stale-client-go-seed1.trace.jsonl",
		"informersim replay stale-client-go-seed1.trace.jsonl",
	} {
		scenes = append(scenes, scene{line, command(t, strings.Fields(line)[1:]...).stdout})
	}
	got := session(scenes)
	if *sessionFile != "" {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(want) {
		t.Error("docs/session.svg is not what the commands print now: go test ./cmd/informersim -run TestSession -session ../../docs/session.svg")
	}
}

// scene is a command line and what it prints.
type scene struct{ command, output string }

// The geometry of the session, in pixels, characters and seconds.
const (
	columns, lineHeight, margin = 104, 17, 14
	charWidth, typing, reading  = 7.8, 1.5, 6.0
)

// session draws scenes one after the other, over and over. Who wants no motion sees the second one.
func session(scenes []scene) string {
	rows := 0
	for i := range scenes {
		rows = max(rows, strings.Count(scenes[i].output, "\n")+1)
	}
	width, height := 2*margin+columns*int(charWidth*10)/10, (rows+1)*lineHeight+2*margin
	each := typing + reading
	total := each * float64(len(scenes))
	share := 100 / float64(len(scenes))
	b := &strings.Builder{}
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t d">
<title id="t">informersim in a terminal</title>
<desc id="d">`, width, height, width, height)
	for i := range scenes {
		fmt.Fprintf(b, "%s. ", html.EscapeString(scenes[i].command))
	}
	fmt.Fprintf(b, `</desc>
<style>
rect{fill:#161b22;stroke:#30363d}text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#c9d1d9;white-space:pre}
.p{fill:#7ee787}.FAIL{fill:#ff7b72;font-weight:600}.PASS{fill:#7ee787;font-weight:600}.c{fill:#8b949e}
g{opacity:0;animation:scene %[1]gs step-end infinite}g g{animation:output %[1]gs step-end infinite}
@keyframes scene{0%%{opacity:1}%[2]g%%,100%%{opacity:0}}
@keyframes output{0%%{opacity:0}%[3]g%%{opacity:1}%[2]g%%,100%%{opacity:0}}
`, total, share, share*typing/each)
	for i := range scenes {
		fmt.Fprintf(b, "#s%[1]d,#s%[1]d g{animation-delay:%[2]gs}", i+1, each*float64(i))
	}
	b.WriteString(`
@media (prefers-reduced-motion:reduce){g,g g{animation:none}#s2,#s2 g{opacity:1}}
</style>
`)
	fmt.Fprintf(b, "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", width-1, height-1)
	for i := range scenes {
		s := &scenes[i]
		fmt.Fprintf(b, "<g id=\"s%d\">\n%s<g>\n", i+1, row(0, `<tspan class="p">$ </tspan>`+html.EscapeString(s.command)))
		for n, line := range strings.Split(strings.TrimRight(s.output, "\n"), "\n") {
			b.WriteString(row(n+1, colored(line)))
		}
		b.WriteString("</g></g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func row(n int, text string) string {
	return fmt.Sprintf("<text x=\"%d\" y=\"%d\">%s</text>\n", margin, margin+(n+1)*lineHeight-4, text)
}

// colored cuts a line to what fits and gives verdicts and comments their colours.
func colored(line string) string {
	if utf8.RuneCountInString(line) > columns {
		line = string([]rune(line)[:columns-1]) + "…"
	}
	for _, verdict := range []string{"FAIL", "PASS"} {
		if rest, ok := strings.CutPrefix(line, verdict); ok {
			return fmt.Sprintf(`<tspan class="%s">%s</tspan>%s`, verdict, verdict, html.EscapeString(rest))
		}
	}
	if strings.HasPrefix(line, "#") {
		return `<tspan class="c">` + html.EscapeString(line) + `</tspan>`
	}
	return html.EscapeString(line)
}
