// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic reads what nginx' workers counted of requests. In goes the text that fairway/delivery.lua makes, out comes
// [model.Traffic]. It is pure; fetching is package nginx/push. Layout of a message:
//
//	traffic LAYOUT SETS           SETS is how many follow
//
// and for each set
//
//	[HOST, NAMESPACE, INGRESS, SERVICE, PATH, CANARY, METHOD, STATUS]   JSON, one line
//	the sums of the measures, float64 each; excluded measures have a 0
//	the number of requests and the buckets of all measures that are not excluded, uint32 each
//	MEASURE:VALUE:COUNT …         one line, only with TrafficOptions.Values; measures are counted from 1
//
// Numbers are as in memory, as both sides are on one machine. Times are in milliseconds.
package traffic

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/model"
)

// Layout names options that lay numbers out alike, so that messages of an nginx with other buckets are recognized.
func Layout(o *model.TrafficOptions) string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // bounds are finite
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Parse reads messages. Those of another layout are left out. After an error the sets before the fault are given all the same.
func Parse(text []byte, o *model.TrafficOptions) ([]model.Traffic, error) {
	r := reader{text: text, options: o, layout: Layout(o)}
	var all []model.Traffic
	for len(r.text) > 0 {
		sets, ours, err := r.header()
		if err != nil {
			return all, err
		}
		if !ours {
			r.skip()
			continue
		}
		for range sets {
			set, err := r.set()
			if err != nil {
				return all, err
			}
			all = append(all, set)
		}
	}
	return all, nil
}

type reader struct {
	text    []byte
	options *model.TrafficOptions
	layout  string
}

var errCutOff = errors.New("message of the workers is cut off")

func (r *reader) line() (string, error) {
	line, rest, found := bytes.Cut(r.text, []byte("\n"))
	if !found {
		return "", errCutOff
	}
	r.text = rest
	return string(line), nil
}

func (r *reader) take(n int) ([]byte, error) {
	if len(r.text) < n {
		return nil, errCutOff
	}
	taken := r.text[:n]
	r.text = r.text[n:]
	return taken, nil
}

const messageWord = "traffic "

func (r *reader) header() (sets int, ours bool, err error) {
	line, err := r.line()
	if err != nil {
		return 0, false, err
	}
	layout, count, _ := strings.Cut(strings.TrimPrefix(line, messageWord), " ")
	sets, err = strconv.Atoi(count)
	if err != nil || !strings.HasPrefix(line, messageWord) {
		return 0, false, fmt.Errorf("%q does not begin a message of the workers", line)
	}
	return sets, layout == r.layout, nil
}

// skip goes on with the next message that has our layout: the length of others is not known.
func (r *reader) skip() {
	at := bytes.Index(r.text, []byte(messageWord+r.layout+" "))
	if at < 0 {
		at = len(r.text)
	}
	r.text = r.text[at:]
}

func (r *reader) set() (model.Traffic, error) {
	var t model.Traffic
	line, err := r.line()
	if err != nil {
		return t, err
	}
	var labels [8]string
	if err := json.Unmarshal([]byte(line), &labels); err != nil {
		return t, fmt.Errorf("labels of the workers: %w", err)
	}
	t.TrafficLabels = model.TrafficLabels{
		Host: labels[0], Namespace: labels[1], Ingress: labels[2], Service: labels[3], Path: labels[4], Canary: labels[5], Method: labels[6], Status: labels[7],
	}
	if err := r.numbers(&t); err != nil {
		return t, err
	}
	if r.options.Values {
		return t, r.values(&t)
	}
	return t, nil
}

func (r *reader) numbers(t *model.Traffic) error {
	sums, err := r.take(8 * len(t.Measures))
	if err != nil {
		return err
	}
	requests, err := r.counts(1)
	if err != nil {
		return err
	}
	t.Requests = requests[0]
	for i := range t.Measures {
		if r.options.Excluded[i] {
			continue
		}
		m := &t.Measures[i]
		if m.Counts, err = r.counts(len(r.options.Bounds[i]) + 1); err != nil {
			return err
		}
		m.Sum = inUnit(i, math.Float64frombits(binary.NativeEndian.Uint64(sums[8*i:])))
	}
	return nil
}

func (r *reader) counts(n int) ([]uint64, error) {
	raw, err := r.take(4 * n)
	if err != nil {
		return nil, err
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(binary.NativeEndian.Uint32(raw[4*i:]))
	}
	return list, nil
}

func (r *reader) values(t *model.Traffic) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	for word := range strings.FieldsSeq(line) {
		var measure int
		var value float64
		var count uint64
		if _, err := fmt.Sscanf(word, "%d:%g:%d", &measure, &value, &count); err != nil || measure < 1 || measure > len(t.Measures) {
			return fmt.Errorf("%q is no value of the workers", word)
		}
		d := &t.Measures[measure-1]
		if d.Values == nil {
			d.Values = map[float64]uint64{}
		}
		d.Values[inUnit(measure-1, value)] += count
	}
	return nil
}

func inUnit(measure int, value float64) float64 {
	if model.Measure(measure).IsTime() {
		return value / 1000
	}
	return value
}
