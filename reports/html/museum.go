package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"github.com/informersim/informersim/reports"
)

//go:embed museum.html
var museumSource string

var museumTemplate = template.Must(template.New("museum").Parse(museumSource))

// Museum is what the page that leads to the reports of exhibits shows.
type Museum struct {
	Sentence string
	Exhibits []Exhibit
	Gaps     []Gap // bugs that are no exhibits
}

// An Exhibit is a bug, with a run that has it and one that has not.
type Exhibit struct {
	Bug, Year, Text, Where, Property string
	Issue                            string // the address of the bug's report
	Broken, Right                    Verdict
	Command                          string
	Problem                          string // what is not as it should be, "" for nothing
}

// A Verdict is what a run says, with its report relative to the page, "" for none.
type Verdict struct{ Text, Link string }

// A Gap is a bug without an exhibit, and why.
type Gap struct{ Bug, Year, Text, Why, Issue string }

// RenderMuseum renders the page. Like a report, it loads nothing.
func RenderMuseum(m *Museum) ([]byte, error) {
	var page bytes.Buffer
	err := museumTemplate.Execute(&page, struct {
		*Museum
		Style template.CSS
	}{m, template.CSS(styleSource)})
	if err != nil {
		return nil, fmt.Errorf("rendering the museum: %w", err)
	}
	return []byte(reports.Plain(page.String())), nil
}
