package render

import (
	"bytes"
	"encoding/json"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Status returns the Status of an error: the one that it carries, or a 500 without a reason (S2, S30).
func Status(err error) *metav1.Status {
	carrier, ok := err.(apierrors.APIStatus)
	if !ok {
		return &metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
		}
	}
	s := carrier.Status()
	if s.Status == "" {
		s.Status = metav1.StatusFailure
	}
	if s.Code == 0 {
		s.Code = http.StatusInternalServerError
		if s.Status == metav1.StatusSuccess {
			s.Code = http.StatusOK
		}
	}
	return typedStatus(&s)
}

func typedStatus(s *metav1.Status) *metav1.Status {
	c := *s
	c.Kind, c.APIVersion = "Status", "v1"
	return &c
}

// Answer is a whole answer apart from headers that depend on the request.
type Answer struct {
	Code        int
	ContentType string
	// RetryAfterSeconds is the Retry-After header; 0 for none.
	RetryAfterSeconds int
	Body              []byte
}

// Error returns the answer to an error in the requested form. Where only a view of an object was requested, which errors lack, it
// is indented JSON.
func (a Ask) Error(err error) Answer {
	status := Status(err)
	answer := Answer{Code: int(status.Code)}
	if status.Details != nil {
		answer.RetryAfterSeconds = int(status.Details.RetryAfterSeconds)
	}
	f, negotiateErr := a.NegotiatePlain()
	if negotiateErr == nil {
		if body, encodeErr := f.Encode(status); encodeErr == nil {
			answer.ContentType, answer.Body = f.ContentType(), body
			return answer
		}
	}
	answer.ContentType, answer.Body = types.JSON, rawJSON(status)
	return answer
}

// rawJSON returns indented JSON without a final newline.
func rawJSON(v any) []byte {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSuffix(data, []byte("\n"))
}
