// Package service runs Kubernetes' own service controller, the released k8s.io/cloud-provider/controllers/service, with a
// small cloud under faults with simtest. This controller gives Services of type LoadBalancer their load balancers in every
// cloud cluster.
//
// It holds its promise to Services that keep their type. For others, a test shows how it loses track of them.
//
// The test fails under the race detector. The race is the controller's: its workers set cachedService.state without the lock
// under which its node worker reads it.
package service
