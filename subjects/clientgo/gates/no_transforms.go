//go:build no_transforms

package gates

import (
	"errors"

	"k8s.io/client-go/tools/cache"
)

func setTransform(cache.SharedIndexInformer, func(any) (any, error)) error {
	return errors.New("an informer of these releases transforms nothing")
}
