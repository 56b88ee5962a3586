// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Command step runs one step of `make test`: the command after the step's name. When the command fails, the last lines of what it prints
// name the step and say what failed, so that a log of which only the end is kept can be read. The exit status is the command's.
//
//	step "unit tests" go test -race ./internal/...
//
// A `go test` is asked for JSON. Of that it prints what people want to see while it runs, one test after the other even when they ran side
// by side: with -v the output of every test, else only that of those which fail. Read report.go for that and summary.go for the end.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: step NAME COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	status, err := step(os.Args[1], os.Args[2:], os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "step %q: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	os.Exit(status)
}

// step runs the command and returns its exit status; what it prints ends in a summary if that is not 0.
func step(name string, command []string, out io.Writer) (int, error) {
	tests := len(command) > 1 && command[0] == "go" && command[1] == "test"
	seen := newReport(out, slices.Contains(command, "-v"))
	if tests {
		command = asJSON(command)
	}
	status, err := run(command, func(output io.Reader) error {
		if !tests {
			_, err := io.Copy(out, output)
			return err
		}
		lines := bufio.NewReader(output)
		for {
			line, err := lines.ReadBytes('\n')
			seen.line(line)
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	if err == nil && status != 0 {
		summarize(out, name, status, seen.failures)
	}
	return status, err
}

// asJSON is a go test command with -json; -C has to stay the first flag.
func asJSON(command []string) []string {
	at := 2
	if len(command) > at+1 && command[at] == "-C" {
		at += 2
	}
	return slices.Insert(slices.Clone(command), at, "-json")
}

// run runs the command, hands its output to read, and returns its exit status. An interrupt reaches the command by itself, as it is in the
// same process group; the summary of what it did until then is still wanted, so this process waits for it.
func run(command []string, read func(io.Reader) error) (int, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case got := <-signals:
				if got == syscall.SIGTERM {
					_ = cmd.Process.Signal(got)
				}
			case <-ended:
				return
			}
		}
	}()
	failure := read(output)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		// A command that a signal ended has no exit status of its own.
		return max(exit.ExitCode(), 1), failure
	}
	return 0, errors.Join(failure, err)
}
