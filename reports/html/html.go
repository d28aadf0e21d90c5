package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// MaxBytes is the size that no report exceeds.
const MaxBytes = 1_000_000

// Generator stands near the beginning of each report.
const Generator = `<meta name="generator" content="informersim report">`

var (
	//go:embed page.html
	pageSource string
	//go:embed style.css
	styleSource string
	//go:embed script.js
	scriptSource string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"counted": reports.Counted[int]}).Parse(pageSource))
	scriptHash   = hashOf(scriptSource)
)

func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Report renders the trace in r. A trace without its end is rendered as far as it goes, and says so.
func Report(r *sim.TraceReader) ([]byte, error) {
	t, err := timeline.Read(r)
	if err != nil {
		return nil, err
	}
	return Render(t)
}

// Write renders the trace in r, which errors call file, to w.
func Write(w io.Writer, file string, r io.Reader) error {
	tr, err := sim.NewTraceReader(file, r)
	if err != nil {
		return err
	}
	page, err := Report(tr)
	if err != nil {
		return err
	}
	_, err = w.Write(page)
	return err
}

// Render renders a timeline. If it does not fit, more and more of what is far from the violation is left out.
func Render(t *timeline.Timeline) ([]byte, error) {
	for budget := dataBudget; ; budget /= 2 {
		var page bytes.Buffer
		data, kept, err := dataOf(t, budget)
		if err != nil {
			return nil, err
		}
		tight := budget < dataBudget
		p := pageOf(t, kept, tight)
		p.cap(tight)
		p.Style, p.Code, p.ScriptHash, p.Data = template.CSS(styleSource), template.JS(scriptSource), scriptHash, template.JS(data)
		if err := pageTemplate.Execute(&page, p); err != nil {
			return nil, fmt.Errorf("rendering the report: %w", err)
		}
		if text := reports.Plain(page.String()); len(text) <= MaxBytes {
			return []byte(text), nil
		}
		if budget < 1000 {
			return nil, fmt.Errorf("rendering the report: %d bytes are more than a report may have, and no more can be left out", page.Len())
		}
	}
}
