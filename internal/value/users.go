// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairway-ingress/fairway/internal/model"
)

// maxUsers bounds how many users one login has, as each route's host keeps them in the memory of nginx.
const maxUsers = 5000

// UserFile reads a file of users, one in each line: "name:hash" as htpasswd writes it or, for Digest, "name:realm:hash" as htdigest does. Anything behind a hash and
// another colon is a comment, as are lines that begin with "#". Of several lines for a name the first counts. Errors name the line, never its content.
func UserFile(text []byte, login model.Login) ([]model.User, error) {
	set := userSet{login: login}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, found := strings.Cut(line, ":")
		err := errors.New("has no colon")
		if found {
			err = set.add(name, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d %w", number, err)
		}
	}
	return set.sorted()
}

// UserMap reads users whose names are the keys and whose hashes the values, for Digest also "realm:hash".
func UserMap(data map[string][]byte, login model.Login) ([]model.User, error) {
	set := userSet{login: login}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		value := strings.TrimRight(string(data[name]), "\r\n")
		if login.Digest && !strings.Contains(value, ":") {
			value = login.Realm + ":" + value
		}
		if err := set.add(name, value); err != nil {
			return nil, fmt.Errorf("the key %.100q %w", name, err)
		}
	}
	return set.sorted()
}

// userSet is the users in the making.
type userSet struct {
	login model.Login
	users map[string]model.User
	// strangers says that there are users of another realm, who can't log in here.
	strangers bool
}

func (s *userSet) add(name, rest string) error {
	if name == "" {
		return errors.New("has no name")
	}
	if !isLine(name) || !isLine(rest) {
		return errors.New("has control characters or is no UTF-8 text")
	}
	hash, here, err := s.hash(rest)
	if err != nil || !here || s.users[name] != (model.User{}) {
		return err
	}
	if len(s.users) >= maxUsers {
		return fmt.Errorf("is beyond the %d users that a login may have", maxUsers)
	}
	if s.users == nil {
		s.users = map[string]model.User{}
	}
	s.users[name] = model.User{Name: name, Hash: model.NewSecret(hash)}
	return nil
}

// hash gives what stands behind a name, and whether the user may log in here.
func (s *userSet) hash(rest string) (hash string, here bool, err error) {
	if !s.login.Digest {
		hash, _, _ = strings.Cut(rest, ":")
		if strings.HasPrefix(hash, "!") || strings.HasPrefix(hash, "*") {
			return "", false, nil // locked, as in passwd(5)
		}
		return hash, true, checkHash(hash)
	}
	end := strings.LastIndexByte(rest, ':') // a realm may have colons
	if end < 0 {
		return "", false, errors.New("has no realm")
	}
	hash = strings.ToLower(rest[end+1:])
	if len(hash) != 32 || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", false, errors.New("has no hash as htdigest makes it, of 32 hexadecimal digits")
	}
	here = rest[:end] == s.login.Realm
	s.strangers = s.strangers || !here
	return hash, here, nil
}

func (s *userSet) sorted() ([]model.User, error) {
	if len(s.users) == 0 && s.strangers {
		return nil, fmt.Errorf("no user is of the realm %q", s.login.Realm)
	}
	return slices.SortedFunc(maps.Values(s.users), func(a, b model.User) int { return strings.Compare(a.Name, b.Name) }), nil
}

// isLine tells whether text is UTF-8 without control characters, so that it comes to nginx as it is.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
