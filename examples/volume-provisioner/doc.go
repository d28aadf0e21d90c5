// Package volume runs the released controller of external provisioners, sigs.k8s.io/sig-storage-lib-external-provisioner v13.0.0 on client-go
// v0.34, under faults with simtest. It gives PersistentVolumeClaims their PersistentVolumes, and removes what is behind released ones; the provisioners of NFS and the
// sidecar of every CSI driver are built on it. Where the volumes really are is a small [Storage], and the part of Kubernetes that binds claims to volumes
// is played by the test.
package volume
