package catalogue

import (
	"fmt"
	"path"
	"strings"
)

// macros are what a table's lines abbreviate.
var macros = strings.NewReplacer("$POD", containers, "$TPL", template, "$SEL", selected, "$CSR", certificateRequest,
	"$JOB", `template: {spec: {restartPolicy: Never, `+containers+`}}`)

// refusalTables returns the probes of the tables of what a server refuses: one probe for each line.
func refusalTables() (string, error) {
	var b strings.Builder
	for _, file := range []string{"kube/validation.table", "kube/immutable.table", "kube/refused.table", "kube/changed.table"} {
		text, err := scripts.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", file, err)
		}
		area := strings.TrimSuffix(path.Base(file), ".table")
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			name, rest, _ := strings.Cut(line, " ")
			target, body, found := strings.Cut(rest, " ")
			if !found {
				return "", fmt.Errorf("%s:%d: want NAME TARGET BODY", file, number)
			}
			body, patch, patched := strings.Cut(body, " => ")
			resource, _, _ := strings.Cut(target, "/")
			steps := "create " + target + " " + macros.Replace(body)
			if patched {
				steps = fmt.Sprintf("~ %s\nmerge %s %s", steps, target, macros.Replace(patch))
			}
			fmt.Fprintf(&b, "probe %s/%s !brief%s\n%s\n", area, name, anyRevision[resource], steps)
		}
	}
	return b.String(), nil
}
