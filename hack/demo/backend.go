// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// backend is a sample web server: it says who it is and what it was asked, and echoes WebSocket messages.
type backend struct {
	name string
	port int
}

// backends are the servers that examples/demo/backends.yaml names.
var backends = []backend{{"hello", 9081}, {"hello-next", 9082}, {"chat", 9083}}

// serve answers until the listener is closed. It is the only goroutine of a backend besides those of its connections.
func (b backend) serve(listener net.Listener) {
	server := &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}
	_ = server.Serve(listener) // ends with the listener
}

func (b backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		b.talk(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "backend: %s\nhost: %s\npath: %s\nproto: %s\n", b.name, r.Host, r.URL.RequestURI(), r.Proto)
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range r.Header[name] {
			fmt.Fprintf(w, "  %s: %s\n", name, value)
		}
	}
}

// talk greets, ticks once a second and echoes each message, until the client leaves.
func (b backend) talk(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	defer conn.Close()
	heard := make(chan []byte)
	go func() { // ends when the connection is closed, which ends the loop below, or the other way round
		defer close(heard)
		for {
			_, message, err := conn.ReadMessage()
			if err != nil {
				return
			}
			heard <- message
		}
	}()
	say := func(format string, args ...any) bool {
		return conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format+"\n", args...)) == nil
	}
	defer func() {
		conn.Close()
		for range heard {
		}
	}()
	if !say("welcome to %s", b.name) {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; {
		select {
		case message, open := <-heard:
			if !open || !say("echo %s", message) {
				return
			}
		case <-tick.C:
			if !say("tick %d", n) {
				return
			}
			n++
		}
	}
}
