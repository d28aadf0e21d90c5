package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A schema is one program with many mutants, of which the environment chooses one. It is built once, where each mutant alone would
// be compiled and linked for some seconds.
//
// Each function that a mutant changes gets a copy with the change, and begins with a choice of the copy:
//
//	func (r *ring) pop() {
//		if mutant__ == 17 {
//			r.pop__17()
//			return
//		}
//
// Mutants that change something other than the inside of functions do not fit, and are built alone.
type schema struct {
	files map[string]*schemaFile // by where the go command looks for them
}

// schemaFile is a source file with the mutants of its functions.
type schemaFile struct {
	text    string
	parsed  *parsedFile
	variant map[int][]int // by function: the mutants that change it
	copies  []string
	imports []string // that a copy needs
}

// The variable in each package that says which mutant is active, and the environment variable that it is read from.
const (
	activeName = "mutant__"
	activeEnv  = "INFORMERSIM_MUTANT"
)

// parsedFile is a file and its functions.
type parsedFile struct {
	fset  *token.FileSet
	ast   *ast.File
	funcs []*ast.FuncDecl // those with a body
	// rest is the text without functions and imports.
	rest    string
	imports []string
}

func parseFile(text string) (*parsedFile, error) {
	p := &parsedFile{fset: token.NewFileSet()}
	var err error
	if p.ast, err = parser.ParseFile(p.fset, "", text, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	var rest strings.Builder
	last := 0
	for _, d := range p.ast.Decls {
		f, isFunc := d.(*ast.FuncDecl)
		g, isGen := d.(*ast.GenDecl)
		switch {
		case isFunc && f.Body != nil:
			p.funcs = append(p.funcs, f)
		case isGen && g.Tok == token.IMPORT:
			for _, s := range g.Specs {
				p.imports = append(p.imports, text[p.offset(s.Pos()):p.offset(s.End())])
			}
		default:
			continue
		}
		rest.WriteString(text[last:p.offset(d.Pos())])
		last = p.offset(d.End())
	}
	rest.WriteString(text[last:])
	p.rest = rest.String()
	return p, nil
}

func (p *parsedFile) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

// header is a function's text up to its body.
func (p *parsedFile) header(text string, f *ast.FuncDecl) string {
	return text[p.offset(f.Pos()):p.offset(f.Body.Lbrace)]
}

func (p *parsedFile) text(text string, f *ast.FuncDecl) string {
	return text[p.offset(f.Pos()):p.offset(f.End())]
}

// variant is a mutant's change of a file: the functions that it changes, as copies.
type variant struct {
	file    string
	text    string // of the file as it is
	funcs   []int
	copies  []string
	imports []string
}

// add puts a mutant into the schema as number n, and reports whether it fits. Its texts are those of its files by where the go command
// looks for them, before and after.
func (s *schema) add(n int, before, after map[string]string) bool {
	var all []variant
	for _, file := range sortedFiles(after) {
		v, ok := variantOf(n, file, before[file], after[file])
		if !ok {
			return false
		}
		all = append(all, v)
	}
	for _, v := range all {
		f := s.files[v.file]
		if f == nil {
			parsed, err := parseFile(v.text)
			if err != nil {
				return false
			}
			f = &schemaFile{text: v.text, parsed: parsed, variant: map[int][]int{}}
			s.files[v.file] = f
		}
		for _, i := range v.funcs {
			f.variant[i] = append(f.variant[i], n)
		}
		f.copies = append(f.copies, v.copies...)
		for _, spec := range v.imports {
			if !slices.Contains(f.imports, spec) {
				f.imports = append(f.imports, spec)
			}
		}
	}
	return true
}

func sortedFiles(texts map[string]string) []string {
	var files []string
	for file := range texts { // order: sorted below
		files = append(files, file)
	}
	slices.Sort(files)
	return files
}

// variantOf compares a file with its mutated text.
func variantOf(n int, file, before, after string) (v variant, ok bool) {
	v = variant{file: file, text: before}
	a, err := parseFile(before)
	if err != nil {
		return v, false
	}
	b, err := parseFile(after)
	if err != nil || a.rest != b.rest || len(a.funcs) != len(b.funcs) {
		return v, false
	}
	for i, f := range a.funcs {
		g := b.funcs[i]
		if a.header(before, f) != b.header(after, g) {
			return v, false
		}
		if a.text(before, f) == b.text(after, g) {
			continue
		}
		if f.Name.Name == "init" || f.Name.Name == "_" {
			return v, false
		}
		name := b.offset(g.Name.Pos())
		v.funcs = append(v.funcs, i)
		v.copies = append(v.copies, after[b.offset(g.Pos()):name]+copyName(f, n)+after[name+len(g.Name.Name):b.offset(g.End())])
	}
	for _, spec := range b.imports {
		if !slices.Contains(a.imports, spec) {
			v.imports = append(v.imports, spec)
		}
	}
	return v, len(v.funcs) > 0
}

func copyName(f *ast.FuncDecl, n int) string { return fmt.Sprintf("%s__%d", f.Name.Name, n) }

// texts returns the files of the schema, by where the go command looks for them, with one more for each package.
func (s *schema) texts() map[string]string {
	texts := map[string]string{}
	for file, f := range s.files { // order: each has a file of its own
		texts[file] = f.merged()
		texts[filepath.Join(filepath.Dir(file), "mutant__.go")] = fmt.Sprintf(`package %s

import (
	"os"
	"strconv"
)

var %s, _ = strconv.Atoi(os.Getenv(%q))
`, f.parsed.ast.Name.Name, activeName, activeEnv)
	}
	return texts
}

// merged returns the file's text with its copies.
func (f *schemaFile) merged() string {
	text := f.text
	for i := len(f.parsed.funcs) - 1; i >= 0; i-- { // from the end, so that offsets stay
		if mutants := f.variant[i]; len(mutants) > 0 {
			text = f.choose(text, f.parsed.funcs[i], mutants)
		}
	}
	name := f.parsed.offset(f.parsed.ast.Name.End())
	for _, spec := range f.imports {
		text = text[:name] + "; import " + spec + text[name:]
	}
	return text + "\n" + strings.Join(f.copies, "\n\n") + "\n"
}

// choose makes a function begin with the choice of a copy.
func (f *schemaFile) choose(text string, d *ast.FuncDecl, mutants []int) string {
	names := &namer{file: f, decl: d}
	receiver := names.of(d.Recv)
	args := names.of(d.Type.Params)
	var choice strings.Builder
	for _, n := range mutants {
		call := copyName(d, n) + typeArgs(d) + "(" + strings.Join(args, ", ") + ")"
		if len(receiver) > 0 {
			call = receiver[0] + "." + call
		}
		if d.Type.Results == nil {
			call += "; return"
		} else {
			call = "return " + call
		}
		fmt.Fprintf(&choice, " if %s == %d { %s };", activeName, n, call)
	}
	edits := append(names.edits, textEdit{f.parsed.offset(d.Body.Lbrace) + 1, 0, choice.String()})
	slices.SortFunc(edits, func(a, b textEdit) int { return b.at - a.at })
	for _, e := range edits {
		text = text[:e.at] + e.insert + text[e.at+e.remove:]
	}
	return text
}

func typeArgs(d *ast.FuncDecl) string {
	if d.Type.TypeParams == nil {
		return ""
	}
	var names []string
	for _, field := range d.Type.TypeParams.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}

type textEdit struct {
	at, remove int
	insert     string
}

// namer gives names to parameters that have none, because a copy is called with them.
type namer struct {
	file  *schemaFile
	decl  *ast.FuncDecl
	given int
	edits []textEdit
}

// of returns the parameters of a list, as arguments.
func (n *namer) of(list *ast.FieldList) []string {
	if list == nil {
		return nil
	}
	var args []string
	for _, field := range list.List {
		dots := ""
		if _, variadic := field.Type.(*ast.Ellipsis); variadic {
			dots = "..."
		}
		if len(field.Names) == 0 {
			name := n.next()
			n.edits = append(n.edits, textEdit{n.file.parsed.offset(field.Type.Pos()), 0, name + " "})
			args = append(args, name+dots)
		}
		for _, ident := range field.Names {
			name := ident.Name
			if name == "_" {
				name = n.next()
				n.edits = append(n.edits, textEdit{n.file.parsed.offset(ident.Pos()), 1, name})
			}
			args = append(args, name+dots)
		}
	}
	return args
}

func (n *namer) next() string {
	n.given++
	return fmt.Sprintf("p__%d", n.given)
}

var (
	compileError = regexp.MustCompile(`(\d+-[^/\\:\s]+\.go):(\d+):`)
	copyHead     = regexp.MustCompile(`^func .*?__(\d+)[\[(]`)
)

// inMessage returns the mutants whose copies a compiler's message is about. The texts are those of an overlay.
func inMessage(texts map[string]string, message string) (mutants []int) {
	lines := map[string][]string{}
	for n, file := range sortedFiles(texts) {
		lines[overlayName(n, file)] = strings.Split(texts[file], "\n")
	}
	for _, m := range compileError.FindAllStringSubmatch(message, -1) {
		number, _ := strconv.Atoi(m[2])
		text := lines[m[1]]
		for l := min(number, len(text)) - 1; l >= 0; l-- {
			if head := copyHead.FindStringSubmatch(text[l]); head != nil {
				n, _ := strconv.Atoi(head[1])
				mutants = append(mutants, n)
			}
			if strings.HasPrefix(text[l], "func ") {
				break
			}
		}
	}
	return mutants
}
