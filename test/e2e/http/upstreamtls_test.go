// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package http

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

func TestGRPCSIsVerified(t *testing.T) {
	grpcs := func(host, authority string) string {
		return rule(authority, host, "/", "grpcs", prefix+"backend-protocol: GRPCS, "+prefix+"proxy-ssl-secret: default/"+authority+", "+prefix+`proxy-ssl-verify: "on"`)
	}
	shared.apply(t, grpcs("good.example", "backends")+grpcs("bad.example", "others")+shared.pki.secret("backends")+shared.pki.secret("others"), "")
	for host, want := range map[string]codes.Code{"good.example": codes.OK, "bad.example": codes.Unavailable} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := dialGRPC(t, host).Check(ctx, &healthpb.HealthCheckRequest{}); status.Code(err) != want {
			t.Errorf("%s: %v, want %s", host, err, want)
		}
	}
}

// TestNoKeyOnDisk looks for private keys in the runtime directory while a client certificate is shown to a backend.
func TestNoKeyOnDisk(t *testing.T) {
	alice := shared.pki.pairs["alice"]
	shared.apply(t, rule("web", "disk.example", "/", "tls", prefix+"backend-protocol: HTTPS, "+prefix+"proxy-ssl-secret: default/identity")+
		secretOf("identity", map[string][]byte{"ca.crt": shared.pki.authorities["backends"].pem, "tls.crt": alice.chain, "tls.key": alice.key}), "")
	r, err := (&request{method: "GET", url: "http://disk.example/", body: -1}).send(shared)
	if err != nil || r.status != 200 {
		t.Fatalf("%+v, %v", r, err)
	}
	err = filepath.WalkDir(shared.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "placeholder.key" {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("PRIVATE KEY")) {
			t.Errorf("%s holds a private key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
