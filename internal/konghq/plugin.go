// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package konghq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/fairway-ingress/fairway/internal/model"
	"github.com/fairway-ingress/fairway/internal/source"
	"github.com/fairway-ingress/fairway/internal/source/kongapi"
)

// globalLabel makes a KongClusterPlugin apply to every request.
const globalLabel = "global"

var pluginName = regexp.MustCompile("^[A-Za-z0-9_-]{1,128}$")

// knownOnPlugins are the annotations that count on plugins.
var knownOnPlugins = map[string]bool{"tags": true}

// plugin builds a KongPlugin or, without namespace, a KongClusterPlugin. One that cannot be built as written is Broken.
func (r *run) plugin(object *kongapi.KongPlugin) *model.KongPlugin {
	return look(r, func(r *run) *model.KongPlugin {
		return memoOf(r.memory.plugins, object).get(r, func() *model.KongPlugin { return r.newPlugin(object) })
	})
}

func (r *run) newPlugin(object *kongapi.KongPlugin) *model.KongPlugin {
	kind := "KongPlugin"
	if object.Namespace == "" {
		kind = "KongClusterPlugin"
	}
	p := &model.KongPlugin{
		Origin: origin(kind, kongapi.Group, "v1", object), Plugin: object.Plugin, InstanceName: object.InstanceName, Protocols: object.Protocols,
		Disabled: object.Disabled, Created: object.CreationTimestamp.Time,
	}
	p.Tags = r.readNotes(p.Origin.Ref, object, knownOnPlugins).tags()
	field, err := r.configure(p, object)
	if err == nil && !pluginName.MatchString(object.Plugin) {
		field, err = "plugin", errors.New("it does not name a plugin of Kong")
	}
	if err != nil {
		p.Broken = err.Error()
		r.refuse(p.Broken, p.Origin.Ref, field, model.ReasonInvalidPlugin,
			"%v; if the plugin controls access, the routes that ask for it answer 503, else they go without", err)
	}
	for _, outdated := range []struct{ field, text string }{{"run_on", object.RunOn}, {"consumerRef", object.ConsumerRef}} {
		if outdated.text != "" {
			r.problem(p.Origin.Ref, outdated.field, model.ReasonDeprecated, "the field has no effect any more; remove it")
		}
	}
	if object.Namespace != "" && object.Labels[globalLabel] == "true" {
		r.problem(p.Origin.Ref, "metadata.labels[global]", model.ReasonUnsupported, "the label has no effect on a KongPlugin; make it a KongClusterPlugin")
	}
	return p
}

// configure puts the configuration together; on an error it says where.
func (r *run) configure(p *model.KongPlugin, object *kongapi.KongPlugin) (field string, err error) {
	if len(object.Ordering) > 0 {
		if p.Ordering, err = decodeObject(object.Ordering); err != nil {
			return "ordering", err
		}
	}
	written := len(object.Config) > 0 && string(object.Config) != "null"
	switch {
	case written && object.ConfigFrom != nil:
		return "configFrom", errors.New("there are both config and configFrom; remove one")
	case object.ConfigFrom != nil && len(object.ConfigPatches) > 0:
		return "configPatches", errors.New("there are both configFrom and configPatches; remove one")
	case object.ConfigFrom != nil:
		text, err := r.secretValue(object, object.ConfigFrom.SecretKeyRef)
		if err != nil {
			return "configFrom", err
		}
		config, err := decodeText(text)
		if err != nil {
			return "configFrom", err
		}
		p.Config, _ = conceal(config).(map[string]any)
		return "", nil
	case written:
		if p.Config, err = decodeObject(object.Config); err != nil {
			return "config", err
		}
	}
	for i, patch := range object.ConfigPatches {
		if err := r.patch(p, object, patch); err != nil {
			return "configPatches[" + strconv.Itoa(i) + "]", err
		}
	}
	return "", nil
}

// secretValue reads a key of a Secret: of the plugin's namespace, or for a KongClusterPlugin of the one that it names.
func (r *run) secretValue(object *kongapi.KongPlugin, ref kongapi.SecretKeyRef) ([]byte, error) {
	key := source.Key{Namespace: object.Namespace, Name: ref.Name}
	if object.Namespace == "" {
		key.Namespace = ref.Namespace
	}
	if key.Namespace == "" {
		return nil, errors.New("the reference to a Secret needs a namespace in a KongClusterPlugin")
	}
	secret := r.findSecret(key)
	if secret == nil {
		return nil, fmt.Errorf("there is no Secret %s", key)
	}
	text, found := secret.Data[ref.Key]
	if !found {
		return nil, fmt.Errorf("the Secret %s has no key %q", key, ref.Key)
	}
	return text, nil
}

// decodeText reads YAML or JSON out of a Secret. What is wrong with it is not said, since the text is secret.
func decodeText(text []byte) (map[string]any, error) {
	raw, err := yaml.ToJSON(append([]byte("---\n"), text...)) // else what begins like JSON must be JSON
	if err != nil {
		return nil, errors.New("the Secret holds neither YAML nor JSON")
	}
	config, err := decodeObject(raw)
	if err != nil {
		return nil, errors.New("the Secret holds no mapping")
	}
	return config, nil
}

// decodeObject reads a JSON object and keeps numbers as they are written.
func decodeObject(raw []byte) (map[string]any, error) {
	value, err := decodeValue(raw)
	if err != nil {
		return nil, err
	}
	config, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("it is no mapping")
	}
	return config, nil
}

func decodeValue(raw []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New("it is no JSON")
	}
	if decoder.More() {
		return nil, errors.New("it is more than one JSON value")
	}
	return value, nil
}

// conceal makes secrets of all texts, so that nobody prints them.
func conceal(value any) any {
	switch v := value.(type) {
	case string:
		return model.NewSecret(v)
	case []any:
		for i := range v {
			v[i] = conceal(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = conceal(v[key])
		}
	}
	return value
}

// mostDepth bounds how deep a patch reaches.
const mostDepth = 32

// patch adds the value of a Secret at a JSON pointer (RFC 6901), with the meaning of add in RFC 6902; objects on the way are made.
func (r *run) patch(p *model.KongPlugin, object *kongapi.KongPlugin, patch kongapi.ConfigPatch) error {
	text, err := r.secretValue(object, patch.ValueFrom.SecretKeyRef)
	if err != nil {
		return err
	}
	value, err := decodeValue(text)
	if err != nil {
		return errors.New("the value in the Secret is no JSON; a text needs quotation marks")
	}
	value = conceal(value)
	if patch.Path == "" {
		config, ok := value.(map[string]any)
		if !ok {
			return errors.New("the value in the Secret is no mapping")
		}
		p.Config = config
		return nil
	}
	steps := strings.Split(patch.Path, "/")
	if steps[0] != "" || len(steps) > mostDepth {
		return fmt.Errorf("the path %.60q is no JSON pointer", patch.Path)
	}
	for i := range steps {
		steps[i] = strings.ReplaceAll(strings.ReplaceAll(steps[i], "~1", "/"), "~0", "~")
	}
	if p.Config == nil {
		p.Config = map[string]any{}
	}
	_, err = add(p.Config, steps[1:], value)
	return err
}

// add puts a value at the place that steps lead to and gives what stands in for target then.
func add(target any, steps []string, value any) (any, error) {
	if len(steps) == 0 {
		return value, nil
	}
	switch t := target.(type) {
	case nil:
		below, err := add(nil, steps[1:], value)
		return map[string]any{steps[0]: below}, err
	case map[string]any:
		below, err := add(t[steps[0]], steps[1:], value)
		t[steps[0]] = below
		return t, err
	case []any:
		n, err := strconv.Atoi(steps[0])
		switch {
		case steps[0] == "-" && len(steps) == 1:
			return append(t, value), nil
		case err != nil || n < 0 || n > len(t) || n == len(t) && len(steps) > 1:
			return t, fmt.Errorf("the list has no place %.20q", steps[0])
		case len(steps) == 1:
			return append(t[:n:n], append([]any{value}, t[n:]...)...), nil
		}
		t[n], err = add(t[n], steps[1:], value)
		return t, err
	}
	return target, fmt.Errorf("at %.40q stands neither a mapping nor a list", steps[0])
}

// readGlobalPlugins takes the KongClusterPlugins that apply to every request; of two of one plugin, the older.
func (r *run) readGlobalPlugins() {
	first := map[string]model.Ref{}
	for _, object := range sorted(r.objects.ClusterPlugins) {
		if object.Labels[globalLabel] != "true" || !r.ours(object) {
			continue
		}
		p := r.plugin(object)
		if older, taken := first[p.Plugin]; taken {
			r.problem(p.Origin.Ref, "plugin", model.ReasonDuplicate, "%s is global, of the same plugin and older; this one has no effect on all routes", older)
			continue
		}
		first[p.Plugin] = p.Origin.Ref
		r.out.GlobalPlugins = append(r.out.GlobalPlugins, p)
	}
}
