// Package basic runs those of Kubernetes' controllers that need nothing but client-go and their own packages: half the weight of all. It is what a program without
// an apiserver's libraries links.
package basic
