package sim

import "math"

// lineScanner reads the lines of a trace in exactly the form that TraceWriter writes, in a tenth of the time that
// encoding/json takes. It gives up on anything else (escapes, other spacing, another order of fields) and leaves the line to
// encoding/json to accept or refuse, so it has no say in what a trace may contain.
type lineScanner struct {
	rest  []byte
	ok    bool
	names map[string]string // interned actors and kinds
}

// maxNames bounds names, in case the file is not a trace.
const maxNames = 4096

func (p *lineScanner) step(line []byte, s *TraceStep) bool {
	p.rest, p.ok = line, true
	p.want(`{"s":`)
	s.Step = p.uint(math.MaxInt64)
	p.want(`,"t":`)
	s.At = p.int()
	p.want(`,"a":`)
	s.Actor = p.name()
	p.want(`,"k":`)
	s.Kind = p.name()
	if p.has(`,"g":`) {
		s.Target = uint32(p.uint(math.MaxUint32))
	}
	p.want(`,"q":`)
	s.Seq = uint32(p.uint(math.MaxUint32))
	if p.has(`,"d":[`) {
		s.Draws = append(s.Draws, string(p.text()))
		for p.ok && p.has(`,`) {
			s.Draws = append(s.Draws, string(p.text()))
		}
		p.want(`]`)
	}
	p.want(`,"h":`)
	s.Hash = string(p.text())
	p.want(`}`)
	return p.ok && len(p.rest) == 0
}

func (p *lineScanner) record(line []byte, r *TraceRecord) bool {
	p.rest, p.ok = line, true
	p.want(`{"r":`)
	r.Kind = p.name()
	p.want(`,"a":`)
	r.Actor = p.name()
	if p.has(`,"t":`) {
		at := p.int()
		r.At = &at
	}
	if p.has(`,"key":`) {
		r.Key = string(p.text())
	}
	if p.has(`,"rv":`) {
		r.RV = p.int()
	}
	if p.has(`,"n":`) {
		r.N = p.int()
	}
	if p.has(`,"x":`) {
		r.Detail = p.name() // few different ones, often repeated
	}
	if p.has(`,"note":`) {
		r.Note = p.name()
	}
	p.want(`}`)
	return p.ok && len(p.rest) == 0
}

func (p *lineScanner) has(s string) bool {
	if len(p.rest) < len(s) || string(p.rest[:len(s)]) != s {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *lineScanner) want(s string) {
	if !p.has(s) {
		p.ok = false
	}
}

// uint reads a JSON number of at most limit.
func (p *lineScanner) uint(limit uint64) uint64 {
	var v uint64
	n := 0
	for n < len(p.rest) && n < 20 && p.rest[n]-'0' <= 9 {
		v = v*10 + uint64(p.rest[n]-'0')
		n++
	}
	if n == 0 || n == 20 || v > limit || (n > 1 && p.rest[0] == '0') { // 19 digits fit
		p.ok = false
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *lineScanner) int() int64 {
	if p.has("-") {
		return -int64(p.uint(math.MaxInt64))
	}
	return int64(p.uint(math.MaxInt64))
}

// text reads an ASCII string without escapes. The result aliases the line.
func (p *lineScanner) text() []byte {
	if len(p.rest) == 0 || p.rest[0] != '"' {
		p.ok = false
		return nil
	}
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			s := p.rest[1:i]
			p.rest = p.rest[i+1:]
			return s
		case c < ' ' || c == '\\' || c >= 0x80:
			p.ok = false
			return nil
		}
	}
	p.ok = false
	return nil
}

// name reads and interns a string.
func (p *lineScanner) name() string {
	b := p.text()
	if s, known := p.names[string(b)]; known {
		return s
	}
	s := string(b)
	if len(p.names) < maxNames && len(s) < 256 {
		if p.names == nil {
			p.names = map[string]string{}
		}
		p.names[s] = s
	}
	return s
}

// decodeStep decodes the line of a step.
func (p *lineScanner) decodeStep(line []byte, s *TraceStep) error {
	if p.step(line, s) {
		return nil
	}
	*s = TraceStep{Line: s.Line}
	return decodeLine(line, s)
}

// decodeRecord decodes the line of a record.
func (p *lineScanner) decodeRecord(line []byte, r *TraceRecord) error {
	if p.record(line, r) {
		return nil
	}
	*r = TraceRecord{}
	return decodeLine(line, r)
}
