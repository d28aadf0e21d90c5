package pipe

import (
	"errors"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/world/wire"
)

// The kinds of messages.
const (
	Hello  = 'V'
	Begin  = 'B'
	Do     = 'D'
	Report = 'R'
	End    = 'E'
	Ended  = 'X'
)

// The orders of Do, each a method of gates.Gates with its arguments. Those that return something have a result.
const (
	DoSeed        = 's'
	DoQuiesce     = 'q' // result: none
	DoPass        = 't' // result: the duration
	DoGoroutines  = 'g' // result: texts
	DoInformer    = 'i' // the spec as JSON; result: error
	DoHandler     = 'h' // result: error
	DoRemove      = 'x' // result: error
	DoStart       = 'S' // result: error, delta, atomic, resync
	DoStop        = 'X'
	DoPop         = 'p'
	DoRescan      = 'R'
	DoAnswer      = 'a'
	DoFrame       = 'f'
	DoThrough     = 'T'
	DoReturn      = 'r'
	DoDrop        = 'd'
	DoQueueKeys   = 'k' // result: texts
	DoLastSync    = 'l' // result: text
	DoRevision    = 'L' // result: text
	DoKeys        = 'K' // result: texts
	DoGet         = 'G' // result: object
	DoIndex       = 'I' // the spec as JSON; result: error
	DoIndexValues = 'v' // result: texts
	DoIndexKeys   = 'V' // result: texts
	DoOutcomes    = 'O' // result: the outcomes as JSON
	DoLibrary     = 'b' // the turn; result: the outcomes as JSON
	DoRead        = 'e' // the reading as JSON; result: error, how many objects, the objects
	DoQueue       = 'w' // the spec as JSON; result: none
	DoAdd         = 'A' // result: none
	DoAdmit       = 'm'
	DoFinish      = 'F'
	DoShutDown    = 'D'
	DoDrain       = 'W'
)

// How a bubble ended, in Ended.
const (
	Well   = iota
	Wrong  // an error of the guest's own
	Failed // and the failure's kind is added
)

const (
	otherError  = 0 // as package wire sends it
	statusError = 1 // an answer of the apiserver, as JSON
	endOfStream = 2 // io.EOF, which client-go compares
)

// AddError adds an error, which may be nil. An apiserver's answer arrives as one.
func AddError(p *wire.Packet, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		p.Byte(statusError).JSON(status.Status())
		return
	}
	if err == io.EOF {
		p.Byte(endOfStream)
		return
	}
	p.Byte(otherError).Error(err)
}

// ReadError reads an error.
func ReadError(m *wire.Message) error {
	switch m.Byte() {
	case statusError:
		e := &apierrors.StatusError{}
		m.JSON(&e.ErrStatus)
		return e
	case endOfStream:
		return io.EOF
	}
	return m.Error()
}

// AddTexts adds texts.
func AddTexts(p *wire.Packet, texts []string) {
	p.Num(int64(len(texts)))
	for _, t := range texts {
		p.Text(t)
	}
}

// ReadTexts reads texts.
func ReadTexts(m *wire.Message) []string {
	var texts []string
	for n := m.Num(); n > 0 && m.Err() == nil; n-- {
		texts = append(texts, m.Text())
	}
	return texts
}

// addStatus adds the object of a watch's ERROR event.
func addStatus(p *wire.Packet, s *metav1.Status) { p.Byte(objectStatus).JSON(s) }
