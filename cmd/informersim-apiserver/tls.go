package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"strings"

	"k8s.io/client-go/util/cert"
)

// madeFor is the host of certificates that are made for one run. The name of their authority begins with it.
const madeFor = "informersim"

// madeCertificate makes a certificate for a listener's address, and the authority that has signed it, as PEM.
func madeCertificate(addr net.Addr) (*tls.Config, []byte, error) {
	names := []string{"localhost"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	ips := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		ips = append(ips, tcp.IP)
	}
	chain, key, err := cert.GenerateSelfSignedCertKey(madeFor, ips, names)
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, nil, err
	}
	return servedWith(pair), lastOf(chain), nil
}

// servedWith returns the TLS configuration of a server.
func servedWith(pair tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}

// lastOf returns the last certificate of a chain, which is its authority.
func lastOf(chain []byte) []byte {
	begin := bytes.LastIndex(chain, []byte("-----BEGIN CERTIFICATE-----"))
	return chain[max(begin, 0):]
}

// isMade tells whether an authority was made by madeCertificate.
func isMade(authority []byte) bool {
	block, _ := pem.Decode(authority)
	if block == nil {
		return false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	return err == nil && strings.HasPrefix(c.Subject.CommonName, madeFor+"-ca@")
}
