// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Method reads an HTTP method in upper case.
func Method(text string) (string, error) {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"}
	if !slices.Contains(methods, text) {
		return "", fmt.Errorf("is none of %s", strings.Join(methods, ", "))
	}
	return text, nil
}

// HeaderName reads the name of a header made of letters, digits, "-" and "_", and writes it as is usual.
func HeaderName(text string) (string, error) {
	if text == "" || len(text) > 128 || !Only(text, IsLetterOrDigit, "-_") {
		return "", fmt.Errorf("has %.40q, which is no header name of letters, digits, - and _", text)
	}
	return textproto.CanonicalMIMEHeaderKey(text), nil
}

// HeaderNames reads names with commas between, and gives them sorted and unique.
func HeaderNames(text string) ([]string, error) {
	var names []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, err := HeaderName(part)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// HeaderValue reads the value of a header: visible ASCII and blanks.
func HeaderValue(text string) (string, error) {
	text = strings.TrimSpace(text)
	if len(text) > 4096 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", errors.New("is no header value of visible ASCII characters")
	}
	return text, nil
}

// Headers reads the data of a ConfigMap as headers, sorted by name. A name in two spellings is refused.
func Headers(data map[string][]byte) ([]model.Header, error) {
	var headers []model.Header
	for key, content := range data {
		name, err := HeaderName(key)
		if err != nil {
			return nil, err
		}
		text, err := HeaderValue(string(content))
		if err != nil {
			return nil, fmt.Errorf("has the key %s, whose value %w", name, err)
		}
		headers = append(headers, model.Header{Name: name, Value: text})
	}
	slices.SortFunc(headers, func(a, b model.Header) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(headers); i++ {
		if headers[i].Name == headers[i-1].Name {
			return nil, fmt.Errorf("has the header %s twice", headers[i].Name)
		}
	}
	return headers, nil
}

// SignIn reads where clients without a login are sent: an absolute URL or a path, with variables.
func SignIn(text string) (model.Template, error) {
	t, err := TemplateOf(urlCharacters)(text)
	if err != nil {
		return "", err
	}
	for _, beginning := range []string{"http://", "https://", "${scheme}://", "${pass_access_scheme}://", "/"} {
		if strings.HasPrefix(string(t), beginning) && !strings.HasPrefix(string(t), "//") {
			return t, nil
		}
	}
	return "", errors.New("is neither a URL nor a path")
}

// PlainURI reads a path or a URL, as far as its characters go, without variables. Blanks are dropped.
func PlainURI(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == "" || len(text) > 2048 || !Only(text, IsLetterOrDigit, "-._~/:,?&=%+") {
		return "", errors.New("has other characters than letters, digits and - . _ ~ / : , ? & = % +")
	}
	return text, nil
}

// QueryName reads the name of a query parameter.
func QueryName(text string) (string, error) {
	text = strings.ReplaceAll(text, " ", "")
	if text == "" || len(text) > 64 || !Only(text, IsLetterOrDigit, "-._~") {
		return "", errors.New("is no name of letters, digits and - . _ ~")
	}
	return text, nil
}

// Realm reads the realm of a login.
func Realm(text string) (string, error) {
	text = strings.TrimSpace(text)
	if len(text) > 256 || !Only(text, IsLetterOrDigit, " -._~/:") {
		return "", errors.New("has other characters than letters, digits, blanks, slashes and - . : ~ _")
	}
	return text, nil
}

// Satisfy reads "any", or "all", in their exact spelling, as any lets in more.
func Satisfy(text string) (any bool, err error) {
	switch strings.TrimSpace(text) {
	case "any":
		return true, nil
	case "all":
		return false, nil
	}
	return false, errors.New("is neither all nor any")
}

// CacheTimes reads "200 202 401 5m, 403 1s": statuses, or "any", and how long answers with them are kept, with commas between.
func CacheTimes(text string) ([]model.CacheTime, error) {
	var times []model.CacheTime
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		last := words[len(words)-1]
		kept, err := duration(last)
		if err != nil {
			return nil, err
		}
		statuses := words[:len(words)-1]
		if len(statuses) == 0 {
			statuses = []string{"200", "301", "302"} // as proxy_cache_valid has it
		}
		for _, word := range statuses {
			status, err := strconv.Atoi(word)
			if word == "any" {
				status, err = 0, nil
			} else if err == nil && (status < 100 || status > 599) {
				err = errors.New("out of range")
			}
			if err != nil {
				return nil, fmt.Errorf("has %.20q where a status belongs", word)
			}
			times = append(times, model.CacheTime{Status: status, For: kept})
		}
	}
	if len(times) == 0 {
		return nil, errors.New(`is no list such as "200 202 401 5m"`)
	}
	return times, nil
}

// duration reads a time with a unit, in nginx' words, of whole seconds; less counts as one second and more than a year as a year.
func duration(text string) (time.Duration, error) {
	const year = 365 * 24 * time.Hour
	units := []struct {
		suffix string
		unit   time.Duration
	}{
		{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour},
		{"M", 30 * 24 * time.Hour}, {"y", year},
	}
	for _, u := range units {
		digits, found := strings.CutSuffix(text, u.suffix)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			continue
		}
		if n > uint64(year/u.unit) {
			return year, nil
		}
		return max(time.Second, (time.Duration(n) * u.unit).Truncate(time.Second)), nil
	}
	return 0, fmt.Errorf("has %.20q where a time such as 5m belongs", text)
}
