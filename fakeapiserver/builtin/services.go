package builtin

import (
	"hash/fnv"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
)

// A Service's addresses and node ports are what no stored Service has. So the Services themselves are the record of what is allocated. A
// kube-apiserver starts to look at a random place; here the write's uid says where, and so a run that is repeated gets the same ones.
// Like there, what is allocated comes from the upper part of the range as long as that has any, and the lower part is for
// those who ask for a certain one.

// The ranges of a kube-apiserver without flags. Of the addresses, the first and the last are no host's.
var (
	serviceRange = net.IPNet{IP: net.IPv4(10, 0, 0, 0).To4(), Mask: net.CIDRMask(24, 32)}
	nodePorts    = utilnet.PortRange{Base: 30000, Size: 2768}
)

// How many addresses and ports are left for those who ask (calculateRangeOffset in the two allocators' packages).
const (
	lowerAddresses = 16
	lowerPorts     = 86
	lastAddress    = 254
)

// current is the write that is being carried out: Kubernetes' allocators get no context.
type current struct {
	session     *session
	ipAddresses bool // Options.IPAddresses
	types       *typeTable
}

// place draws where in a part of a range to start looking.
func (c *current) place(size int) int {
	h := fnv.New32a()
	if c.session != nil {
		h.Write([]byte(c.session.write.System.UID))
	}
	return int(h.Sum32() % uint32(size))
}

// allocated is what Services have.
type allocated struct {
	ips   map[string]bool
	ports map[int]bool
}

func newAllocated() allocated { return allocated{ips: map[string]bool{}, ports: map[int]bool{}} }

func (a allocated) add(obj runtime.Object) {
	s, ok := obj.(*corev1.Service)
	if !ok {
		return
	}
	for _, ip := range s.Spec.ClusterIPs {
		a.ips[ip] = true
	}
	for i := range s.Spec.Ports {
		if p := s.Spec.Ports[i].NodePort; p != 0 {
			a.ports[int(p)] = true
		}
	}
	if p := s.Spec.HealthCheckNodePort; p != 0 {
		a.ports[int(p)] = true
	}
}

// taken returns what the stored Services have, the written one's former state among them. An allocator asks for one candidate after the
// other, so they are walked once.
func (s *session) taken() allocated {
	if s.before != nil {
		return *s.before
	}
	all := newAllocated()
	s.before = &all
	if s.write.List == nil {
		return all
	}
	for _, obj := range s.write.List(s.kind.resource.GroupResource(), metav1.NamespaceAll) {
		all.add(obj)
	}
	return all
}

// addresses allocates cluster IPs. It implements ipallocator.Interface.
type addresses struct{ *current }

// Allocate reserves an address.
func (a addresses) Allocate(ip net.IP) error {
	four := ip.To4()
	if four == nil || !serviceRange.Contains(ip) || four[3] < 1 || four[3] > lastAddress {
		return ipallocator.ErrMismatchedNetwork
	}
	if a.Has(ip) || a.session.own.ips[ip.String()] {
		return ipallocator.ErrAllocated
	}
	if err := a.ownerless(ip); err != nil {
		return err
	}
	a.session.own.ips[ip.String()] = true
	return nil
}

// AllocateNext reserves a free address.
func (a addresses) AllocateNext() (net.IP, error) {
	for _, part := range [][2]int{{lowerAddresses + 1, lastAddress}, {1, lowerAddresses}} {
		size := part[1] - part[0] + 1
		start := a.place(size)
		for i := range size {
			ip := net.IPv4(10, 0, 0, byte(part[0]+(start+i)%size)).To4()
			switch err := a.Allocate(ip); err {
			case nil:
				return ip, nil
			case ipallocator.ErrAllocated:
			default:
				return nil, err
			}
		}
	}
	return nil, ipallocator.ErrFull
}

// Release forgets an address. Those of stored Services are not remembered.
func (a addresses) Release(ip net.IP) error {
	if a.session != nil {
		delete(a.session.own.ips, ip.String())
	}
	return nil
}

// Has reports whether an address is taken.
func (a addresses) Has(ip net.IP) bool {
	return a.session != nil && (a.session.taken().ips[ip.String()] || a.stands(ip.String()))
}

// ForEach is for repairs, which nobody makes here.
func (addresses) ForEach(func(net.IP)) {}

// CIDR returns the range.
func (addresses) CIDR() net.IPNet { return serviceRange }

// IPFamily returns the range's family.
func (addresses) IPFamily() api.IPFamily { return api.IPv4Protocol }

// Destroy does nothing.
func (addresses) Destroy() {}

// EnableMetrics does nothing.
func (addresses) EnableMetrics() {}

// DryRun returns an allocator whose allocations do not last. No allocation lasts longer than its write here.
func (a addresses) DryRun() ipallocator.Interface { return dryAddresses{a} }

// dryAddresses answers as the allocators of a kube-apiserver do in a dry run.
type dryAddresses struct{ addresses }

// Allocate checks the range only.
func (d dryAddresses) Allocate(ip net.IP) error {
	err := d.addresses.Allocate(ip)
	if err == ipallocator.ErrAllocated {
		return nil
	}
	return err
}

// AllocateNext returns the range's first address.
func (d dryAddresses) AllocateNext() (net.IP, error) { return serviceRange.IP, nil }

// ports allocates node ports. It implements portallocator.Interface.
type ports struct{ *current }

// Allocate reserves a port.
func (p ports) Allocate(port int) error {
	if !nodePorts.Contains(port) {
		return &portallocator.ErrNotInRange{ValidPorts: nodePorts.String()}
	}
	if p.Has(port) || p.session.own.ports[port] {
		return portallocator.ErrAllocated
	}
	p.session.own.ports[port] = true
	return nil
}

// AllocateNext reserves a free port.
func (p ports) AllocateNext() (int, error) {
	for _, part := range [][2]int{{lowerPorts, nodePorts.Size}, {0, lowerPorts}} {
		size := part[1] - part[0]
		start := p.place(size)
		for i := range size {
			port := nodePorts.Base + part[0] + (start+i)%size
			if p.Allocate(port) == nil {
				return port, nil
			}
		}
	}
	return 0, portallocator.ErrFull
}

// Release forgets a port.
func (p ports) Release(port int) error {
	if p.session != nil {
		delete(p.session.own.ports, port)
	}
	return nil
}

// Has reports whether a port is taken.
func (p ports) Has(port int) bool {
	return p.session != nil && p.session.taken().ports[port]
}

// ForEach is for repairs.
func (ports) ForEach(func(int)) {}

// Destroy does nothing.
func (ports) Destroy() {}

// EnableMetrics does nothing.
func (ports) EnableMetrics() {}
