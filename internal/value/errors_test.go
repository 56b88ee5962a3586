// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"slices"
	"testing"
)

func TestStatuses(t *testing.T) {
	for text, want := range map[string][]int{
		"404":           {404},
		" 503 ,404,503": {404, 503},
		"400,599,":      {400, 599},
		"":              nil,
		",":             nil,
		"399":           nil,
		"600":           nil,
		"499":           nil,
		"0404":          nil,
		"+404":          nil,
		"404 503":       nil,
		"4xx":           nil,
	} {
		got, err := Statuses(400)(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestServiceName(t *testing.T) {
	for text, good := range map[string]bool{
		"a": true, "web-1": true, " web ": true,
		"": false, "1web": false, "-a": false, "a-": false, "Web": false, "a.b": false, "a/b": false, "a\n": true, "a\nb": false,
	} {
		if _, err := ServiceName(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzStatuses(f *testing.F) {
	f.Add("404,503")
	f.Add("499")
	f.Add("404;}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Statuses(300)(text)
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%q: %v, %v", text, list, err)
		}
		for i, n := range list {
			if n < 300 || n > 599 || n == 499 || i > 0 && list[i-1] >= n {
				t.Errorf("%q gives %v", text, list)
			}
		}
	})
}
