// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"k8s.io/client-go/tools/clientcmd"
)

// pki writes keys and certificates into one directory. Every run of "up"
// makes a fresh set, except the service account key, which is kept so that
// tokens survive a restart.
type pki struct{ dir string }

func (p pki) path(name string) string { return filepath.Join(p.dir, name) }

type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func (p pki) write(name string, cert *x509.Certificate, key crypto.Signer) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(p.path(name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o644)
}

func sign(tmpl, parent *x509.Certificate, pub crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	tmpl.SerialNumber = serial
	tmpl.NotBefore = time.Now().Add(-time.Hour)
	tmpl.NotAfter = time.Now().AddDate(1, 0, 0)
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, pub, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func (p pki) authority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	tmpl := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := sign(tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, p.write(name, cert, key)
}

// leaf issues name.crt/name.key for both server and client use.
func (p pki) leaf(ca *authority, name string, subject pkix.Name, dns []string, ips []net.IP) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert, err := sign(&x509.Certificate{
		Subject:     subject,
		DNSNames:    dns,
		IPAddresses: ips,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca.cert, key.Public(), ca.key)
	if err != nil {
		return err
	}
	return p.write(name, cert, key)
}

func (p pki) serviceAccountKey() error {
	if _, err := os.Stat(p.path("sa.key")); err == nil {
		return nil
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	der, _ := x509.MarshalPKCS8PrivateKey(key)
	pub, _ := x509.MarshalPKIXPublicKey(key.Public())
	if err := os.WriteFile(p.path("sa.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(p.path("sa.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}), 0o644)
}

// generate makes everything that the control plane needs.
func (p pki) generate() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	ca, err := p.authority("ca")
	if err != nil {
		return err
	}
	front, err := p.authority("front-proxy-ca")
	if err != nil {
		return err
	}
	serverIPs := []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1"), net.ParseIP(apiServiceIP), net.ParseIP(masterIP)}
	serverNames := []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	for _, step := range []func() error{
		func() error {
			return p.leaf(ca, "apiserver", pkix.Name{CommonName: "kube-apiserver"}, serverNames, serverIPs)
		},
		func() error {
			return p.leaf(ca, "admin", pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, nil, nil)
		},
		func() error {
			return p.leaf(ca, "kcm", pkix.Name{CommonName: "system:kube-controller-manager"}, nil, nil)
		},
		func() error { return p.leaf(ca, "kubelet", pkix.Name{CommonName: "cluster-runner"}, nil, nil) },
		func() error {
			return p.leaf(front, "front-proxy-client", pkix.Name{CommonName: "front-proxy-client"}, nil, nil)
		},
		p.serviceAccountKey,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("pki: %w", err)
		}
	}
	return nil
}

// kubeconfig writes a self-contained kubeconfig for the certificate name.
func (p pki) kubeconfig(file, name, server string) error {
	read := func(n string) []byte { b, _ := os.ReadFile(p.path(n)); return b }
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: read("ca.crt")}
	cfg.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: read(name + ".crt"), ClientKeyData: read(name + ".key")}
	cfg.Contexts["cluster"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: name}
	cfg.CurrentContext = "cluster"
	return clientcmd.WriteToFile(*cfg, file)
}
