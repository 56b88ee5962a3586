// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairway-ingress/fairway/internal/model"
)

// goodHashes are of the password "secret", one of each form.
var goodHashes = []string{
	`$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a`,
	`$2y$12$abcdefghijklmnopqrstuuT1Iwu6o8Wx7BoOyIMHfgVJq6JO/IJhW`,
	`$5$saltsalt$0IyaXrmV7.sGNS6tirgqHLqX/G.FBvgkYA.lpPdS5sA`,
	`$6$saltsalt$TVLlQcbpFVof5W3Yz4DTP6gRstiNuHwwTt6GLc1E5n0U0aDehy0S5knV8wiOQSpT0Y77vwPZN.Pq.H91p5hVO1`,
	`$6$rounds=10000$saltsalt$WowrPBpEDVlCoruBosYlrZycTCx3//TyDHYqEhX9DUHHt0XTztUqzQDDUuvUGRA8aUe9p55hcAxeGcu58sm3u.`,
	`$y$j9T$F5Jx5fExrKuPp53xLKQ..1$GmcwIgvdUC9qLWcKCi6gklUa1dM3ziD43YxYNURLKy0`,
	`$1$saltsalt$9xy1btjgzLYfb7hivXtC//`,
	`abNANd1rDfiNc`,
	`$apr1$abcdefgh$h9FWgUz3n9YxylKLlR5SQ/`,
	`{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=`,
	`{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0`,
	"{PLAIN}secret", "{PLAIN}",
}

func TestCheckHash(t *testing.T) {
	for _, hash := range goodHashes {
		if err := checkHash(hash); err != nil {
			t.Errorf("%s: %v", hash, err)
		}
	}
	for _, hash := range []string{
		"", "secret", "$", "$2y$", "$2y$05$short", "$2x$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a", // not the forms of crypt(3)
		"$2b$13$abcdefghijklmnopqrstuuyd9ipDgNyTEie103vumVuve9x.2WtxW", "$2y$31$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a", // slow
		"$6$rounds=999999999$saltsalt$" + strings.Repeat("a", 86), "$5$rounds=9999999999$saltsalt$" + strings.Repeat("a", 43),
		"$y$jFT$F5Jx5fExrKuPp53xLKQ..1$GmcwIgvdUC9qLWcKCi6gklUa1dM3ziD43YxYNURLKy0", "$7$CU..../....2Q9obwLhin8qvQl6sisAO/$E1HizYWxBmnIH4sdPkd1UOML9t62Gf.wvNTnt5XFzs8",
		"_J9..rasmBYk8r9AiWNc", "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA",
		"{SHA}", "{SHA}c2hvcnQ=", "{SSHA}", "{SSHA}c2hvcnQ=", "{SSHA}!", "{sha}5en6G6MezRroT3XKqkdPOmY/BfQ=", "{MD5}x",
	} {
		err := checkHash(hash)
		if err == nil {
			t.Errorf("%s is taken", hash)
		} else if len(hash) > 9 && strings.Contains(err.Error(), hash[8:]) {
			t.Errorf("the error shows the hash: %v", err)
		}
	}
}

const someHA1 = "90dea4569b2187fa20b7ed9b2c155480"

func TestUserFile(t *testing.T) {
	basic, digest := model.Login{}, model.Login{Digest: true, Realm: "Staff: all"}
	for _, c := range []struct {
		name, text string
		login      model.Login
		want       string // names, and hashes
		err        string
	}{
		{"nobody", "", basic, "", ""},
		{"comments", "# x\n\n#y:z\r\n", basic, "", ""},
		{"sorted", "b:{PLAIN}x\r\na:{PLAIN}y:comment:z\n", basic, "a={PLAIN}y b={PLAIN}x", ""},
		{"first counts", "a:{PLAIN}1\na:{PLAIN}2", basic, "a={PLAIN}1", ""},
		{"blanks belong to a name", " a b:{PLAIN}1 2", basic, " a b={PLAIN}1 2", ""},
		{"locked", "a:!{PLAIN}1\nb:*\nc:{PLAIN}3", basic, "c={PLAIN}3", ""},
		{"no colon", "a:{PLAIN}1\nsecret", basic, "", "line 2 has no colon"},
		{"no name", ":{PLAIN}1", basic, "", "line 1 has no name"},
		{"no hash", "a:", basic, "", "line 1 has no hash of a form"},
		{"not UTF-8", "a:{PLAIN}\xff", basic, "", "line 1 has control"},
		{"zero byte", "a\x00:{PLAIN}x", basic, "", "line 1 has control"},
		{"digest", "a:Staff: all:" + strings.ToUpper(someHA1) + "\nb:other:" + someHA1, digest, "a=" + someHA1, ""},
		{"digest of others", "b:other:" + someHA1, digest, "", `no user is of the realm "Staff: all"`},
		{"digest without realm", "b:" + someHA1, digest, "", "line 1 has no realm"},
		{"digest with a password", "a:Staff: all:secret", digest, "", "line 1 has no hash as htdigest"},
		{"too many", manyUsers(maxUsers + 1), basic, "", fmt.Sprintf("line %d is beyond", maxUsers+1)},
	} {
		users, err := UserFile([]byte(c.text), c.login)
		checkUsers(t, c.name, users, err, c.want, c.err)
	}
	if users, err := UserFile([]byte(manyUsers(maxUsers)), basic); err != nil || len(users) != maxUsers {
		t.Errorf("%d users, %v", len(users), err)
	}
}

func manyUsers(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "user%d:{PLAIN}x\n", i)
	}
	return text.String()
}

func TestUserMap(t *testing.T) {
	basic, digest := model.Login{}, model.Login{Digest: true, Realm: "r"}
	for _, c := range []struct {
		name      string
		data      map[string]string
		login     model.Login
		want, err string
	}{
		{"nobody", nil, basic, "", ""},
		{"two", map[string]string{"b": "{PLAIN}x\n", "a": "{PLAIN}y"}, basic, "a={PLAIN}y b={PLAIN}x", ""},
		{"two lines", map[string]string{"b": "{PLAIN}x\neve:{PLAIN}y"}, basic, "", `the key "b" has control`},
		{"digest", map[string]string{"a": someHA1 + "\n", "b": "r:" + someHA1, "c": "q:" + someHA1}, digest, "a=" + someHA1 + " b=" + someHA1, ""},
		{"password", map[string]string{"a": "secret"}, basic, "", `the key "a" has no hash of a form`},
	} {
		data := map[string][]byte{}
		for key, text := range c.data {
			data[key] = []byte(text)
		}
		users, err := UserMap(data, c.login)
		checkUsers(t, c.name, users, err, c.want, c.err)
	}
}

func checkUsers(t *testing.T, name string, users []model.User, err error, want, wantErr string) {
	t.Helper()
	var words []string
	for _, u := range users {
		words = append(words, u.Name+"="+u.Hash.Reveal())
	}
	if got := strings.Join(words, " "); got != want {
		t.Errorf("%s: got %q", name, got)
	}
	if (err == nil) != (wantErr == "") || err != nil && !strings.HasPrefix(err.Error(), wantErr) {
		t.Errorf("%s: got error %v", name, err)
	}
}

// FuzzUserFile checks that whatever stands in a Secret, only whole users come out, in an order, and errors show nothing of it.
func FuzzUserFile(f *testing.F) {
	for _, hash := range goodHashes {
		f.Add("alice:"+hash, false, "")
	}
	f.Add("alice:realm:"+someHA1, true, "realm")
	f.Add("# x\n\n:\n", false, "")
	f.Fuzz(func(t *testing.T, text string, digest bool, realm string) {
		users, err := UserFile([]byte(text), model.Login{Digest: digest, Realm: realm})
		if err != nil && len(users) > 0 {
			t.Errorf("%d users beside %v", len(users), err)
		}
		for i, u := range users {
			hash := u.Hash.Reveal()
			if u.Name == "" || hash == "" || !isLine(u.Name) || !isLine(hash) || strings.Contains(u.Name, ":") || i > 0 && users[i-1].Name >= u.Name {
				t.Errorf("user %q %q", u.Name, hash)
			}
			if digest != (len(hash) == 32 && checkHash(hash) != nil) {
				t.Errorf("hash %q", hash)
			}
		}
	})
}
