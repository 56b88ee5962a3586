// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kongtest

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// condition tells whether an expression holds, by what it asks of fields.
type condition func(valueOf func(field string) string) bool

// expressionFields are those of the language that are known here, besides http.headers.*.
var expressionFields = []string{"net.protocol", "net.dst.port", "tls.sni", "http.method", "http.host", "http.path"}

// parseExpression reads as much of the language of the flavor "expressions" as is known here: comparisons by ==, ^= and ~, put together by && and ||
// and parentheses. Kong knows more.
func parseExpression(text string) (condition, error) {
	p := &expressionParser{rest: text}
	c, err := p.either()
	if err == nil && p.word("") != "" {
		err = fmt.Errorf("unexpected %.20q", p.rest)
	}
	return c, err
}

type expressionParser struct{ rest string }

// word gives what follows if it begins with the prefix, without blanks before it.
func (p *expressionParser) word(prefix string) string {
	p.rest = strings.TrimLeft(p.rest, " \n\t")
	if strings.HasPrefix(p.rest, prefix) {
		return p.rest
	}
	return ""
}

func (p *expressionParser) take(token string) bool {
	if p.word(token) == "" {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *expressionParser) either() (condition, error) {
	return p.joined("||", p.all, func(a, b condition) condition {
		return func(valueOf func(string) string) bool { return a(valueOf) || b(valueOf) }
	})
}

func (p *expressionParser) all() (condition, error) {
	return p.joined("&&", p.single, func(a, b condition) condition {
		return func(valueOf func(string) string) bool { return a(valueOf) && b(valueOf) }
	})
}

func (p *expressionParser) joined(operator string, next func() (condition, error), join func(a, b condition) condition) (condition, error) {
	whole, err := next()
	for err == nil && p.take(operator) {
		var more condition
		if more, err = next(); err == nil {
			whole = join(whole, more)
		}
	}
	return whole, err
}

// single is something in parentheses, or a comparison.
func (p *expressionParser) single() (condition, error) {
	if !p.take("(") {
		return p.comparison()
	}
	inner, err := p.either()
	if err == nil && !p.take(")") {
		err = errors.New("a parenthesis is not closed")
	}
	return inner, err
}

var fieldName = regexp.MustCompile(`^[a-z][a-z0-9_.]*`)

func (p *expressionParser) comparison() (condition, error) {
	p.word("")
	field := fieldName.FindString(p.rest)
	p.rest = p.rest[len(field):]
	if !slices.Contains(expressionFields, field) && !strings.HasPrefix(field, "http.headers.") {
		return nil, fmt.Errorf("unknown field %.20q", field)
	}
	for _, operator := range []string{"==", "^=", "~"} {
		if !p.take(operator) {
			continue
		}
		value, err := p.value(field == "net.dst.port")
		if err != nil {
			return nil, err
		}
		return compare(field, operator, value)
	}
	return nil, fmt.Errorf("unknown operator at %.20q", p.rest)
}

func compare(field, operator, value string) (condition, error) {
	switch operator {
	case "==":
		return func(valueOf func(string) string) bool { return valueOf(field) == value }, nil
	case "^=":
		return func(valueOf func(string) string) bool { return strings.HasPrefix(valueOf(field), value) }, nil
	}
	pattern, err := regexp.Compile(value)
	if err != nil {
		return nil, err
	}
	return func(valueOf func(string) string) bool { return pattern.MatchString(valueOf(field)) }, nil
}

// value reads a text in quotation marks, with a backslash before those inside, or a number.
func (p *expressionParser) value(isNumber bool) (string, error) {
	p.word("")
	if isNumber {
		end := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
		text := p.rest[:end]
		p.rest = p.rest[end:]
		_, err := strconv.ParseUint(text, 10, 16)
		return text, err
	}
	if !p.take("\"") {
		return "", fmt.Errorf("no text at %.20q", p.rest)
	}
	var out strings.Builder
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return out.String(), nil
		case c == '\\' && i+1 < len(p.rest) && (p.rest[i+1] == '"' || p.rest[i+1] == '\\'):
			i++
			out.WriteByte(p.rest[i])
		case c == '\\':
			return "", errors.New("a backslash before something else than a quotation mark or a backslash")
		default:
			out.WriteByte(c)
		}
	}
	return "", errors.New("a text does not end")
}

// field gives what expressions ask of a request.
func (r Request) field(name string) string {
	header, isHeader := strings.CutPrefix(name, "http.headers.")
	switch {
	case isHeader:
		for sent, value := range r.Header {
			if strings.ReplaceAll(strings.ToLower(sent), "-", "_") == header {
				return value
			}
		}
		return ""
	case name == "net.protocol":
		return r.Scheme
	case name == "http.method":
		return r.Method
	case name == "http.host":
		host := strings.ToLower(r.Host)
		if name, _, err := net.SplitHostPort(host); err == nil {
			return name
		}
		return host
	case name == "http.path":
		path, _, _ := strings.Cut(r.Path, "?")
		return normalPath(path)
	}
	return ""
}
