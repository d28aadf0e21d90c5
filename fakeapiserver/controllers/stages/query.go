package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/itchyny/gojq"
)

// query is a jq expression.
type query struct {
	text string
	code *gojq.Code
}

// forbidden hides what would not be the same in every run.
const forbidden = `def no: error("not available: it would not be the same in every run"); def now: no; def localtime: no; `

// compile compiles a jq expression.
func compile(text string) (*query, error) {
	if _, err := gojq.Parse(text); err != nil {
		return nil, fmt.Errorf("%q is no jq expression: %w", text, err)
	}
	parsed, err := gojq.Parse(forbidden + text)
	if err != nil {
		return nil, fmt.Errorf("%q is no jq expression: %w", text, err)
	}
	code, err := gojq.Compile(parsed, gojq.WithEnvironLoader(func() []string { return nil }))
	if err != nil {
		return nil, fmt.Errorf("%q is no jq expression: %w", text, err)
	}
	return &query{text, code}, nil
}

func compileFrom(field string, from *fromExpr) (*query, error) {
	if from == nil || from.ExpressionFrom == "" {
		return nil, nil
	}
	q, err := compile(from.ExpressionFrom)
	if err != nil {
		return nil, fmt.Errorf("%s.expressionFrom: %w", field, err)
	}
	return q, nil
}

// run returns what the expression yields for an object, without nulls. An expression that fails, since the object does not have what it
// asks for, yields nothing.
func (q *query) run(object map[string]any) (all []any) {
	for it := q.code.RunWithContext(&budget{context.Background(), maxInstructions}, object); ; {
		v, more := it.Next()
		if !more || len(all) == maxResults {
			return all
		}
		if _, failed := v.(error); failed {
			return nil
		}
		if v != nil {
			all = append(all, v)
		}
	}
}

// first returns the first text or number that the expression yields; "" if there is none.
func (q *query) first(object map[string]any) string {
	for _, v := range q.run(object) {
		return textOf(v)
	}
	return ""
}

// maxResults and maxInstructions end expressions that yield or compute for ever.
const (
	maxResults      = 1000
	maxInstructions = 1_000_000
)

// budget is a context that ends after so many instructions: gojq asks for its channel before each.
type budget struct {
	context.Context
	left int
}

var spent = func() <-chan struct{} {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx.Done()
}()

func (b *budget) Done() <-chan struct{} {
	if b.left--; b.left < 0 {
		return spent
	}
	return nil
}

func (b *budget) Err() error { return errors.New("it takes too long") }

func textOf(v any) string {
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		return fmt.Sprint(int64(f))
	}
	return fmt.Sprint(v)
}

// requirement is a condition on what an expression yields.
type requirement struct {
	key      *query
	operator string
	values   []string
}

func newRequirement(m manifestRequirement) (r requirement, err error) {
	switch m.Operator {
	case "In", "NotIn":
		if len(m.Values) == 0 {
			return r, fmt.Errorf("operator %s needs values", m.Operator)
		}
	case "Exists", "DoesNotExist":
		if len(m.Values) > 0 {
			return r, fmt.Errorf("operator %s takes no values", m.Operator)
		}
	default:
		return r, fmt.Errorf("operator is %q: want In, NotIn, Exists or DoesNotExist", m.Operator)
	}
	if m.Key == "" {
		return r, errors.New("key is missing")
	}
	r = requirement{operator: m.Operator, values: m.Values}
	r.key, err = compile(m.Key)
	return r, err
}

func (r *requirement) matches(object map[string]any) bool {
	found := r.key.run(object)
	in := slices.ContainsFunc(found, func(v any) bool { return slices.Contains(r.values, textOf(v)) })
	switch r.operator {
	case "In":
		return in
	case "NotIn":
		return !in
	case "Exists":
		return len(found) > 0
	}
	return len(found) == 0
}
