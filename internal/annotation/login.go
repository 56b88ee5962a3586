// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"errors"
	"fmt"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/value"
)

// loginDraft is what the keys of logins say.
type loginDraft struct {
	digest bool
	perKey bool // the Secret has a key for each user
	realm  string
}

var login = Group{
	Name: "login", finish: finishLogin,
	Doc: "Asks for a name and a password. Who has none is answered with 401. Rules whose path begins with an entry of the setting no-auth-locations are exempt. " +
		"The Authorization header is not sent to the backend. The other keys, but satisfy, need auth-type.",
	Keys: []Key{
		Parsed("auth-realm", "text", Spec{
			Scope: Route, Risk: Medium, Refused: true, Default: "an empty realm", Example: "Staff only",
			Doc:    "What the browser shows when it asks for the password: letters, digits, blanks and - . _ ~ / : . For digest it is also the realm of the users in the Secret.",
			Source: "RFC 7617, RFC 7616", Differs: "off is a realm like others; there it switched the login off.",
		}, value.Realm, func(e *Effect, v string) { e.login.realm = v }),

		Parsed("auth-secret", "Secret", Spec{
			Scope: Route, Risk: Medium, Default: "none", Example: "default/users", Closes: true,
			Doc: "The Secret with the users. A bare name is of the Ingress's namespace; another namespace needs the setting allow-cross-namespace-resources. A Secret that does not exist or has a bad line " +
				"closes the routes. Hashes of passwords may be bcrypt (up to cost 12), apr1, SHA-256, SHA-512 (up to 500000 rounds), yescrypt, MD5, DES, {SHA}, {SSHA} and {PLAIN}; for digest " +
				"they are those of htdigest. A hash that begins with ! or * locks its user. A login has at most 5000 users.",
			Shape:  "One shape for all routes with hashes that are slow to verify: bcrypt, SHA-256, SHA-512, yescrypt.",
			Source: "ngx_http_auth_basic_module, done in Lua", Differs: "A bad line closes the routes, with a Problem that says which; there it was passed over.",
		}, present, func(*Effect, string) {}),

		Enum("auth-secret-type", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "auth-file", Example: "auth-map", Closes: true,
			Doc:    "auth-file: the key auth of the Secret is a file of htpasswd, or of htdigest. auth-map: each key is a user, and its value the hash; for digest also realm:hash.",
			Source: "Fairway",
		}, []Option[bool]{{Text: "auth-file", Value: false}, {Text: "auth-map", Value: true}}, func(e *Effect, v bool) { e.login.perKey = v }),

		Enum("auth-type", Spec{
			Scope: Route, Risk: Low, Refused: true, Default: "none, no login", Example: "basic", Closes: true,
			Doc:    "basic: the client sends name and password. digest: it sends a hash of both and of a nonce, by MD5 and with qop=auth; a nonce is taken for 5 minutes and each of its numbers once.",
			Source: "RFC 7617, RFC 7616", Differs: "Text that only contains one of the words closes the routes; there it was taken, mostly for digest.",
		}, []Option[bool]{{Text: "basic", Value: false}, {Text: "digest", Value: true}}, func(e *Effect, v bool) { e.login.digest = v }),

		Parsed("satisfy", "one of all, any", Spec{
			Scope: Route, Risk: Low, Default: "all", Example: "any",
			Doc: "all: a request must pass the address lists, the login and external auth, as far as there are such. any: one is enough. Not to be in a deny list is not enough. Who " +
				"passes none gets the answer of external auth, else the challenge to log in, else 403.",
			Source: "satisfy of ngx_http_core_module, done in Lua",
		}, value.Satisfy, func(e *Effect, v bool) { e.Policy.AnyAccess = v }),
	},
}

// finishLogin makes the policy of what the keys say. Until its Secret was read nobody may log in.
func finishLogin(p *parser) {
	if p.effect.Canary {
		return
	}
	if !p.has("auth-type") {
		p.without("auth-type", "auth-realm", "auth-secret", "auth-secret-type")
		return
	}
	draft := p.effect.login
	p.effect.Policy.Login = &model.Login{Digest: draft.digest, Realm: draft.realm}
	if !p.has("auth-secret") {
		p.close("auth-type", model.ReasonInvalidAnnotation, "asks for a login, but the annotation auth-secret names no Secret with users")
		return
	}
	p.lookup("Secret", "auth-secret", false, func(e *Effect, data map[string][]byte) error {
		complete := *e.Policy.Login
		var err error
		complete.Users, err = readUsers(data, draft.perKey, complete)
		e.Policy.Login = &complete
		return err
	})
}

func readUsers(data map[string][]byte, perKey bool, login model.Login) ([]model.User, error) {
	if perKey {
		users, err := value.UserMap(data, login)
		return users, prefixed("names a Secret in which ", err)
	}
	file, found := data["auth"]
	if !found {
		return nil, errors.New("names a Secret that has no key auth; for a key per user set auth-secret-type to auth-map")
	}
	users, err := value.UserFile(file, login)
	return users, prefixed("names a Secret in whose key auth ", err)
}

func prefixed(text string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", text, err)
}
