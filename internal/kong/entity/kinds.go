// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package entity

// Kind is what Kong knows about one kind of entity.
type Kind struct {
	// Name is that of the collection in declarative documents and in references, Singular that of one entity in errors.
	Name, Singular string
	// Path is the collection in the Admin API, empty where it is found below a parent alone.
	Path string
	// Below is the name of the collection in paths below a parent, and Within the field that names the parent of those that have no other path.
	Below, Within string
	// Bare says that Kong knows an entity by what it refers to: it has neither an id nor tags.
	Bare bool
	// Key is the field that names an entity to people and in paths; empty for none.
	Key string
	// Foreign are the references to other kinds.
	Foreign []ForeignKey
	// Unique are the fields, or sets of fields, of which no two entities may have the same values. Fields that are unset are not compared,
	// except in a set.
	Unique [][]string
	// Rank is the place in the order of creation: nothing refers to a kind of a higher rank, and a new route meets whole upstreams.
	Rank int
	// Plugin is the plugin without which the gateway has no such collection; empty for none.
	Plugin string
	// Enterprise tells whether open-source gateways lack it.
	Enterprise bool
}

// ForeignKey is a field that refers to another kind.
type ForeignKey struct {
	Field string
	// Kind is the name of the kind.
	Kind string
	// Cascade tells whether the entity goes with what it refers to; otherwise that cannot go before the entity.
	Cascade bool
	// Many tells whether the field is a list of ids, which Kong does not check when it is written.
	Many bool
}

// The kinds.
var (
	CACertificates = &Kind{
		Name: "ca_certificates", Singular: "ca_certificate", Path: "/ca_certificates", Unique: [][]string{{"cert_digest"}}, Rank: 1,
	}
	Certificates   = &Kind{Name: "certificates", Singular: "certificate", Path: "/certificates", Rank: 1}
	ConsumerGroups = &Kind{
		Name: "consumer_groups", Singular: "consumer_group", Path: "/consumer_groups", Key: "name", Unique: [][]string{{"name"}}, Rank: 1, Enterprise: true,
	}
	Consumers = &Kind{
		Name: "consumers", Singular: "consumer", Path: "/consumers", Key: "username", Unique: [][]string{{"username"}, {"custom_id"}}, Rank: 1,
	}
	Upstreams = &Kind{
		Name: "upstreams", Singular: "upstream", Path: "/upstreams", Key: "name", Unique: [][]string{{"name"}}, Rank: 2,
		Foreign: []ForeignKey{{Field: "client_certificate", Kind: "certificates"}},
	}
	SNIs = &Kind{
		Name: "snis", Singular: "sni", Path: "/snis", Below: "snis", Key: "name", Unique: [][]string{{"name"}}, Rank: 3,
		Foreign: []ForeignKey{{Field: "certificate", Kind: "certificates", Cascade: true}},
	}
	Targets = &Kind{
		Name: "targets", Singular: "target", Below: "targets", Within: "upstream", Key: "target", Unique: [][]string{{"upstream", "target"}}, Rank: 3,
		Foreign: []ForeignKey{{Field: "upstream", Kind: "upstreams", Cascade: true}},
	}
	// Memberships are of consumers in consumer groups.
	Memberships = &Kind{
		Name: "consumer_group_consumers", Singular: "consumer_group_consumer", Below: "consumers", Within: "consumer_group", Bare: true,
		Unique: [][]string{{"consumer_group", "consumer"}}, Rank: 3, Enterprise: true,
		Foreign: []ForeignKey{{Field: "consumer_group", Kind: "consumer_groups", Cascade: true}, {Field: "consumer", Kind: "consumers", Cascade: true}},
	}
	Services = &Kind{
		Name: "services", Singular: "service", Path: "/services", Below: "services", Key: "name", Unique: [][]string{{"name"}}, Rank: 4,
		Foreign: []ForeignKey{{Field: "client_certificate", Kind: "certificates"}, {Field: "ca_certificates", Kind: "ca_certificates", Many: true}},
	}
	Routes = &Kind{
		Name: "routes", Singular: "route", Path: "/routes", Below: "routes", Key: "name", Unique: [][]string{{"name"}}, Rank: 5,
		Foreign: []ForeignKey{{Field: "service", Kind: "services"}},
	}
	Plugins = &Kind{
		Name: "plugins", Singular: "plugin", Path: "/plugins", Below: "plugins", Key: "instance_name", Rank: 6,
		Unique: [][]string{{"instance_name"}, {"name", "route", "service", "consumer", "consumer_group"}},
		Foreign: []ForeignKey{
			{Field: "service", Kind: "services", Cascade: true}, {Field: "route", Kind: "routes", Cascade: true},
			{Field: "consumer", Kind: "consumers", Cascade: true}, {Field: "consumer_group", Kind: "consumer_groups", Cascade: true},
		},
	}
	KeyAuths = credential("keyauth_credentials", "key-auths", "key-auth", "key", "key")
	// BasicAuths and the kinds that follow are the other credentials.
	BasicAuths = credential("basicauth_credentials", "basic-auths", "basic-auth", "username", "username")
	HMACAuths  = credential("hmacauth_credentials", "hmac-auths", "hmac-auth", "username", "username")
	JWTs       = credential("jwt_secrets", "jwts", "jwt", "key", "key")
	OAuth2s    = credential("oauth2_credentials", "oauth2", "oauth2", "client_id", "client_id")
	ACLs       = credential("acls", "acls", "acl", "group", "consumer", "group")
	MTLSAuths  = mtlsAuths()
)

func credential(name, path, plugin, key string, unique ...string) *Kind {
	below := plugin
	if plugin == "acl" {
		below = "acls"
	}
	return &Kind{
		Name: name, Singular: name[:len(name)-1], Path: "/" + path, Below: below, Key: key, Unique: [][]string{unique}, Rank: 3, Plugin: plugin,
		Foreign: []ForeignKey{{Field: "consumer", Kind: "consumers", Cascade: true}},
	}
}

func mtlsAuths() *Kind {
	kind := credential("mtls_auth_credentials", "mtls-auths", "mtls-auth", "subject_name", "consumer", "subject_name")
	kind.Foreign = append(kind.Foreign, ForeignKey{Field: "ca_certificate", Kind: "ca_certificates"})
	kind.Enterprise = true
	return kind
}

// Kinds lists all kinds in the order of creation.
func Kinds() []*Kind {
	return []*Kind{
		CACertificates, Certificates, ConsumerGroups, Consumers,
		Upstreams,
		SNIs, Targets, Memberships, KeyAuths, BasicAuths, HMACAuths, JWTs, OAuth2s, ACLs, MTLSAuths,
		Services, Routes, Plugins,
	}
}

// named has the kinds by name.
var named = kindsByName()

func kindsByName() map[string]*Kind {
	named := map[string]*Kind{}
	for _, kind := range Kinds() {
		named[kind.Name] = kind
	}
	return named
}

// KindNamed gives the kind with that collection name, or nil.
func KindNamed(name string) *Kind { return named[name] }

// To gives the foreign key of that field, or nil.
func (k *Kind) To(field string) *ForeignKey {
	for i := range k.Foreign {
		if k.Foreign[i].Field == field {
			return &k.Foreign[i]
		}
	}
	return nil
}

// Credential tells whether the kind is one of the credentials of consumers.
func (k *Kind) Credential() bool { return k.Plugin != "" }

// Kind gives [Services].
func (*Service) Kind() *Kind { return Services }

// Kind gives [Routes].
func (*Route) Kind() *Kind { return Routes }

// Kind gives [Upstreams].
func (*Upstream) Kind() *Kind { return Upstreams }

// Kind gives [Targets].
func (*Target) Kind() *Kind { return Targets }

// Kind gives [Certificates].
func (*Certificate) Kind() *Kind { return Certificates }

// Kind gives [SNIs].
func (*SNI) Kind() *Kind { return SNIs }

// Kind gives [CACertificates].
func (*CACertificate) Kind() *Kind { return CACertificates }

// Kind gives [Plugins].
func (*Plugin) Kind() *Kind { return Plugins }

// Kind gives [Consumers].
func (*Consumer) Kind() *Kind { return Consumers }

// Kind gives [ConsumerGroups].
func (*ConsumerGroup) Kind() *Kind { return ConsumerGroups }

// Kind gives [Memberships].
func (*Membership) Kind() *Kind { return Memberships }

// Kind gives [KeyAuths].
func (*KeyAuth) Kind() *Kind { return KeyAuths }

// Kind gives [BasicAuths].
func (*BasicAuth) Kind() *Kind { return BasicAuths }

// Kind gives [HMACAuths].
func (*HMACAuth) Kind() *Kind { return HMACAuths }

// Kind gives [JWTs].
func (*JWT) Kind() *Kind { return JWTs }

// Kind gives [OAuth2s].
func (*OAuth2) Kind() *Kind { return OAuth2s }

// Kind gives [ACLs].
func (*ACL) Kind() *Kind { return ACLs }

// Kind gives [MTLSAuths].
func (*MTLSAuth) Kind() *Kind { return MTLSAuths }
