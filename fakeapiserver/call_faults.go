package fakeapiserver

import (
	"errors"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// applyFault hits the request or watch with a fault.
func (c *call) applyFault(spec *fault.Spec, f fault.Fault) {
	c.client.cluster.emitFault(f.Kind, c.client.name)
	switch {
	case spec.Stage == fault.OnStream:
		c.watch.applyFault(f)
	case spec.Stage == fault.OnFrame:
		c.watch.frameFault = &frameFault{fault: f}
	default:
		c.fault = &f
		c.spent.hit(f.Kind)
		switch {
		case c.state == stateAnswered && c.answerDelayed():
			c.withdraw()
			c.delayAnswer()
		case c.state == stateSubmitted && f.Kind == fault.WriteLate:
			c.holdBack()
		}
	}
	c.client.offerFaults()
}

// answerDelayed reports whether the request's fault is a slow answer.
func (c *call) answerDelayed() bool {
	return c.fault != nil && fault.SetOf(c.fault.Kind)&slowMask != 0
}

// delayAnswer releases the answer after the fault's duration.
func (c *call) delayAnswer() {
	f := c.fault
	c.client.cluster.expireAfter(f.Duration, func() {
		if c.fault == f {
			c.clearFault()
		}
	})
}

// holdBack keeps the request from its replica for the fault's duration, once at most: a fault that hits all would keep it for ever.
func (c *call) holdBack() {
	c.withdraw()
	c.state, c.replica, c.heldBack = stateSubmitted, nil, true
	f := c.fault
	c.client.cluster.expireAfter(f.Duration, func() {
		if c.fault == f {
			c.clearFault()
		}
	})
}

// clearFault ends the request's fault.
func (c *call) clearFault() {
	delayed, late := c.answerDelayed(), c.fault != nil && c.fault.Kind == fault.WriteLate
	c.fault = nil
	switch {
	case delayed && c.state == stateAnswered:
		c.offer(KindRespond)
	case late && c.state == stateSubmitted:
		c.offer(KindAdmit)
		c.client.offerFaults()
	}
}

// applyRequestFault applies a fault that hits the request before it is served, and reports whether the fault answered it.
func (c *call) applyRequestFault() bool {
	if c.fault == nil {
		return false
	}
	spec := fault.SpecOf(c.fault.Kind)
	switch {
	case spec.Set()&answerMask != 0:
		return false
	case spec.Kind == fault.WriteLate:
		c.holdBack()
		return true
	case spec.Kind == fault.WriteOvertaken:
		c.client.cluster.overtake(c)
		return false
	case asOf(c.fault) > 0:
		return false // planList looks
	case spec.Kind == fault.ListStale || spec.Kind == fault.WatchOpenStale:
		c.replica = c.client.cluster.stalestReplica(c)
		return false
	case spec.Kind == fault.WatchOpenTooLarge:
		c.refuseTooLarge()
		return true
	}
	c.answer(c.faultError(spec))
	return true
}

// refuseTooLarge opens the watch with an ERROR as its only event (S16).
func (c *call) refuseTooLarge() {
	cache := c.replica.caches[c.res]
	rev, err := store.ParseRevision(c.options.ResourceVersion)
	if err != nil || rev == 0 {
		rev = c.client.cluster.store.Revision() + 1
	}
	s := &stream{call: c, cache: cache, filter: filter{resource: c.client.cluster.store.Resource(c.res)}}
	s.refuse(errTooLarge(rev, min(rev-1, cache.rev)))
}

// applyAnswerFault drops the answer if the request's fault is one of answers.
func (c *call) applyAnswerFault() {
	switch {
	case c.fault == nil || c.answerDelayed():
		return
	case c.fault.Kind == fault.ListTorn:
		c.tear()
		return
	}
	if spec := fault.SpecOf(c.fault.Kind); spec.Set()&answerMask != 0 {
		if c.watch != nil {
			c.watch.detach()
		}
		c.page, c.obj, c.watch, c.err = nil, nil, nil, c.faultError(spec)
	}
}

// matches reports whether the fault's filters select the request.
func (c *call) matches(f *fault.Fault) bool {
	bare := func(s string) string { return strings.TrimPrefix(s, "conn/") }
	switch {
	case f.Target != "" && bare(f.Target) != bare(c.client.name):
		return false
	case f.Replica != "" && (c.replica == nil || f.Replica != c.replica.name && f.Replica != strings.TrimPrefix(c.replica.name, "replica/")):
		return false
	case f.Verb != "" && f.Verb != c.verbName():
		return false
	}
	if f.Resource != "" {
		if r := c.client.cluster.store.Resource(c.res); r == nil || r.Plural != f.Resource {
			return false
		}
	}
	if fault.SpecOf(f.Kind).Stage == fault.OnFrame {
		return true // the frame's object decides
	}
	if f.Namespace == "" && f.Name == "" {
		return true
	}
	namespace, name := c.objectName()
	return (f.Namespace == "" || f.Namespace == namespace) && (f.Name == "" || f.Name == name)
}

// maySuffer reports whether a fault can hit the request or watch now.
func (c *call) maySuffer(spec *fault.Spec, f *fault.Fault) bool {
	if rev := asOf(f); rev > 0 {
		return c.verb == verbList && c.fault == nil && (c.state == stateSubmitted || c.admitting) && c.mayBeAsOf(rev)
	}
	return c.eligibleFaults()&spec.Set() != 0
}

// asOf returns the revision as of which a fault has lists answered, 0 if it does not.
func asOf(f *fault.Fault) int64 {
	if f == nil || f.Kind != fault.ListStale {
		return 0
	}
	return f.Revision
}

// eligibleFaults returns the set of faults that can hit the request or watch now.
func (c *call) eligibleFaults() fault.Set {
	switch {
	case c.state == stateOpen:
		return c.watch.eligibleFaults()
	case c.fault != nil || c.state == stateFinished:
		return 0
	}
	before, after := fault.OnList, fault.OnListAnswer
	switch c.verb {
	case verbWatch:
		before, after = fault.OnOpen, fault.OnOpenAnswer
	case verbWrite:
		before, after = fault.OnWrite, fault.OnWriteAnswer
	}
	if c.state != stateSubmitted && !c.admitting {
		return fault.At(after)
	}
	m := fault.At(before) | fault.At(after)
	if c.heldBack {
		m &^= lateMask
	}
	switch c.verb {
	case verbList:
		o := &c.options
		fromAny := o.ResourceVersion == "" || o.ResourceVersion == "0"
		if fromAny {
			m &^= tooLargeMask
			if o.Continue == "" {
				m &^= goneMask
			}
		}
		if !c.mayBeStale() {
			m &^= staleMask
		}
	case verbWrite:
		if c.overtakable() == nil {
			m &^= overtakenMask
		}
	case verbWatch:
		if send := c.options.SendInitialEvents; send == nil || !*send || c.client.cluster.options.NoWatchList || c.client.cluster.store.Resource(c.res) == nil {
			m &^= openTooLargeMask
		}
	}
	return m
}

var (
	blockingMask     = fault.SetOf(fault.WatchStall, fault.WatchHalfOpen, fault.WatchDelay)
	staleMask        = fault.SetOf(fault.ListStale)
	goneMask         = fault.SetOf(fault.List410)
	tooLargeMask     = fault.SetOf(fault.ListTooLarge)
	openTooLargeMask = fault.SetOf(fault.WatchOpenTooLarge)
	bookmarkMask     = fault.SetOf(fault.WatchBookmarkLost, fault.WatchBookmarkLate, fault.WatchNoEndBookmark, fault.WatchEndUnmarked, fault.WatchBookmarkEarly)
	noEndMask        = fault.SetOf(fault.WatchNoEndBookmark, fault.WatchEndUnmarked, fault.WatchBookmarkEarly)
	slowMask         = fault.SetOf(fault.ListSlow, fault.WatchOpenSlow, fault.WriteSlow)
	overtakenMask    = fault.SetOf(fault.WriteOvertaken)
	lateMask         = fault.SetOf(fault.WriteLate)
	answerMask       = fault.At(fault.OnListAnswer) | fault.At(fault.OnOpenAnswer) | fault.At(fault.OnWriteAnswer)
)

// triggerByRequest fires the triggers that wait for the request.
func (c *call) triggerByRequest() {
	if len(c.client.cluster.triggers) == 0 {
		return
	}
	namespace, name := c.objectName()
	key := name
	if namespace != "" && name != "" {
		key = namespace + "/" + name
	}
	c.client.cluster.fireTriggers(fault.TriggerRequest, c.client, c.res, key, c.verbName())
}

// faultError returns the error with which the request's fault answers it.
func (c *call) faultError(spec *fault.Spec) error {
	retry := c.fault.RetrySeconds()
	var err *apierrors.StatusError
	switch spec.Code {
	case http.StatusGone:
		if c.options.Continue != "" {
			return errContinueExpired(c.inconsistentToken())
		}
		return errCompacted()
	case http.StatusTooManyRequests:
		return apierrors.NewTooManyRequests("Too many requests, please try again later.", max(retry, 1))
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("apiserver not ready")
	case http.StatusGatewayTimeout:
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", retry)
	default:
		return c.connectionError(spec)
	}
	if retry > 0 {
		if err.ErrStatus.Details == nil {
			err.ErrStatus.Details = &metav1.StatusDetails{}
		}
		err.ErrStatus.Details.RetryAfterSeconds = int32(retry)
	}
	return err
}

// connectionError returns the error with which the request's fault breaks its connection.
func (c *call) connectionError(spec *fault.Spec) error {
	switch spec.Kind {
	case fault.WatchOpenRefused, fault.ListRefused, fault.WriteRefused:
		return errRefused
	case fault.ListLost, fault.WriteLost, fault.WatchOpenLost:
		return io.ErrUnexpectedEOF
	case fault.ListTooLarge:
		want, _ := store.ParseRevision(c.options.ResourceVersion) // valid: this fault hits only lists at a revision
		return errTooLarge(want, min(want-1, c.replica.Revision(c.res)))
	}
	return errReset
}

// inconsistentToken returns the token with which the request's list may continue at another revision.
func (c *call) inconsistentToken() string {
	t, err := decodeContinue(c.options.Continue)
	if err != nil {
		return ""
	}
	return encodeContinue(inconsistent, t.Start)
}
