package fakeapiserver

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Asked is what a list or watch asks for: what the Detail of its KindRequest says in words. It must not be changed.
type Asked struct {
	Watch     bool // a list otherwise
	Namespace string
	// Continue is where a list goes on, "3:default/b" for after default/b in the list at revision 3; "" at its beginning.
	Continue string
	Options  *metav1.ListOptions
}

// asked returns what the request asks for, nil for a get or a write.
func (c *call) asked() *Asked {
	if c.verb == verbWrite || c.single {
		return nil
	}
	c.asks = Asked{Watch: c.verb == verbWatch, Namespace: c.namespace, Continue: describeContinue(c.options.Continue), Options: &c.options}
	return &c.asks
}

// Streaming reports whether it is a streaming list.
func (a *Asked) Streaming() bool {
	return a.Watch && a.Options.SendInitialEvents != nil && *a.Options.SendInitialEvents
}

// Initial reports whether it is a watch that begins with the current state, in the order of keys (I101).
func (a *Asked) Initial() bool {
	rv := a.Options.ResourceVersion
	return a.Watch && (a.Streaming() || rv == "" || rv == "0")
}

// Selects reports whether it has a selector.
func (a *Asked) Selects() bool { return a.Options.LabelSelector != "" || a.Options.FieldSelector != "" }
