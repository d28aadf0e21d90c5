package render

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Ask describes the form in which a request wants its answer.
type Ask struct {
	Accept, UserAgent string
	Query             url.Values
}

// Format is the form of an answer.
type Format struct {
	// MediaType is types.JSON, types.YAML or types.Protobuf.
	MediaType string
	// Pretty is indented JSON without a final newline (S38).
	Pretty bool
	// As is the kind that an object is shown as; empty for its own.
	As schema.GroupVersionKind
}

// mediaTypes are the supported media types, the default first.
var mediaTypes = []string{types.JSON, types.YAML, types.Protobuf}

// allowed reports whether a media type may be used for a kind of view, in a version of the kinds that the server itself defines, such
// as tables; empty for any.
type allowed func(mediaType string, as *schema.GroupVersionKind, server string) bool

// Negotiate returns the format of an answer about a resource: the first in the Accept header that the resource supports, 406 if
// there is none. Custom resources have no protobuf, Tables have none at all.
func (a Ask) Negotiate(r *types.Resource, subresource string) (Format, error) {
	return a.negotiate(func(mediaType string, as *schema.GroupVersionKind, server string) bool {
		switch {
		case server != "" && server != metav1.SchemeGroupVersion.Version:
			return false
		case as == nil:
			return mediaType != types.Protobuf || r == nil || !r.Custom
		case as.GroupVersion() != metav1.SchemeGroupVersion && as.GroupVersion() != metav1beta1.SchemeGroupVersion:
			return false
		}
		switch as.Kind {
		case "Table":
			return mediaType != types.Protobuf && printed(r, subresource)
		case "PartialObjectMetadata", "PartialObjectMetadataList":
			return true
		}
		return false
	})
}

// printer is implemented by strategies that do not show everything as a Table.
type printer interface {
	// Prints reports whether there is a Table of the resource or subresource.
	Prints(subresource string) bool
}

// printed reports whether there is a Table of a (sub)resource.
func printed(r *types.Resource, subresource string) bool {
	if r == nil {
		return true
	}
	p, ok := r.Strategy.(printer)
	return !ok || p.Prints(subresource)
}

// NegotiatePlain returns the format of an answer without a resource, as for discovery and errors: it has no views.
func (a Ask) NegotiatePlain() (Format, error) {
	return a.negotiate(func(_ string, as *schema.GroupVersionKind, server string) bool { return as == nil && server == "" })
}

func (a Ask) negotiate(ok allowed) (Format, error) {
	if a.Accept == "" {
		return Format{MediaType: mediaTypes[0], Pretty: a.pretty()}, nil
	}
	for _, clause := range goautoneg.ParseAccept(a.Accept) {
		for _, mediaType := range mediaTypes {
			if f, good := match(clause, mediaType, ok); good {
				f.Pretty = mediaType == types.JSON && (f.Pretty || a.pretty())
				return f, nil
			}
		}
	}
	return Format{}, notAcceptable("only the following media types are accepted: " + strings.Join(mediaTypes, ", "))
}

// match reports whether a clause of an Accept header can be answered in a media type.
func match(clause goautoneg.Accept, mediaType string, ok allowed) (Format, bool) {
	kind, sub, _ := strings.Cut(mediaType, "/")
	if clause.Type != "*" && clause.Type != kind || clause.SubType != "*" && (clause.Type == "*" || clause.SubType != sub) {
		return Format{}, false
	}
	f := Format{MediaType: mediaType}
	var as *schema.GroupVersionKind
	server := ""
	convert := func() *schema.GroupVersionKind {
		if as == nil {
			as = &schema.GroupVersionKind{}
		}
		return as
	}
	for key, value := range clause.Params { // order: each parameter sets its own field
		switch key {
		case "as":
			convert().Kind = value
		case "g":
			convert().Group = value
		case "v":
			convert().Version = value
		case "stream":
			if value != "" && (value != "watch" || mediaType == types.YAML) {
				return Format{}, false
			}
		case "sv":
			server = value
		case "pretty":
			f.Pretty = value == "1"
		}
	}
	if !ok(mediaType, as, server) {
		return Format{}, false
	}
	if as != nil {
		f.As = *as
	}
	return f, true
}

// pretty reports whether a person reads the answer: the query says so, or the client is an interactive one (S38).
func (a Ask) pretty() bool {
	if v := a.Query.Get("pretty"); v != "" {
		on, err := strconv.ParseBool(v)
		return err == nil && on
	}
	for _, prefix := range []string{"curl", "Wget", "Mozilla/5.0"} {
		if strings.HasPrefix(a.UserAgent, prefix) {
			return true
		}
	}
	return false
}

// ContentType returns the Content-Type header of an answer.
func (f Format) ContentType() string { return f.MediaType }

// StreamType returns the Content-Type header of a watch.
func (f Format) StreamType() string {
	if f.MediaType == types.JSON {
		return f.MediaType
	}
	return f.MediaType + ";stream=watch"
}

// Streams returns a 406 if the format cannot carry a watch: YAML has no frames (S20).
func (f Format) Streams() error {
	if f.MediaType != types.YAML {
		return nil
	}
	return notAcceptable("only the following media types are accepted: " + types.JSON + ";stream=watch, " + types.Protobuf + ";stream=watch")
}

func notAcceptable(message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable, Message: message,
	}}
}

// NegotiateKind returns the format of an answer that can be shown as one of several kinds besides its own.
func (a Ask) NegotiateKind(kinds ...schema.GroupVersionKind) (Format, error) {
	return a.negotiate(func(_ string, as *schema.GroupVersionKind, server string) bool {
		return server == "" && (as == nil || slices.Contains(kinds, *as))
	})
}
