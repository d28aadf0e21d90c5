// Package externalsecrets runs the controller of ClusterExternalSecrets of the released github.com/external-secrets/external-secrets, unmodified, under faults with simtest.
package externalsecrets
