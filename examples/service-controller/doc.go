// Package service runs Kubernetes' own service controller, k8s.io/cloud-provider/controllers/service as it is released, with
// a small cloud, under faults with simtest: the controller that gives Services of type LoadBalancer their load balancers in
// every cluster in a cloud.
package service
