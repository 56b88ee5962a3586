// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// NewServer gives an HTTPS server for a handler, with limits on what a client may keep open. The API server speaks HTTP/1.1 with webhooks; nobody
// else needs more.
func NewServer(handler http.Handler, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error), logger *slog.Logger) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler: handler, Protocols: protocols,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate, NextProtos: []string{"http/1.1"}},
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: patience, WriteTimeout: 4 * patience, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       log.New(&logWriter{logger}, "", 0),
	}
}

// logWriter takes what net/http says of connections: mostly handshakes that were broken off.
type logWriter struct{ *slog.Logger }

func (w *logWriter) Write(text []byte) (int, error) {
	w.Debug("admission webhook", "err", string(text))
	return len(text), nil
}

// Serve serves the listener until ctx ends, and then what is in progress for a moment longer.
func Serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_ = server.Shutdown(patient) // whoever is not ready by then is cut off
		_ = server.Close()
	}()
	err := server.ServeTLS(listener, "", "")
	if ctx.Err() == nil {
		return fmt.Errorf("admission webhook: %w", err)
	}
	<-stopped
	return nil
}
