// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Class is what a failure means to whoever asked.
type Class uint8

// The classes.
const (
	// Invalid is something that the gateway will never take: a field, a rule, a size.
	Invalid Class = iota
	// Conflict is a value or an id that something else has.
	Conflict
	// Reference is a reference to nothing, or something that is still referred to.
	Reference
	// Gone is an entity, or its parent, that is not there.
	Gone
	// Auth is a gateway that does not know us.
	Auth
	// Busy is a gateway that asks for patience.
	Busy
	// Server is one that failed.
	Server
	// Transport is an answer that did not come; whether the request was carried out is not known.
	Transport
)

// Passing tells whether trying again may help.
func (c Class) Passing() bool { return c == Busy || c == Server || c == Transport }

// String names the class.
func (c Class) String() string {
	return [...]string{"invalid", "conflict", "reference", "gone", "auth", "busy", "server", "transport"}[c]
}

// Error is a request that failed.
type Error struct {
	Class        Class
	Method, Path string
	// Status is that of the answer, 0 without one. Code and Name are Kong's; Message is the gateway's, or why there is no answer.
	Status     int
	Code       int
	Name       string
	Message    string
	Fields     map[string]any
	Flattened  []Flattened
	RetryAfter time.Duration

	cause error
}

// Flattened is an entity of a declarative document that was refused.
type Flattened struct {
	Type    string `json:"entity_type"`
	ID      string `json:"entity_id"`
	Name    string `json:"entity_name"`
	Tags    any    `json:"entity_tags"`
	Entries []struct {
		Field    string   `json:"field"`
		Message  string   `json:"message"`
		Messages []string `json:"messages"`
	} `json:"errors"`
}

// Reason says in one line what is wrong with the entity.
func (f Flattened) Reason() string {
	var parts []string
	for _, e := range f.Entries {
		text := strings.Join(append(e.Messages, slices.DeleteFunc([]string{e.Message}, func(s string) bool { return s == "" })...), ", ")
		if e.Field != "" {
			text = e.Field + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// Error says what was tried and what came of it.
func (e *Error) Error() string {
	path, _, _ := strings.Cut(e.Path, "?")
	if e.Status == 0 {
		return fmt.Sprintf("%s %s: %s", e.Method, path, e.Message)
	}
	return fmt.Sprintf("%s %s: status %d: %s", e.Method, path, e.Status, e.Reason())
}

// Unwrap gives why there was no answer, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Reason says in one line what the gateway finds wrong: its fields where it names some, else its message.
func (e *Error) Reason() string {
	if lines := flatten("", e.Fields); len(lines) > 0 && e.Class == Invalid {
		return strings.Join(lines, "; ")
	}
	if len(e.Flattened) > 0 {
		return e.entities()
	}
	return e.Message
}

// mostTold bounds the entities that are told of in one line.
const mostTold = 3

// entities says what is wrong with those that a document was refused for.
func (e *Error) entities() string {
	var lines []string
	for i, f := range e.Flattened {
		if i == mostTold {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Flattened)-mostTold))
			break
		}
		lines = append(lines, f.Type+" "+cmp.Or(f.ID, f.Name)+": "+f.Reason())
	}
	return strings.Join(lines, "; ")
}

// flatten gives "field: text" for every text in errors, sorted.
func flatten(prefix string, value any) []string {
	var lines []string
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			path := prefix
			if name != "@entity" {
				path = strings.TrimPrefix(prefix+"."+name, ".")
			}
			lines = append(lines, flatten(path, v[name])...)
		}
	case []any:
		for _, element := range v {
			lines = append(lines, flatten(prefix, element)...)
		}
	case string:
		lines = append(lines, strings.TrimPrefix(prefix+": "+v, ": "))
	}
	return lines
}

// readError makes sense of an answer that is a failure: Kong's own, one with a message alone, or a page of nginx.
func readError(r request, answer *http.Response, body []byte) *Error {
	var known struct {
		Code      int         `json:"code"`
		Name      string      `json:"name"`
		Message   any         `json:"message"`
		Fields    any         `json:"fields"`
		Options   any         `json:"options"`
		Flattened []Flattened `json:"flattened_errors"`
	}
	// Lists that are empty may come as {}, for which the rest must not be lost.
	if err := json.Unmarshal(body, &known); err != nil && known.Message == nil {
		known.Message = strings.TrimSpace(http.StatusText(answer.StatusCode))
	}
	e := &Error{
		Method: r.method, Path: r.path, Status: answer.StatusCode, Code: known.Code, Name: known.Name, Message: fmt.Sprint(known.Message),
		Flattened: known.Flattened, Class: classOf(answer.StatusCode, known.Code),
	}
	e.Fields, _ = known.Fields.(map[string]any)
	if e.Fields == nil {
		e.Fields, _ = known.Options.(map[string]any)
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = min(time.Duration(seconds)*time.Second, time.Minute)
	}
	return e
}

// classOf sorts by status and by Kong's code.
func classOf(status, code int) Class {
	switch {
	case status == http.StatusConflict || code == 3:
		return Conflict
	case code == 4 || code == 13 || code == 19:
		return Reference
	case status == http.StatusNotFound:
		return Gone
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Auth
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return Busy
	case status >= 500:
		return Server
	}
	return Invalid
}
