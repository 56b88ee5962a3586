// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package kong

import (
	"context"
	"errors"

	"github.com/fairway-ingress/fairway/internal/kong/admin"
	"github.com/fairway-ingress/fairway/internal/kong/entity"
	"github.com/fairway-ingress/fairway/internal/model"
)

// Judge asks a gateway whether it takes the configuration of a plugin: refusal says why not. An error says that no gateway could be asked. It changes
// nothing, so whoever leads does not matter.
func (d *Driver) Judge(ctx context.Context, plugin *model.KongPlugin) (refusal string, err error) {
	g := d.answering()
	if g == nil {
		return "", errors.New("no gateway answers")
	}
	body := entity.Encode(&entity.Plugin{Name: plugin.Plugin, Config: plugin.Config, Protocols: plugin.Protocols}, entity.Body, nil)
	err = g.client.Validate(ctx, entity.Plugins, body)
	var refused *admin.Error
	if errors.As(err, &refused) && refused.Class == admin.Invalid {
		return refused.Reason(), nil
	}
	return "", err
}

// OpenSource tells whether a gateway answers that is no Enterprise.
func (d *Driver) OpenSource() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.gateways {
		if g.about != nil && !g.about.Enterprise {
			return true
		}
	}
	return false
}

// answering gives a gateway that answered when it was looked at last, or nil.
func (d *Driver) answering() *gateway {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range d.gateways {
		if g.about != nil {
			return g
		}
	}
	return nil
}
