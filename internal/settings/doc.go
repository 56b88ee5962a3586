// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package settings is the registry of the keys of the controller's ConfigMap, in the style of package annotation: key, type,
// default, effect and reference text stand together, one file per group; [Groups] lists them.
//
// [Parse] takes the data of the ConfigMap and gives model.Settings and Problems. A value that does not parse leaves the
// default of its key in force and disturbs no other. The admin wrote these values, yet those that nginx will read are parsed as well, so that
// a slip becomes a Problem instead of a refused reload.
//
// docs/settings.md is printed by [WriteReference]. Start with key.go and redirect.go.
package settings

//go:generate go test . -run TestReference -update
