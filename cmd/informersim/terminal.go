package main

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/terminal"
)

// painter returns where text for people goes: to a terminal with colors, and broken at its width, unless NO_COLOR is set; as it is to
// everything else.
func painter(w io.Writer) io.Writer {
	plain, ok := w.(*reports.PlainWriter)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return w
	}
	f, ok := under(plain.Unwrap()).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return w
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		width = terminal.Width
	}
	return &painting{plain.Unwrap(), width}
}

// under returns the writer that another one passes everything on to.
func under(w io.Writer) io.Writer {
	for {
		outer, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			return w
		}
		w = outer.Unwrap()
	}
}

// painting paints what is written to it. Each write has whole lines.
type painting struct {
	w     io.Writer
	width int
}

// Write implements io.Writer. What comes from a file is made plain before there are colors.
func (p *painting) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.w, terminal.Paint(reports.Plain(string(text)), p.width)); err != nil {
		return 0, err
	}
	return len(text), nil
}
