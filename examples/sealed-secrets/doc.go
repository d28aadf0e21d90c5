// Package sealedsecrets runs the released controller of Sealed Secrets, github.com/bitnami-labs/sealed-secrets v0.27.1 on client-go v0.31,
// under faults with simtest. It keeps a Secret for each SealedSecret, made from what that holds encrypted and from its templates.
//
// Its keys cannot be given to it from outside of its package, so the SealedSecrets of the test have templates and nothing encrypted.
package sealedsecrets
