// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package kongapi has the custom resources of a Kong Gateway as Go types: those of the group configuration.konghq.com, and the few others that count
// beside them. The fields are named and nested as they are written in manifests. What they mean is decided in package konghq; the manifests of
// their definitions stand in deploy/kong.
package kongapi
