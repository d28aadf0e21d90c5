package serveflags

import (
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// long is the text of --help.
var long = `serve runs the fake apiserver on a loopback address, in real time, for kubectl and clients in any language. It serves
the built-in types and the custom resources of --crd. Everything is in memory, unless --data names a file that keeps it.

It starts as a fresh cluster does, unless --bare is given: with the system namespaces, the Service kubernetes, priority classes, flow
schemas, the roles of RBAC, APIServices and the Lease of its identity. Objects are defaulted and validated by Kubernetes' own code.

What it is not:
  no kubelet    nothing runs: Pods stay Pending unless --nodes plays kubelets, or a client writes their status; logs, exec, attach,
                port-forward and proxy answer 501
  no scheduler  Pods are bound by who posts a binding, unless there are --nodes
  no controllers but those of --controllers: a Deployment gets no ReplicaSet, a Service no Endpoints
  no security   who proves nothing is an administrator; what users, ServiceAccounts and whom kubectl --as names may do is
                not asked, unless --authorization-mode is RBAC
  no network    an APIService of another apiserver is stored, and its group answers 503
  no usage      a ResourceQuota limits nothing until --controllers resourcequota, or a client, has written its status
Webhooks, of admission and of conversion, are called as by a real server, and admission policies are evaluated.
docs/apiserver.md says what else there is, what is not, and what a client then sees.

The controllers of --controllers are ` + strings.Join(OwnControllers, ", ") + `, which are the server's own, and Kubernetes'
own, as kube-controller-manager runs them and with its defaults, but for leader election:
` + strings.Join(KubernetesControllers[:len(KubernetesControllers)/2], ", ") + `,
` + strings.Join(KubernetesControllers[len(KubernetesControllers)/2:], ", ") + `.
Faults meet these: they are clients, named deployment-controller and so on (GET /clients), and their watches are of the client
shared-informers. With --nodes all of them run, unless --controllers says otherwise.

A second listener, --control ADDR, controls it:
  GET  /revision                the Store's revision
  POST /compact?rev=N           forget every version before N (the current one without rev); cache=keep: in the Store only
  POST /restart?replica=I       restart a replica
  POST /restore?rev=N           put the Store back to revision N; bump=M raises the revision by M
  POST /fault                   inject a fault given as JSON, like {"kind":"watch-410","target":"kubectl","count":3}
  GET  /faults                  the faults that wait, with their ids, and those that last
  DELETE /faults/ID             withdraw a fault that waits
  DELETE /faults                withdraw all that wait, and end those that last; --fault-mix goes on
  GET  /clients                 the clients that have sent requests

A body must be application/json: curl --json '{"kind":"watch-410"}' ADDR/fault.

A fault's target is a client, named by its User-Agent up to the first slash ("kubectl", the name of your program); the client need not
have sent a request yet. Without a target a fault hits whoever comes first.
replica, verb, resource, namespace and name narrow the fault down, probability and count bound it, from and until ("10s") delay
and end it, counted from now, and after names the event it waits for:
{"kind":"watch-eof","after":{"event":"frame","key":"default/a","count":3}}.

The kinds of faults:
` + fault.Help(fault.Everyday) + `Rarer, in the mix edges, too:
` + fault.Help(fault.Rare) + `Of servers with a bug, and of operators who restore a backup, on request only:
` + fault.Help(fault.Broken) + `Of other clients, on request only:
` + fault.Help(fault.Others) + `
POST /restore puts the Store back without a restart, as when etcd is restored under running apiservers. Without bump they do not
notice: they serve what they had, and miss writes until the revision has passed what they have seen. With bump=M, above all earlier
revisions, their watch caches start anew and watches end with 410. POST /restart for each replica does what a restart of the
apiservers does.

With --data every write is in the file before it is answered, so a session survives a restart, and a kill: objects keep their
resourceVersions. Their history is lost: a request for a revision before the restart is answered with 410, and clients
relist. A write that the file cannot take is refused and leaves no trace: with 507 if the disk is full, with 503 if the file is
gone from its path. Reads go on, /readyz gives the reason, and writes go on by themselves once there is room, or the file is back;
an empty file put in its place (touch) gets everything. A file that is damaged is not served: the error names the object.

An address that is not loopback is refused unless a token is given. --token guards both listeners: requests must present it as
"Authorization: Bearer TOKEN", which the kubeconfig does. Other users of the machine can read a command line; --token-file keeps
the token out of it. Web pages are kept out: without a token, and on the control port in any case, a Host that is not loopback, the
Origin of another page and Sec-Fetch-Site: cross-site or same-site are answered with 403. kubectl, client-go and curl send none of
these. Ctrl-C ends open watches and stops the server.

With --tls it serves HTTPS, which some clients insist on (client-node). The certificate is made anew at each start; the kubeconfig
names its authority, so no client has to skip the check.

The server is a separate program, informersim-apiserver. If it is not installed, the first start builds it with the go
command, which takes minutes; INFORMERSIM_APISERVER names another copy of it.`
