//go:build !no_transforms

package gates

import "k8s.io/client-go/tools/cache"

func setTransform(inf cache.SharedIndexInformer, f func(any) (any, error)) error {
	return inf.SetTransform(f)
}
