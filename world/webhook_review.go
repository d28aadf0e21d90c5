package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/fakeapiserver/admission"
	"github.com/informersim/informersim/fakeapiserver/rest"
)

// errPaused stops work that needs an answer which is not there yet. Nobody sees it: the work is done again.
var errPaused = errors.New("a webhook has not answered yet")

// hookReview is a rest.AdmissionReview whose answers come one by one.
type hookReview struct {
	h      *webhooks
	review *admission.Review
	write  *rest.AdmissionWrite
	resume func() // does the paused work again

	answers   []*hookAnswer // of the webhooks that may change the object, in their order
	mutated   *verdict
	asked     []*inquiry // of those that may refuse it
	policies  []string   // what policies warn of
	open      int        // how many of them have not answered
	arrived   int
	validated *verdict
}

// verdict is the result of a phase.
type verdict struct {
	obj      *unstructured.Unstructured
	warnings []string
	err      error
}

// inquiry is what one validating webhook is asked, and has answered.
type inquiry struct {
	validator *admission.Validator
	answers   []*hookAnswer
	order     int // in which it has answered; 0 without a call
}

// Mutate implements rest.AdmissionReview. Webhooks that may change the object are called one after the other.
func (r *hookReview) Mutate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	if r.mutated == nil {
		v, next := r.run(r.answers, obj, func(obj *unstructured.Unstructured, s *hookScript) ([]string, error) {
			return r.review.Mutate(context.WithValue(ctx, scriptKey{}, s), obj, old)
		})
		if next != nil {
			r.h.paused = r
			r.h.call(next, r.write, func(a *hookAnswer) {
				a.uid = next.uid
				r.answers = append(r.answers, a)
				r.resume()
			})
			return nil, errPaused
		}
		r.mutated = v
	}
	if obj != nil && r.mutated.err == nil {
		obj.Object = r.mutated.obj.DeepCopy().Object
	}
	return r.mutated.warnings, r.mutated.err
}

// Validate implements rest.AdmissionReview. All webhooks are called at the same time, and the first that refuses is quoted once all have answered.
func (r *hookReview) Validate(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	if r.validated != nil {
		return r.validated.warnings, r.validated.err
	}
	ask := func(q *inquiry) (*verdict, *question) {
		return r.run(q.answers, obj, func(obj *unstructured.Unstructured, s *hookScript) ([]string, error) {
			return r.review.Ask(context.WithValue(ctx, scriptKey{}, s), q.validator, obj, old)
		})
	}
	if r.asked == nil {
		warnings, err := r.review.ValidatePolicies(ctx, obj, old)
		if err != nil {
			r.validated = &verdict{warnings: warnings, err: err}
			return warnings, err
		}
		r.policies = warnings
		all, err := r.review.Validators()
		if err != nil {
			return nil, err
		}
		r.asked = make([]*inquiry, len(all))
		for i, v := range all {
			q := &inquiry{validator: v}
			r.asked[i] = q
			if _, next := ask(q); next != nil {
				r.open++
				r.h.call(next, r.write, func(a *hookAnswer) {
					a.uid = next.uid
					r.open--
					r.arrived++
					q.answers, q.order = append(q.answers, a), r.arrived
					if r.open == 0 {
						r.resume()
					}
				})
			}
		}
	}
	if r.open > 0 {
		r.h.paused = r
		return nil, errPaused
	}
	result := &verdict{warnings: r.policies}
	slices.SortStableFunc(r.asked, func(a, b *inquiry) int { return cmp.Compare(a.order, b.order) })
	for _, q := range r.asked {
		v, _ := ask(q)
		result.warnings = append(result.warnings, v.warnings...)
		if result.err == nil {
			result.err = v.err
		}
	}
	r.validated = result
	return result.warnings, result.err
}

// run runs a plugin with the answers that are there. If it needs another one, it returns the question instead of a verdict.
func (r *hookReview) run(answers []*hookAnswer, obj *unstructured.Unstructured, plugin func(*unstructured.Unstructured, *hookScript) ([]string, error)) (*verdict, *question) {
	s := &hookScript{webhooks: r.h, answers: answers}
	if obj != nil {
		obj = obj.DeepCopy()
	}
	warnings, err := plugin(obj, s)
	if s.next != nil {
		return nil, s.next
	}
	return &verdict{obj, warnings, s.plain(err)}, nil
}

// scriptKey finds the hookScript in a request's context.
type scriptKey struct{}

// hookScript is one run of a plugin: the answers that it gets, and the question that it stops at.
type hookScript struct {
	webhooks *webhooks
	answers  []*hookAnswer
	given    int
	next     *question
	uids     []string // pairs for strings.NewReplacer: the plugin's uids, which are random, and ours
}

// question is a call that a plugin wants to make.
type question struct {
	number int64
	uid    string
	url    *url.URL
	header http.Header
	body   []byte
}

// plain removes what is random from an error.
func (s *hookScript) plain(err error) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) && len(s.uids) > 0 {
		e := *status
		e.ErrStatus.Message = strings.NewReplacer(s.uids...).Replace(e.ErrStatus.Message)
		return &e
	}
	return err
}

// hookTransport carries calls of plugins to their hookScript.
type hookTransport struct{}

// RoundTrip implements http.RoundTripper.
func (hookTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s, ok := r.Context().Value(scriptKey{}).(*hookScript)
	if !ok {
		return nil, errors.New("this call of a webhook belongs to no write; this is a bug in informersim")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
		return nil, fmt.Errorf("a call of a webhook without a request: %w", err)
	}
	random := string(review.Request.UID)
	if s.next == nil && s.given < len(s.answers) {
		a := s.answers[s.given]
		s.given++
		if s.uids = append(s.uids, random, a.uid); a.err != nil {
			return nil, a.err
		}
		return a.response(r, io.NopCloser(bytes.NewReader(bytes.ReplaceAll(a.body, []byte(a.uid), []byte(random))))), nil
	}
	if s.next == nil {
		h := s.webhooks
		h.last++
		uid := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(h.w.seed), h.last)
		s.next = &question{number: h.last, uid: uid, url: r.URL, header: r.Header.Clone(), body: bytes.ReplaceAll(body, []byte(random), []byte(uid))}
	}
	// What the plugin makes of this does not count.
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	answer, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	allowed := &hookAnswer{code: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}}
	return allowed.response(r, io.NopCloser(bytes.NewReader(answer))), nil
}

// summaryOf says in a few words what a webhook's answer means.
func summaryOf(body []byte) string {
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil || review.Response == nil {
		return "no AdmissionReview"
	}
	what := "denied"
	if review.Response.Allowed {
		what = "allowed"
	}
	if r := review.Response.Result; r != nil && r.Message != "" {
		what += ": " + r.Message
	}
	if len(review.Response.Patch) > 0 {
		what += ", with a patch"
	}
	return what
}
