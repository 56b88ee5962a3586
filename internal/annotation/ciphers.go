// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// defaultCiphers stands for OpenSSL's own choice.
const defaultCiphers = "DEFAULT"

// parseCiphers reads an OpenSSL cipher list, see ciphers(1), and gives the names of the suites that it comes to, in their order, or "DEFAULT". What goes on
// to nginx are these names and nothing that a tenant wrote, and there is always one: an empty list is something that nginx would not start with.
func parseCiphers(text string) (string, error) { return readCiphers(text, false) }

// parseServerCiphers is parseCiphers for a list that may demand a security level, "@SECLEVEL=0" to 5, which then stands first.
func parseServerCiphers(text string) (string, error) { return readCiphers(text, true) }

func readCiphers(text string, levels bool) (string, error) {
	const most = 2048
	if len(text) > most {
		return "", fmt.Errorf("is longer than %d bytes", most)
	}
	if strings.TrimSpace(text) == defaultCiphers {
		return defaultCiphers, nil
	}
	c := newCipherList()
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(":, ;", r) })
	for i, word := range words {
		if err := c.obey(word, i == 0, levels); err != nil {
			return "", err
		}
	}
	if len(c.chosen) == 0 {
		return "", errors.New("leaves no cipher")
	}
	var names []string
	if c.level != "" {
		names = append(names, c.level)
	}
	for _, s := range c.chosen {
		names = append(names, s.name)
	}
	return strings.Join(names, ":"), nil
}

// cipherList is a list in the making: suites that are chosen, and those that still can be, both in order.
type cipherList struct {
	chosen, left []*suite
	level        string // "@SECLEVEL=n"
}

func newCipherList() *cipherList {
	c := &cipherList{}
	for i := range suites {
		c.left = append(c.left, &suites[i])
	}
	return c
}

// obey carries out one word of a list.
func (c *cipherList) obey(word string, first, levels bool) error {
	switch {
	case word == "@STRENGTH":
		slices.SortStableFunc(c.chosen, func(a, b *suite) int { return b.bits - a.bits })
		return nil
	case word == defaultCiphers && first:
		c.left, _ = part(c.left, cipherWords["COMPLEMENTOFDEFAULT"]) // for good
		c.choose(all)
		return nil
	case strings.HasPrefix(word, "@SECLEVEL=") && levels:
		n := word[len("@SECLEVEL="):]
		if len(n) != 1 || n[0] < '0' || n[0] > '5' {
			return errors.New("has a @SECLEVEL that is none of 0 to 5")
		}
		c.level = word
		return nil
	}
	name := strings.TrimLeft(word, "!-+")
	if len(word)-len(name) > 1 {
		return fmt.Errorf("has %s, which is no cipher", quote(word))
	}
	is, err := cipherGroup(name)
	if err != nil {
		return err
	}
	switch word[0] {
	case '!':
		c.chosen, _ = part(c.chosen, is)
		c.left, _ = part(c.left, is)
	case '-':
		rest, out := part(c.chosen, is)
		c.chosen, c.left = rest, append(out, c.left...)
	case '+':
		rest, moved := part(c.chosen, is)
		c.chosen = append(rest, moved...)
	default:
		c.choose(is)
	}
	return nil
}

func (c *cipherList) choose(is func(s *suite) bool) {
	rest, added := part(c.left, is)
	c.chosen, c.left = append(c.chosen, added...), rest
}

// cipherGroup gives the suites of a word: the name of one, a group, or "GROUP+GROUP" for what is in both.
func cipherGroup(text string) (func(s *suite) bool, error) {
	var demands []func(s *suite) bool
	for word := range strings.SplitSeq(text, "+") {
		is := cipherWords[word]
		switch {
		case is != nil:
		case slices.ContainsFunc(suites, func(s suite) bool { return s.name == word }):
			is = func(s *suite) bool { return s.name == word }
		case slices.Contains(emptyWords, word):
			is = func(*suite) bool { return false }
		default:
			return nil, fmt.Errorf("has %s, which is no cipher", quote(word))
		}
		demands = append(demands, is)
	}
	return func(s *suite) bool {
		return !slices.ContainsFunc(demands, func(is func(s *suite) bool) bool { return !is(s) })
	}, nil
}

// part gives the suites that are not in a group and those that are.
func part(list []*suite, is func(s *suite) bool) (out, in []*suite) {
	for _, s := range list {
		if is(s) {
			in = append(in, s)
		} else {
			out = append(out, s)
		}
	}
	return out, in
}
