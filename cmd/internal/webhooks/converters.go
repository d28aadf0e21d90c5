package webhooks

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
)

// Converters calls the conversion webhooks of CustomResourceDefinitions over the network, with k8s.io/apiextensions-apiserver's own code, which
// waits for 30 s at most.
func Converters() (*conversion.CRConverterFactory, error) {
	return conversion.NewCRConverterFactory(webhookutil.NewDefaultServiceResolver(), func(r webhookutil.AuthenticationInfoResolver) webhookutil.AuthenticationInfoResolver { return r })
}
