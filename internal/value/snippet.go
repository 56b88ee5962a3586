// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// maxSnippet bounds raw configuration, in bytes.
const maxSnippet = 64 << 10

// Snippet reads raw nginx configuration: a sequence of whole directives. What they say is nginx' to judge; here it is made sure that they stay
// within the block that they are put into: braces and quotes balance, and the last directive ends. Whoever may write this has the power of nginx.
func Snippet(text string) (model.Snippet, error) { return snippet(text, false) }

// AdminSnippet is Snippet for the admin, who may also write Lua.
func AdminSnippet(text string) (model.Snippet, error) { return snippet(text, true) }

func snippet(text string, lua bool) (model.Snippet, error) {
	if len(text) > maxSnippet {
		return "", fmt.Errorf("is longer than %d bytes", maxSnippet)
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("contains a NUL character")
	}
	f := fence{text: text, lua: lua}
	for !f.done() {
		if err := f.step(); err != nil {
			return "", err
		}
	}
	switch {
	case f.depth > 0:
		return "", errors.New("has a block that does not end")
	case f.open:
		return "", errors.New("ends within a directive; is a ; missing?")
	}
	// A comment in the last line must not swallow what follows.
	return model.Snippet(strings.TrimRight(text, " \t\r\n") + "\n"), nil
}

// fence reads configuration as nginx' parser does, as far as blocks and directives are concerned.
type fence struct {
	text  string
	at    int
	depth int
	open  bool // within a directive
	lua   bool // lets Lua blocks in
}

func (f *fence) done() bool { return f.at >= len(f.text) }

// step reads one token, or what ends one.
func (f *fence) step() error {
	switch c := f.text[f.at]; c {
	case ' ', '\t', '\r', '\n':
		f.at++
	case '#':
		end := strings.IndexByte(f.text[f.at:], '\n')
		if end < 0 {
			end = len(f.text) - f.at
		}
		f.at += end
	case ';':
		f.at++
		if !f.open {
			return errors.New("has a ; without a directive")
		}
		f.open = false
	case '{':
		f.at++
		if !f.open {
			return errors.New("has a { without a directive")
		}
		if strings.Contains(f.lastWords(), "_by_lua_block") {
			return f.skipLua()
		}
		f.depth++
		f.open = false
	case '}':
		f.at++
		if f.open || f.depth == 0 {
			return errors.New("has a } that ends no block of its own")
		}
		f.depth--
	case '"', '\'':
		f.open = true
		return f.skipQuoted(c)
	default:
		f.open = true
		f.skipWord()
	}
	return nil
}

// lastWords gives the directive that was begun last.
func (f *fence) lastWords() string {
	begin := strings.LastIndexAny(f.text[:f.at-1], ";{}\n") + 1
	return f.text[begin : f.at-1]
}

func (f *fence) skipQuoted(quote byte) error {
	for f.at++; f.at < len(f.text); f.at++ {
		switch f.text[f.at] {
		case '\\':
			f.at++
		case quote:
			f.at++
			if !f.done() && strings.IndexByte(" \t\r\n;{)", f.text[f.at]) < 0 {
				return errors.New("has text right behind a quote")
			}
			return nil
		}
	}
	return errors.New("has a quote that does not end")
}

// skipWord passes a token without quotes. Within it "${" opens a variable, whose braces are none of blocks, and a backslash escapes.
func (f *fence) skipWord() {
	for ; f.at < len(f.text); f.at++ {
		switch f.text[f.at] {
		case '\\':
			f.at++
		case '$':
			if strings.HasPrefix(f.text[f.at:], "${") {
				f.at++
			}
		case ' ', '\t', '\r', '\n', ';', '{':
			return
		}
	}
}

// skipLua refuses: whether such a block ends where it seems to is for Lua's own grammar to say.
func (f *fence) skipLua() error {
	if !f.lua {
		return errors.New("has a Lua block, which is not let in")
	}
	for depth := 1; depth > 0; {
		rest := f.text[f.at:]
		switch {
		case rest == "":
			return errors.New("has a Lua block that does not end")
		case rest[0] == '{':
			depth++
			f.at++
		case rest[0] == '}':
			depth--
			f.at++
		default:
			f.at += luaLength(rest)
		}
	}
	f.open = false
	return nil
}

// luaLength is how many bytes of Lua belong together: a string or a comment, whose braces count for nothing, or one byte.
func luaLength(text string) int {
	until := func(end string, from int) int {
		if i := strings.Index(text[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch {
	case strings.HasPrefix(text, "--[["):
		return until("]]", 4)
	case strings.HasPrefix(text, "--"):
		return until("\n", 2)
	case strings.HasPrefix(text, "[["):
		return until("]]", 2)
	case text[0] != '"' && text[0] != '\'':
		return 1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0], '\n':
			return i + 1
		}
	}
	return len(text)
}

// Rules reads rules of ModSecurity: any text without NUL. They become one quoted argument of a directive, so that they need no fence.
func Rules(text string) (model.Snippet, error) {
	if len(text) > maxSnippet || strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("is longer than %d bytes or contains a NUL character", maxSnippet)
	}
	return model.Snippet(text), nil
}
