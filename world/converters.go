package world

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	clientrest "k8s.io/client-go/rest"

	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

// conversionTimeout is how long a real apiserver waits for a conversion.
const conversionTimeout = 30 * time.Second

// converters makes the converters of definitions, by k8s.io/apiextensions-apiserver's own code: what is sent, and what is checked of an answer.
// Compiled definitions outlive a run, so their converters call the webhooks of the one that is under way.
type converters struct {
	factory *conversion.CRConverterFactory
	paths   map[schema.GroupKind]string // of the kinds whose objects a webhook converts
	run     *conversions
}

var _ crd.Converters = (*converters)(nil)

func newConverters() (c *converters, err error) {
	c = &converters{paths: map[schema.GroupKind]string{}}
	config := func() (*clientrest.Config, error) {
		return &clientrest.Config{Timeout: conversionTimeout, WrapTransport: func(http.RoundTripper) http.RoundTripper { return c }}, nil
	}
	c.factory, err = conversion.NewCRConverterFactory(webhookutil.NewDefaultServiceResolver(), func(webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver {
		return &webhookutil.AuthenticationInfoResolverDelegator{
			ClientConfigForFunc:        func(string) (*clientrest.Config, error) { return config() },
			ClientConfigForServiceFunc: func(string, string, int) (*clientrest.Config, error) { return config() },
		}
	})
	return c, err
}

// NewConverter implements crd.Converters.
func (c *converters) NewConverter(d *apiextensionsv1.CustomResourceDefinition) (safe, unsafe runtime.ObjectConvertor, err error) {
	if safe, unsafe, err = c.factory.NewConverter(d); err != nil {
		return nil, nil, err
	}
	path := pathOf(d)
	c.paths[schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}] = path
	made := func(library runtime.ObjectConvertor) runtime.ObjectConvertor {
		return &converter{ObjectConvertor: library, of: c, path: path, plural: d.Spec.Names.Plural}
	}
	return made(safe), made(unsafe), nil
}

// pathOf returns the path at which a definition's webhook is called.
func pathOf(d *apiextensionsv1.CustomResourceDefinition) string {
	path := ""
	switch config := d.Spec.Conversion.Webhook.ClientConfig; {
	case config.URL != nil:
		if u, err := url.Parse(*config.URL); err == nil {
			path = u.Path
		}
	case config.Service != nil && config.Service.Path != nil:
		path = *config.Service.Path
	}
	return "/" + strings.TrimPrefix(path, "/")
}

// RoundTrip implements http.RoundTripper.
func (c *converters) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.run == nil || c.run.current == nil {
		return nil, errors.New("this call of a conversion webhook belongs to no run; this is a bug in informersim")
	}
	return c.run.roundTrip(r)
}

// converter is the library's, of one definition.
type converter struct {
	runtime.ObjectConvertor
	of     *converters
	path   string
	plural string
}

// Convert implements runtime.ObjectConvertor.
func (c *converter) Convert(in, out, context any) error {
	return c.during(func() error { return c.ObjectConvertor.Convert(in, out, context) })
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c *converter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (obj runtime.Object, err error) {
	err = c.during(func() (err error) {
		obj, err = c.ObjectConvertor.ConvertToVersion(in, to)
		return err
	})
	return obj, err
}

// during runs a conversion. What is random in its error becomes the seed's, and one that nobody has answered in time is late.
func (c *converter) during(convert func() error) error {
	run := c.of.run
	if run == nil {
		return convert()
	}
	now := &underWay{converter: c}
	before := run.current
	run.current = now
	defer func() { run.current = before }()
	err := convert()
	if err != nil && now.random != "" {
		err = errors.New(strings.ReplaceAll(err.Error(), now.random, now.uid))
	}
	if err != nil && now.late {
		err = &types.Late{After: conversionTimeout, Err: err}
	}
	return err
}
