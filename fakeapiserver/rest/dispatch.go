package rest

import (
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// dispatch makes the checks that need no state, then hands the request to its verb.
func (c *call) dispatch(query url.Values) (cancel func()) {
	if sub := c.target.subresource; sub != "" {
		if c.resource.Subresource(sub) == nil {
			return c.atReplica(func() { c.fail(apierrors.NewNotFound(c.resource.GroupResource(), c.target.name)) })
		}
		if !c.resource.Allows(string(c.verb), sub) {
			return c.atReplica(func() { c.fail(apierrors.NewMethodNotSupported(c.resource.GroupResource(), string(c.verb))) })
		}
	}
	if c.resource.Deprecated != "" {
		c.warnings = append(c.warnings, c.resource.Deprecated)
	}
	if c.connects() && c.target.subresource != "log" { // a log is read like an object
		return c.atReplica(func() { c.connect(query) })
	}
	if err := negotiate(c); err != nil {
		return c.atReplica(func() { c.fail(err) })
	}
	if c.connects() {
		return c.atReplica(func() { c.connect(query) })
	}
	if has(query, "export") && queryBool(query["export"]) {
		return c.atReplica(func() {
			c.fail(apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported"))
		})
	}
	if cancel, ok := c.asComponents(query); ok {
		return cancel
	}
	switch c.verb {
	case verbGet:
		return c.get(query)
	case verbList:
		return c.list(query)
	case verbWatch:
		return c.watch(query)
	case verbCreate:
		if c.acts() {
			return c.atReplica(func() { c.act(query) })
		}
		return c.write(func() (*plan, error) { return c.create(query) })
	case verbUpdate:
		return c.write(func() (*plan, error) { return c.update(query) })
	case verbPatch:
		return c.write(func() (*plan, error) { return c.patch(query) })
	case verbDelete:
		return c.asDelete(query)
	default:
		return c.asDeleteCollection(query)
	}
}
