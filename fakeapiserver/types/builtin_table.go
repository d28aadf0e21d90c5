package types

// builtinTable lists the resources of client-go's scheme in the order of a real server's discovery: the core group first, then by
// group. A line is
//
//	GROUP PLURAL KIND VERSIONS SCOPE [sub=NAME,…] [short=NAME,…] [cat=NAME,…] [field=PATH,…] [FLAG…]
//
// GROUP is - for core, SCOPE is ns or cluster. Flags:
//
//	gen     metadata.generation counts changes of the spec, starting at 1
//	meta    a status write cannot change metadata, as for custom resources (S27); without it, it can
//	labels  a status write cannot change labels
//	owners  a status write cannot change ownerReferences
//	cond    PUT needs a resourceVersion; upsert: PUT creates what does not exist
//	create  nothing is stored: the only verb is create
//	nodc    deletecollection is missing
//
// A test checks names, scope, kinds, versions and statuses against the interfaces of client-go's typed clients. Short names,
// categories, fields and flags are copied from the strategies in k8s.io/kubernetes, which no library exposes.
const builtinTable = `
- bindings Binding v1 ns create
- componentstatuses ComponentStatus v1 cluster short=cs readonly
- configmaps ConfigMap v1 ns short=cm
- endpoints Endpoints v1 ns short=ep upsert
- events Event v1 ns short=ev field=involvedObject.kind,involvedObject.namespace,involvedObject.name,involvedObject.uid,involvedObject.apiVersion,involvedObject.resourceVersion,involvedObject.fieldPath,reason,reportingComponent,source,type upsert
- limitranges LimitRange v1 ns short=limits upsert
- namespaces Namespace v1 cluster sub=finalize,status short=ns field=status.phase nodc
- nodes Node v1 cluster sub=status short=no field=spec.unschedulable
- persistentvolumeclaims PersistentVolumeClaim v1 ns sub=status short=pvc
- persistentvolumes PersistentVolume v1 cluster sub=status short=pv
- pods Pod v1 ns sub=ephemeralcontainers,resize,status short=po cat=all field=spec.nodeName,spec.restartPolicy,spec.schedulerName,spec.serviceAccountName,spec.hostNetwork,status.phase,status.podIP,status.nominatedNodeName gen owners
- podtemplates PodTemplate v1 ns gen
- replicationcontrollers ReplicationController v1 ns sub=scale,status short=rc cat=all field=status.replicas gen
- resourcequotas ResourceQuota v1 ns sub=status short=quota
- secrets Secret v1 ns field=type
- serviceaccounts ServiceAccount v1 ns short=sa
- services Service v1 ns sub=status short=svc cat=all field=spec.clusterIP,spec.type upsert
authentication.k8s.io selfsubjectreviews SelfSubjectReview v1,v1beta1,v1alpha1 cluster create
authentication.k8s.io tokenreviews TokenReview v1,v1beta1 cluster create
authorization.k8s.io localsubjectaccessreviews LocalSubjectAccessReview v1,v1beta1 ns create
authorization.k8s.io selfsubjectaccessreviews SelfSubjectAccessReview v1,v1beta1 cluster create
authorization.k8s.io selfsubjectrulesreviews SelfSubjectRulesReview v1,v1beta1 cluster create
authorization.k8s.io subjectaccessreviews SubjectAccessReview v1,v1beta1 cluster create
autoscaling horizontalpodautoscalers HorizontalPodAutoscaler v2,v1 ns sub=status short=hpa cat=all
batch cronjobs CronJob v1,v1beta1 ns sub=status short=cj cat=all gen
batch jobs Job v1 ns sub=status cat=all field=status.successful gen
certificates.k8s.io certificatesigningrequests CertificateSigningRequest v1,v1beta1 cluster sub=approval,status short=csr field=spec.signerName
certificates.k8s.io clustertrustbundles ClusterTrustBundle v1,v1beta1,v1alpha1 cluster field=spec.signerName cond
certificates.k8s.io podcertificaterequests PodCertificateRequest v1,v1beta1 ns sub=status field=spec.signerName,spec.podName,spec.nodeName cond meta
networking.k8s.io ingressclasses IngressClass v1,v1beta1 cluster gen
networking.k8s.io ingresses Ingress v1,v1beta1 ns sub=status short=ing gen
networking.k8s.io ipaddresses IPAddress v1,v1beta1 cluster short=ip
networking.k8s.io networkpolicies NetworkPolicy v1 ns short=netpol gen
networking.k8s.io servicecidrs ServiceCIDR v1,v1beta1 cluster sub=status
policy poddisruptionbudgets PodDisruptionBudget v1,v1beta1 ns sub=status short=pdb gen cond
rbac.authorization.k8s.io clusterrolebindings ClusterRoleBinding v1,v1beta1,v1alpha1 cluster upsert
rbac.authorization.k8s.io clusterroles ClusterRole v1,v1beta1,v1alpha1 cluster upsert
rbac.authorization.k8s.io rolebindings RoleBinding v1,v1beta1,v1alpha1 ns upsert
rbac.authorization.k8s.io roles Role v1,v1beta1,v1alpha1 ns upsert
storage.k8s.io csidrivers CSIDriver v1,v1beta1 cluster gen cond
storage.k8s.io csinodes CSINode v1,v1beta1 cluster sub=status cond
storage.k8s.io csistoragecapacities CSIStorageCapacity v1,v1beta1,v1alpha1 ns cond
storage.k8s.io storageclasses StorageClass v1,v1beta1 cluster short=sc
storage.k8s.io volumeattachments VolumeAttachment v1,v1beta1,v1alpha1 cluster sub=status cond meta
storage.k8s.io volumeattributesclasses VolumeAttributesClass v1,v1beta1,v1alpha1 cluster short=vac
admissionregistration.k8s.io mutatingadmissionpolicies MutatingAdmissionPolicy v1,v1beta1,v1alpha1 cluster gen cond
admissionregistration.k8s.io mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding v1,v1beta1,v1alpha1 cluster gen cond
admissionregistration.k8s.io mutatingwebhookconfigurations MutatingWebhookConfiguration v1,v1beta1 cluster gen cond
admissionregistration.k8s.io validatingadmissionpolicies ValidatingAdmissionPolicy v1,v1beta1,v1alpha1 cluster sub=status gen cond meta
admissionregistration.k8s.io validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding v1,v1beta1,v1alpha1 cluster gen cond
admissionregistration.k8s.io validatingwebhookconfigurations ValidatingWebhookConfiguration v1,v1beta1 cluster gen cond
apps controllerrevisions ControllerRevision v1,v1beta2,v1beta1 ns
apps daemonsets DaemonSet v1,v1beta2 ns sub=status short=ds cat=all gen
apps deployments Deployment v1,v1beta2,v1beta1 ns sub=scale,status short=deploy cat=all gen labels
apps replicasets ReplicaSet v1,v1beta2 ns sub=scale,status short=rs cat=all field=status.replicas gen
apps statefulsets StatefulSet v1,v1beta2,v1beta1 ns sub=scale,status short=sts cat=all gen
coordination.k8s.io leasecandidates LeaseCandidate v1beta1,v1alpha2 ns cond
coordination.k8s.io leases Lease v1,v1beta1 ns cond upsert
discovery.k8s.io endpointslices EndpointSlice v1,v1beta1 ns gen
events.k8s.io events Event v1,v1beta1 ns short=ev field=regarding.kind,regarding.namespace,regarding.name,regarding.uid,regarding.apiVersion,regarding.resourceVersion,regarding.fieldPath,reason,reportingController,type upsert
extensions daemonsets DaemonSet v1beta1 ns sub=status short=ds gen
extensions deployments Deployment v1beta1 ns sub=scale,status short=deploy gen labels
extensions ingresses Ingress v1beta1 ns sub=status short=ing gen
extensions networkpolicies NetworkPolicy v1beta1 ns short=netpol gen
extensions replicasets ReplicaSet v1beta1 ns sub=scale,status short=rs gen
flowcontrol.apiserver.k8s.io flowschemas FlowSchema v1,v1beta3,v1beta2,v1beta1 cluster sub=status gen meta
flowcontrol.apiserver.k8s.io prioritylevelconfigurations PriorityLevelConfiguration v1,v1beta3,v1beta2,v1beta1 cluster sub=status gen meta
internal.apiserver.k8s.io storageversions StorageVersion v1alpha1 cluster sub=status cond meta
lifecycle.k8s.io evictionrequests EvictionRequest v1alpha1 ns sub=status gen meta
lifecycle.k8s.io evictions Eviction v1alpha1 ns sub=status gen meta
node.k8s.io runtimeclasses RuntimeClass v1,v1beta1,v1alpha1 cluster cond
resource.k8s.io deviceclasses DeviceClass v1,v1beta2,v1beta1 cluster gen
resource.k8s.io devicetaintrules DeviceTaintRule v1,v1beta2,v1alpha3 cluster sub=status gen meta
resource.k8s.io resourceclaims ResourceClaim v1,v1beta2,v1beta1 ns sub=status meta
resource.k8s.io resourceclaimtemplates ResourceClaimTemplate v1,v1beta2,v1beta1 ns
resource.k8s.io resourcepoolstatusrequests ResourcePoolStatusRequest v1alpha3 cluster sub=status cond meta
resource.k8s.io resourceslices ResourceSlice v1,v1beta2,v1beta1 cluster field=spec.nodeName,spec.driver gen
scheduling.k8s.io compositepodgroups CompositePodGroup v1alpha3 ns sub=status gen meta
scheduling.k8s.io podgroups PodGroup v1beta1,v1alpha3 ns sub=status gen meta
scheduling.k8s.io priorityclasses PriorityClass v1,v1beta1 cluster short=pc gen
scheduling.k8s.io workloads Workload v1beta1,v1alpha3 ns gen
storagemigration.k8s.io storageversionmigrations StorageVersionMigration v1,v1beta1 cluster sub=status short=svm gen cond meta
`
