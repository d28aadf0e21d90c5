package reports

import (
	"fmt"
	"strings"
)

// A Section is a titled list of lines beside the story.
type Section struct {
	Title string
	Lines []string
}

func (s *Section) write(b *strings.Builder) {
	if s == nil || len(s.Lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %s\n", PlainLine(s.Title))
	for _, l := range s.Lines {
		fmt.Fprintf(b, "    %s\n", strings.ReplaceAll(l, "\n", "\n      "))
	}
}
