// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

// TestProtocols speaks every protocol to one port.
func TestProtocols(t *testing.T) {
	cert, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(&handler{grpc: newGRPC()})
	go server.Serve(newSniffer(ln, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}))
	defer server.Close()
	addr := ln.Addr().String()
	insecureTLS := &tls.Config{InsecureSkipVerify: true, ServerName: "example.test"}

	for _, c := range []struct {
		name, url, proto string
		h1, h2, h2c      bool
	}{
		{"http1", "http://" + addr, "HTTP/1.1", true, false, false},
		{"h2c", "http://" + addr, "HTTP/2.0", false, false, true},
		{"https", "https://" + addr, "HTTP/1.1", true, false, false},
		{"h2", "https://" + addr, "HTTP/2.0", false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := &http.Transport{TLSClientConfig: insecureTLS.Clone(), Protocols: new(http.Protocols)}
			tr.Protocols.SetHTTP1(c.h1)
			tr.Protocols.SetHTTP2(c.h2)
			tr.Protocols.SetUnencryptedHTTP2(c.h2c)
			defer tr.CloseIdleConnections()
			resp, err := (&http.Client{Transport: tr}).Get(c.url + "/a%2Fb?status=202&header=X-A:1&x=y")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var got reply
			if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != 202 || resp.Header.Get("X-A") != "1" || got.Proto != c.proto || got.RawPath != "/a%2Fb?status=202&header=X-A:1&x=y" {
				t.Errorf("status %d, reply %+v", resp.StatusCode, got)
			}
			if (got.TLS != nil) != (c.h2 || c.name == "https") || got.TLS != nil && got.TLS.SNI != "example.test" {
				t.Errorf("tls %+v", got.TLS)
			}
		})
	}

	for name, creds := range map[string]credentials.TransportCredentials{"grpc": insecure.NewCredentials(), "grpcs": credentials.NewTLS(insecureTLS)} {
		t.Run(name, func(t *testing.T) {
			conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(creds))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			in, _ := structpb.NewStruct(map[string]any{"hello": "world"})
			out := new(structpb.Struct)
			if err := conn.Invoke(context.Background(), "/echo.Echo/Unary", in, out); err != nil {
				t.Fatal(err)
			}
			if got := out.Fields["request"].GetStructValue().Fields["hello"].GetStringValue(); got != "world" {
				t.Errorf("reply %v", out)
			}
			in.Fields["code"] = structpb.NewNumberValue(float64(codes.Unavailable))
			if err := conn.Invoke(context.Background(), "/echo.Echo/Unary", in, out); status.Code(err) != codes.Unavailable {
				t.Errorf("error %v", err)
			}
		})
	}

	t.Run("websocket", func(t *testing.T) {
		conn, _, err := websocket.DefaultDialer.Dial("ws://"+addr+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		var hello reply
		if err := conn.ReadJSON(&hello); err != nil || hello.Path != "/ws" {
			t.Fatalf("%v, %+v", err, hello)
		}
		conn.WriteMessage(websocket.TextMessage, []byte("ping"))
		if _, msg, err := conn.ReadMessage(); err != nil || string(msg) != "ping" {
			t.Errorf("%q, %v", msg, err)
		}
	})

	t.Run("abort", func(t *testing.T) {
		if resp, err := http.Get("http://" + addr + "/?abort=1"); err == nil {
			io.Copy(io.Discard, resp.Body)
			t.Error("got an answer")
		}
	})
}
