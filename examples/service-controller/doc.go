// Package service runs Kubernetes' own service controller, the released k8s.io/cloud-provider/controllers/service, with a
// small cloud under faults with simtest. This controller gives Services of type LoadBalancer their load balancers in every
// cloud cluster.
package service
