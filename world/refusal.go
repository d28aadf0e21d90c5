package world

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusal is the server's answer to a write that it refused.
type refusal struct {
	code   int
	reason metav1.StatusReason
	text   string
}

// Error implements error.
func (r *refusal) Error() string {
	if r.reason == "" {
		return fmt.Sprintf("%d: %s", r.code, r.text)
	}
	return fmt.Sprintf("%d %s: %s", r.code, r.reason, r.text)
}

// refusalOf reads an answer.
func refusalOf(s *sink) *refusal {
	var st metav1.Status
	if json.Unmarshal(s.body, &st) != nil || st.Message == "" {
		return &refusal{code: s.code, text: strings.TrimSpace(string(s.body))}
	}
	return &refusal{s.code, st.Reason, st.Message}
}
