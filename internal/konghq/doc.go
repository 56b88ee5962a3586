// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package konghq says what the objects of the Kubernetes API mean for a Kong Gateway: the annotations konghq.com/*, the custom resources of Kong,
// and Ingresses as the Kong Ingress Controller reads them. It adds Model.Kong to a model that package ingress has built; from there it takes what
// Fairway's own annotations ask for and who may be a canary of whom.
//
// Like package ingress it is a function of the snapshot: neither clock nor network, equal inputs give equal models, and a broken object yields
// Problems and never changes what its neighbours get. A [Builder] remembers what each object came to, with all that was looked up for it, and builds
// anew only what somebody would read otherwise now. Names of Kong's entities, its spelling of paths and its plugins for Fairway's policies are
// not here but in package kong/translate, which knows the gateway.
//
//	build.go        one snapshot → Model.Kong
//	memory.go       what is remembered (lookup.go: the questions to a snapshot; onlyendpoints.go: when only endpoints have changed)
//	route.go        Ingresses → routes (path.go, options.go)
//	stream.go       TCPIngresses and UDPIngresses → routes
//	service.go      Services → services (target.go, upstream.go)
//	plugin.go       KongPlugins → plugins; attach.go: who may use which
//	consumer.go     KongConsumers and their Secrets (credential.go)
//	certificate.go  certificates and server names; authority.go: CA certificates
package konghq
