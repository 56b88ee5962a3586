// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "path/filepath"

// predecessorsProgram is the name of the program in the predecessor's image.
const predecessorsProgram = "nginx-ingress-controller"

// waitShutdown is the program that the predecessor's chart calls before it stops a container: it signals the controller and waits for nginx. Here
// the signal that follows does all that, so there is nothing to do but to succeed.
const waitShutdown = "wait-shutdown"

// arguments gives what follows the program's name, such that both ways work in which the predecessor's Deployments call theirs:
//
//   - by its own name, which our image has as a link, with the controller's flags and no subcommand;
//   - as first argument of the image's entry point, which is `fairway controller` here.
func arguments(args []string) []string {
	program, rest := filepath.Base(args[0]), args[1:]
	if program == predecessorsProgram {
		return append([]string{"controller"}, rest...)
	}
	if len(rest) > 1 && rest[0] == "controller" && filepath.Base(rest[1]) == predecessorsProgram {
		return append([]string{"controller"}, rest[2:]...)
	}
	return rest
}
