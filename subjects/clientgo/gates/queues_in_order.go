//go:build no_atomic && !no_in_order

package gates

import "k8s.io/client-go/features"

func chooseQueue(set map[features.Feature]bool, q string) {
	if q != "" {
		set[features.InOrderInformers] = q == "inorder"
	}
}
