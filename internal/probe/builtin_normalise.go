package probe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// What an apiserver picks at random, or by the clock, when it answers about built-in kinds.
var (
	serviceAddress = regexp.MustCompile(`\b10\.0\.0\.[0-9]{1,3}\b`)
	nodePort       = regexp.MustCompile(`\b3[0-2][0-9]{3}\b`)
	signedToken    = regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`)
	longAge        = regexp.MustCompile(`^([0-9]+[smhdy])+$`)
)

// portFields are the fields whose numbers a server allocates; that of Service default/kubernetes is where it listens.
var portFields = map[string]bool{"nodePort": true, "healthCheckNodePort": true, "targetPort": true}

// allocated replaces addresses and ports that the server chose: those that no request mentioned.
func (n *normaliser) allocated(key, s string) string {
	s = signedToken.ReplaceAllString(s, "<signed token>")
	s = serviceAddress.ReplaceAllStringFunc(s, func(address string) string {
		if address == kubernetesAddress || n.mentioned(address) {
			return address
		}
		return n.number("address", address)
	})
	if key == "cells" || strings.Contains(s, "port") {
		s = nodePort.ReplaceAllStringFunc(s, func(port string) string {
			if n.mentioned(port) {
				return port
			}
			return n.number("port", port)
		})
	}
	return s
}

// kubernetesAddress is that of Service default/kubernetes.
const kubernetesAddress = "10.0.0.1"

// port replaces a number that the server chose.
func (n *normaliser) port(key string, v json.Number) any {
	if !n.builtin || !portFields[key] || n.mentioned(v.String()) {
		return v
	}
	return n.number("port", v.String())
}

// mentioned reports whether a request of the probe had a text.
func (n *normaliser) mentioned(text string) bool { return strings.Contains(n.requests.String(), text) }

// number names the n-th value of a kind.
func (n *normaliser) number(kind, value string) string {
	key := kind + " " + value
	name, known := n.chosen[key]
	if !known {
		n.counts[kind]++
		name = fmt.Sprintf("<%s %d>", kind, n.counts[kind])
		n.chosen[key] = name
	}
	return name
}
