//go:build no_in_order && !no_feature_gates

package gates

import "k8s.io/client-go/features"

func chooseQueue(map[features.Feature]bool, string) {}
