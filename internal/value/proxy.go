// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// off turns a thing off that otherwise has a value.
const off = "off"

// MostSeconds is the most that nginx' Lua balancer takes as a timeout: 2^31-1 ms in seconds, some 24 days. MostTries is more than a backend has
// endpoints that a client would wait for.
const (
	MostSeconds = 2147483
	MostTries   = 1000
)

// OnOff reads "on" or "off", in lower case.
func OnOff(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "on":
		return true, nil
	case off:
		return false, nil
	}
	return false, errors.New("is neither on nor off")
}

// Version10 reads a version of HTTP, 1.0 or 1.1, and tells whether it is the former.
func Version10(text string) (bool, error) {
	switch strings.TrimSpace(text) {
	case "1.0":
		return true, nil
	case "1.1":
		return false, nil
	}
	return false, errors.New("is neither 1.0 nor 1.1")
}

// Size reads "8m": digits and at most one unit letter of b, k, m, g in either case; blanks are dropped as the predecessor does.
func Size(text string) (int64, error) {
	text = strings.ReplaceAll(text, " ", "")
	shift := 0
	if n := len(text); n > 0 {
		unit := strings.IndexByte("bkmg", text[n-1]|0x20)
		if unit >= 0 {
			shift, text = unit*10, text[:n-1]
		}
	}
	v, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errors.New(`is not a size such as "8m"`)
	}
	if v > math.MaxInt64>>shift {
		return 0, errors.New("is too large")
	}
	return int64(v) << shift, nil
}

// The bounds of buffers. A smaller one would hold no response header, and a larger one, taken for each request, only serves to run out of memory.
const (
	leastBuffer, mostBuffer = 1 << 10, 64 << 20
	leastNumber, mostNumber = 2, 1024
	mostBody                = 1 << 30
	mostFile                = 1 << 40
)

// BufferSize reads the size of a buffer for a response, 1k to 64m.
func BufferSize(text string) (int64, error) {
	return sizeWithin(text, leastBuffer, mostBuffer, "is not from 1k to 64m")
}

// BusySize reads how many bytes of a response may be on their way to the client, 1k to 64g.
func BusySize(text string) (int64, error) {
	return sizeWithin(text, leastBuffer, mostBuffer*mostNumber, "is not from 1k to 64g")
}

// BodyBufferSize reads the size of the memory for a request body, 1k to 1g.
func BodyBufferSize(text string) (int64, error) {
	return sizeWithin(text, leastBuffer, mostBody, "is not from 1k to 1g")
}

// FileSize reads the size of a temporary file, at most 1024g; 0 is for none.
func FileSize(text string) (int64, error) {
	return sizeWithin(text, 0, mostFile, "is more than 1024g")
}

func sizeWithin(text string, least, most int64, complaint string) (int64, error) {
	v, err := Size(text)
	if err == nil && (v < least || v > most) {
		err = errors.New(complaint)
	}
	return v, err
}

// BufferNumber reads how many buffers a response has, 2 to 1024.
func BufferNumber(text string) (int, error) {
	v, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, errors.New("is not a whole number")
	case v < leastNumber || v > mostNumber:
		return 0, fmt.Errorf("is not from %d to %d", leastNumber, mostNumber)
	}
	return v, nil
}

// RetryConditions reads the conditions under which another endpoint is tried, with blanks between; "off" among them means none.
func RetryConditions(text string) (model.RetryCondition, error) {
	var on model.RetryCondition
	words := strings.Fields(text)
	for _, word := range words {
		bit := slices.Index(model.RetryConditions(), word)
		if bit < 0 && word != off {
			return 0, fmt.Errorf("has %.40q, which is none of %s, off", word, strings.Join(model.RetryConditions(), ", "))
		}
		if bit >= 0 {
			on |= 1 << bit
		}
	}
	switch {
	case len(words) == 0:
		return 0, errors.New("names no condition")
	case slices.Contains(words, off):
		return 0, nil
	}
	return on, nil
}

// CookieDomain reads "off", which gives nil, or what to look for in the domain of cookies and what to put there.
func CookieDomain(text string) (*model.Replacement, error) {
	r, err := replacement(text, "-._~/:")
	if r != nil {
		r.From, r.To = strings.TrimPrefix(r.From, "."), strings.TrimPrefix(r.To, ".")
		if r.From == "" || r.To == "" {
			return nil, errors.New("has a domain without a name")
		}
	}
	return r, err
}

// CookiePath is CookieDomain for the beginning of the path.
func CookiePath(text string) (*model.Replacement, error) { return replacement(text, "-._~/:,?&=") }

func replacement(text, others string) (*model.Replacement, error) {
	words := strings.Fields(text)
	if len(words) == 1 && words[0] == off {
		return nil, nil
	}
	if len(words) != 2 {
		return nil, errors.New("is neither off nor two words")
	}
	for _, word := range words {
		if err := plain(word, others); err != nil {
			return nil, err
		}
	}
	return &model.Replacement{From: words[0], To: words[1]}, nil
}

// LocationPart reads the beginning of a Location, or what replaces it; "off", and nginx' "default", which has nothing to replace here, give "". Blanks are dropped.
func LocationPart(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == off || text == "default" {
		return "", nil
	}
	return text, plain(text, "-._~/:,?&=")
}

// plain says what is wrong with a word that is to be taken literally.
func plain(word, others string) error {
	const most = 1024
	switch {
	case word == "" || len(word) > most:
		return fmt.Errorf("is empty or longer than %d bytes", most)
	case word[0] == '~':
		return errors.New("begins with ~: there are no regular expressions here")
	case !Only(word, IsLetterOrDigit, others):
		return fmt.Errorf("has other characters than letters, digits and %s", others)
	}
	return nil
}
