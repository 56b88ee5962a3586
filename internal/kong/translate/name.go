// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Names are at most so long; a longer one keeps its beginning and gets a hash of the whole.
const (
	longestName = 253
	keptName    = 220
)

// nameKey is a name that is taken, of one kind of entity.
type nameKey struct {
	kind *entity.Kind
	name string
}

// name gives a name that no other key of the kind has. The key is what the name stands for.
func (t *translation) name(kind *entity.Kind, name, key string) string {
	if len(name) > longestName {
		name = hashed(name[:keptName], key)
	}
	if other, taken := t.names[nameKey{kind, name}]; taken && other != key {
		name = hashed(name[:min(len(name), keptName)], key)
	}
	if t.names == nil {
		t.names = map[nameKey]string{}
	}
	t.names[nameKey{kind, name}] = key
	return name
}

// nameOf gives the name of a service or upstream, which are not of one unit with others of their kind. The parts of which their names are made tell
// them apart, as Kubernetes allows no dots in them; where there are some, the key is in the name.
func nameOf(id model.KongServiceID, name, key string) string {
	if strings.Contains(id.Namespace+id.Port, ".") || strings.Contains(id.Name, ".") && !id.Facade || len(name) > longestName {
		return hashed(name[:min(len(name), keptName)], key)
	}
	return name
}

func hashed(name, key string) string { return name + "-" + digest(key)[:10] }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var notInHost = regexp.MustCompile("[^a-z0-9._-]")

// hostName makes text fit to be the name of an upstream, which is a host name.
func hostName(text string) string {
	lower := strings.ToLower(text)
	fit := notInHost.ReplaceAllLiteralString(lower, "-")
	if fit != text {
		fit = hashed(fit[:min(len(fit), keptName)], text)
	}
	return fit
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }

var uuid = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")

func isUUID(text string) bool { return uuid.MatchString(text) }

// meta gives what every entity has. The key is what the id is derived from.
func (t *translation) meta(kind *entity.Kind, key string, o model.Origin, field string, tags []string) entity.Meta {
	if t.options.Workspace != "" {
		key = t.options.Workspace + "/" + key
	}
	return entity.Meta{ID: entity.NewID(kind, key), Tags: append(originTags(o), tags...), Owner: o.Ref, Field: field}
}

// originTags say from which object an entity comes, as the Kong Ingress Controller says it.
func originTags(o model.Origin) []string {
	var tags []string
	for _, tag := range []struct{ name, value string }{
		{"k8s-name:", o.Name}, {"k8s-namespace:", o.Namespace}, {"k8s-kind:", o.Kind}, {"k8s-uid:", o.UID}, {"k8s-group:", o.Group},
		{"k8s-version:", o.Version},
	} {
		if tag.value != "" && !strings.ContainsFunc(tag.value, isControl) {
			tags = append(tags, entity.Tag(tag.name+tag.value))
		}
	}
	return tags
}
