package resources

// builtin lists the built-in resources that probes can name: group (- for core), version, plural, kind, and "cluster" if its
// objects have no namespace. The first line with a plural owns its name.
const builtin = `
- v1 bindings Binding
- v1 componentstatuses ComponentStatus cluster
- v1 configmaps ConfigMap
- v1 endpoints Endpoints
- v1 events Event
- v1 limitranges LimitRange
- v1 namespaces Namespace cluster
- v1 nodes Node cluster
- v1 persistentvolumeclaims PersistentVolumeClaim
- v1 persistentvolumes PersistentVolume cluster
- v1 pods Pod
- v1 podtemplates PodTemplate
- v1 replicationcontrollers ReplicationController
- v1 resourcequotas ResourceQuota
- v1 secrets Secret
- v1 serviceaccounts ServiceAccount
- v1 services Service
admissionregistration.k8s.io v1 mutatingadmissionpolicies MutatingAdmissionPolicy cluster
admissionregistration.k8s.io v1 mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding cluster
admissionregistration.k8s.io v1 mutatingwebhookconfigurations MutatingWebhookConfiguration cluster
admissionregistration.k8s.io v1 validatingadmissionpolicies ValidatingAdmissionPolicy cluster
admissionregistration.k8s.io v1 validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding cluster
admissionregistration.k8s.io v1 validatingwebhookconfigurations ValidatingWebhookConfiguration cluster
apiextensions.k8s.io v1 customresourcedefinitions CustomResourceDefinition cluster
apiregistration.k8s.io v1 apiservices APIService cluster
apps v1 controllerrevisions ControllerRevision
apps v1 daemonsets DaemonSet
apps v1 deployments Deployment
apps v1 replicasets ReplicaSet
apps v1 statefulsets StatefulSet
authentication.k8s.io v1 selfsubjectreviews SelfSubjectReview cluster
authentication.k8s.io v1 tokenreviews TokenReview cluster
authorization.k8s.io v1 localsubjectaccessreviews LocalSubjectAccessReview
authorization.k8s.io v1 selfsubjectaccessreviews SelfSubjectAccessReview cluster
authorization.k8s.io v1 selfsubjectrulesreviews SelfSubjectRulesReview cluster
authorization.k8s.io v1 subjectaccessreviews SubjectAccessReview cluster
autoscaling v2 horizontalpodautoscalers HorizontalPodAutoscaler
autoscaling v1 horizontalpodautoscalers HorizontalPodAutoscaler
batch v1 cronjobs CronJob
batch v1 jobs Job
certificates.k8s.io v1 certificatesigningrequests CertificateSigningRequest cluster
certificates.k8s.io v1 clustertrustbundles ClusterTrustBundle cluster
certificates.k8s.io v1 podcertificaterequests PodCertificateRequest
coordination.k8s.io v1 leases Lease
discovery.k8s.io v1 endpointslices EndpointSlice
events.k8s.io v1 events Event
flowcontrol.apiserver.k8s.io v1 flowschemas FlowSchema cluster
flowcontrol.apiserver.k8s.io v1 prioritylevelconfigurations PriorityLevelConfiguration cluster
networking.k8s.io v1 ingressclasses IngressClass cluster
networking.k8s.io v1 ingresses Ingress
networking.k8s.io v1 ipaddresses IPAddress cluster
networking.k8s.io v1 networkpolicies NetworkPolicy
networking.k8s.io v1 servicecidrs ServiceCIDR cluster
node.k8s.io v1 runtimeclasses RuntimeClass cluster
policy v1 poddisruptionbudgets PodDisruptionBudget
rbac.authorization.k8s.io v1 clusterrolebindings ClusterRoleBinding cluster
rbac.authorization.k8s.io v1 clusterroles ClusterRole cluster
rbac.authorization.k8s.io v1 rolebindings RoleBinding
rbac.authorization.k8s.io v1 roles Role
resource.k8s.io v1 deviceclasses DeviceClass cluster
resource.k8s.io v1 devicetaintrules DeviceTaintRule cluster
resource.k8s.io v1 resourceclaims ResourceClaim
resource.k8s.io v1 resourceclaimtemplates ResourceClaimTemplate
resource.k8s.io v1 resourceslices ResourceSlice cluster
scheduling.k8s.io v1 priorityclasses PriorityClass cluster
storage.k8s.io v1 csidrivers CSIDriver cluster
storage.k8s.io v1 csinodes CSINode cluster
storage.k8s.io v1 csistoragecapacities CSIStorageCapacity
storage.k8s.io v1 storageclasses StorageClass cluster
storage.k8s.io v1 volumeattachments VolumeAttachment cluster
storage.k8s.io v1 volumeattributesclasses VolumeAttributesClass cluster
storagemigration.k8s.io v1 storageversionmigrations StorageVersionMigration cluster
`
