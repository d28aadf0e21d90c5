package catalogue

// kind is a built-in kind with the smallest object that a server accepts.
type kind struct {
	// resource is the name that probes use, name that of the object.
	resource, name string
	// body is the object without apiVersion, kind and name.
	body string
	// change is a merge patch that the server accepts.
	change string
	// watched says that a controller inside of the server writes to the object, too, at its own pace.
	watched bool
}

// Texts that many objects have.
const (
	containers = `containers: [{name: c, image: i}]`
	template   = `template: {metadata: {labels: {app: a}}, spec: {` + containers + `}}`
	selected   = `selector: {matchLabels: {app: a}}, ` + template
	labelled   = `{metadata: {labels: {changed: "yes"}}}`
)

// kinds are the kinds whose objects a server of v1.37 stores with its default flags.
var kinds = []kind{
	{"configmaps", "a", `{data: {k: v}}`, `{data: {k: w}}`, false},
	{"endpoints", "a", `{subsets: [{addresses: [{ip: 1.2.3.4}], ports: [{port: 80}]}]}`, labelled, false},
	{"events", "a", `{involvedObject: {kind: Pod, name: p, namespace: ns1}, reason: R, message: m, type: Normal}`, `{message: other}`, false},
	{"limitranges", "a", `{spec: {limits: [{type: Container, max: {cpu: "2"}, min: {cpu: 100m}}]}}`, labelled, false},
	{"namespaces", "nsa", `{}`, labelled, false},
	{"nodes", "node-a", `{}`, `{spec: {unschedulable: true}}`, false},
	{"persistentvolumeclaims", "a", `{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`, labelled, false},
	{"persistentvolumes", "pv-a", `{spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /tmp}}}`, labelled, false},
	{"pods", "a", `{spec: {` + containers + `}}`, `{spec: {containers: [{name: c, image: j}]}}`, false},
	{"podtemplates", "a", `{template: {metadata: {labels: {app: a}}, spec: {` + containers + `}}}`, labelled, false},
	{"replicationcontrollers", "a", `{spec: {selector: {app: a}, ` + template + `}}`, `{spec: {replicas: 2}}`, false},
	{"resourcequotas", "a", `{spec: {hard: {pods: "100"}}}`, `{spec: {hard: {pods: "200"}}}`, false},
	{"secrets", "a", `{stringData: {k: v}}`, `{stringData: {k: w}}`, false},
	{"serviceaccounts", "a", `{}`, labelled, false},
	{"services", "a", `{spec: {selector: {app: a}, ports: [{port: 80}]}}`, `{spec: {ports: [{port: 81}]}}`, false},
	{"mutatingadmissionpolicies", "map-a", `{spec: {matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}, ` +
		`mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}}], reinvocationPolicy: Never}}`, labelled, false},
	{"mutatingadmissionpolicybindings", "mapb-a", `{spec: {policyName: absent}}`, labelled, false},
	{"mutatingwebhookconfigurations", "mwc-a", `{webhooks: [{name: a.example.com, clientConfig: {url: "https://127.0.0.1:1"}, admissionReviewVersions: [v1], sideEffects: None, ` +
		`objectSelector: {matchLabels: {never: "matches"}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}]}`, labelled, false},
	{"validatingadmissionpolicies", "vap-a", `{spec: {matchConstraints: {resourceRules: [{apiGroups: [absent], apiVersions: [v1], operations: [CREATE], resources: [absents]}]}, ` +
		`validations: [{expression: "true"}]}}`, labelled, false},
	{"validatingadmissionpolicybindings", "vapb-a", `{spec: {policyName: absent, validationActions: [Deny]}}`, labelled, false},
	{"validatingwebhookconfigurations", "vwc-a", `{webhooks: [{name: a.example.com, clientConfig: {service: {namespace: ns1, name: s}}, admissionReviewVersions: [v1], sideEffects: None, ` +
		`objectSelector: {matchLabels: {never: "matches"}}}]}`, labelled, false},
	{"controllerrevisions", "a", `{revision: 1, data: {x: y}}`, `{revision: 2}`, false},
	{"daemonsets", "a", `{spec: {` + selected + `}}`, `{spec: {minReadySeconds: 5}}`, false},
	{"deployments", "a", `{spec: {` + selected + `}}`, `{spec: {replicas: 2}}`, false},
	{"replicasets", "a", `{spec: {` + selected + `}}`, `{spec: {replicas: 2}}`, false},
	{"statefulsets", "a", `{spec: {serviceName: s, ` + selected + `}}`, `{spec: {replicas: 2}}`, false},
	{"horizontalpodautoscalers", "a", `{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}`, `{spec: {maxReplicas: 4}}`, false},
	{"horizontalpodautoscalers.v1", "a", `{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}`, `{spec: {maxReplicas: 4}}`, false},
	{"cronjobs", "a", `{spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, ` + containers + `}}}}}}`, `{spec: {suspend: true}}`, false},
	{"jobs", "a", `{spec: {template: {spec: {restartPolicy: Never, ` + containers + `}}}}`, `{spec: {suspend: true}}`, false},
	{"certificatesigningrequests", "csr-a", `{spec: {signerName: example.com/s, usages: [client auth], request: ` + certificateRequest + `}}`, labelled, false},
	{"clustertrustbundles", "ctb-a", `{spec: {trustBundle: "` + certificate + `"}}`, labelled, false},
	{"leases", "a", `{spec: {holderIdentity: me, leaseDurationSeconds: 15}}`, `{spec: {holderIdentity: you}}`, false},
	{"endpointslices", "a", `{addressType: IPv4, endpoints: [{addresses: [1.2.3.4]}], ports: [{port: 80}]}`, labelled, false},
	{"events.events.k8s.io", "a", `{eventTime: "1999-01-01T00:00:00.000000Z", reportingController: c.example.com/x, reportingInstance: i, action: A, reason: R, type: Normal, ` +
		`regarding: {kind: Pod, name: p, namespace: ns1}}`, labelled, false},
	{"flowschemas", "fs-a", `{spec: {priorityLevelConfiguration: {name: exempt}}}`, `{spec: {matchingPrecedence: 5000}}`, true},
	{"prioritylevelconfigurations", "plc-a", `{spec: {type: Limited, limited: {limitResponse: {type: Reject}}}}`, labelled, true},
	{"ingressclasses", "ic-a", `{spec: {controller: example.com/c}}`, labelled, false},
	{"ingresses", "a", `{spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}`, `{spec: {defaultBackend: {service: {name: t}}}}`, false},
	{"ipaddresses", "192.168.1.5", `{spec: {parentRef: {resource: services, namespace: ns1, name: s}}}`, labelled, false},
	{"networkpolicies", "a", `{spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}}`, `{spec: {policyTypes: [Ingress, Egress]}}`, false},
	{"servicecidrs", "cidr-a", `{spec: {cidrs: [192.168.0.0/24]}}`, labelled, false},
	{"runtimeclasses", "rc-a", `{handler: h}`, labelled, false},
	{"poddisruptionbudgets", "a", `{spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}}`, `{spec: {minAvailable: 2}}`, false},
	{"clusterrolebindings", "crb-a", `{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: User, name: u}]}`, `{subjects: null}`, false},
	{"clusterroles", "cr-a", `{rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, `{rules: []}`, false},
	{"rolebindings", "a", `{roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [{kind: ServiceAccount, name: s}]}`, labelled, false},
	{"roles", "a", `{rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, `{rules: []}`, false},
	{"deviceclasses", "dc-a", `{spec: {selectors: [{cel: {expression: "true"}}]}}`, `{spec: {selectors: []}}`, false},
	{"devicetaintrules", "dtr-a", `{spec: {deviceSelector: {driver: d.example.com}, taint: {key: example.com/k, effect: NoSchedule, timeAdded: "1999-01-01T00:00:00Z"}}}`, labelled, false},
	{"resourceclaims", "a", `{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: dc-a}}]}}}`, labelled, false},
	{"resourceclaimtemplates", "a", `{spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: dc-a}}]}}}}`, labelled, false},
	{"resourceslices", "rs-a", `{spec: {driver: d.example.com, nodeName: n, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: x}]}}`, labelled, false},
	{"priorityclasses", "pc-a", `{value: 5}`, `{description: d}`, false},
	{"csidrivers", "csi.example.com", `{spec: {}}`, `{spec: {storageCapacity: true}}`, false},
	{"csinodes", "csinode-a", `{spec: {drivers: [{name: d.example.com, nodeID: n}]}}`, labelled, false},
	{"csistoragecapacities", "a", `{storageClassName: s, capacity: 1Gi}`, `{capacity: 2Gi}`, false},
	{"storageclasses", "sc-a", `{provisioner: p.example.com}`, `{allowVolumeExpansion: true}`, false},
	{"volumeattachments", "va-a", `{spec: {attacher: d.example.com, nodeName: n, source: {persistentVolumeName: pv}}}`, labelled, false},
	{"volumeattributesclasses", "vac-a", `{driverName: d.example.com, parameters: {k: v}}`, labelled, false},
	{"apiservices", "v1.example.com", `{spec: {group: example.com, version: v1, groupPriorityMinimum: 1000, versionPriority: 15}}`, `{spec: {versionPriority: 16}}`, false},
	{"storageversionmigrations", "svm-a", `{spec: {resource: {group: apps, resource: deployments}}}`, labelled, false},
}

// certificateRequest is a PEM certificate request in base64, with CN=user and O=group.
const certificateRequest = `LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0JBZ0VBTUI4eERUQUxCZ05WQkFNTUJIVnpaWEl4RGpBTUJnTlZCQW9NQldkeWIzVndNRmt3RXdZSApL` +
	`b1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFNFZ6WXR4MjY2bGdXQSttdW1pVmh6c0VLMS9QbXYxNXI4UXl3CjZYZldOU1pEU01Ea1FzbWRBc25uWjRCMDd1MXVWMkR2TGo1bW8xSVp3ZFMwdDBQemVL` +
	`QUFNQW9HQ0NxR1NNNDkKQkFNQ0Ewa0FNRVlDSVFEaTdqbk9Ndkw5bkFyeGNKQ1lmcFJST1dLVzJhNlBkVlJwWmFoRXB2RUY2UUloQUlqUQp4ZWxuTUlYUGoxaU5ERGk1RWZJb1RrVlE5WGFnR245aFUx` +
	`RlNVNUNXCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=`

// certificate is a PEM certificate of an authority, CN=a, as a double-quoted string holds it.
const certificate = `-----BEGIN CERTIFICATE-----\nMIIBbzCCARWgAwIBAgIUE/dbPxxpMhQDSkLf/ShYlq61o14wCgYIKoZIzj0EAwIw\nDDEKMAgGA1UEAwwBYTAgFw0yNjExMjMxMTExMjJaGA8yMTI2MTAzMDE` +
	`xMTEyMlow\nDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDCuNeO7evto\nx+3Ud9uah+jrJccuR+73r+2cg35dlaL9bVXiTs2DxnfyZ4T8cT/RGBk+PVl71bgb\no0c7daZ` +
	`VMCCjUzBRMB0GA1UdDgQWBBS/86F+cK+mMNuYfGzC2NfffpJbLDAfBgNV\nHSMEGDAWgBS/86F+cK+mMNuYfGzC2NfffpJbLDAPBgNVHRMBAf8EBTADAQH/MAoG\nCCqGSM49BAMCA0gAMEUCIQDa0` +
	`i1cNlXCILI6QwKz55XbNt2IhAgWZWl28fjP6rRU\nFgIgP7UxNAJGn4AZp5cilmoRs7DA2iyjpAOO9zf2Nvyds7w=\n-----END CERTIFICATE-----\n`
