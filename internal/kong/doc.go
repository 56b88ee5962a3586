// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package kong is the driver for Kong Gateways: it keeps what they hold in step with the model, through their Admin API.
//
// A model is translated into a [entity.State]. With a database, the difference between that and what Kong holds under our tag is written
// entity by entity, by the leader alone; without one, every gateway is given the whole as one document. What Kong refuses is left out and told
// to whoever wrote it, and never stops the rest. Nothing is sent when nothing changed, and nothing that is not ours is touched.
//
// What is computed is in entity (what there is), plan (what to do) and translate (what a model means); the requests are in admin; kongtest is
// a simulated gateway. Here is what brings them together. Start with driver.go, then database.go and document.go.
package kong
