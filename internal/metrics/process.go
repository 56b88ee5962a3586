// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/procfs"
)

// processes are the families of nginx' processes, read from /proc: the master and its children. What ended children used is part of the
// master's account, so the sums never fall while it lives.
type processes struct {
	options                                     Options
	number, cpu, read, write, resident, virtual *prometheus.Desc
	oldest                                      *prometheus.Desc
}

func newProcesses(o Options) *processes {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"nginx_process_"+name, help, nil, o.labels())
	}
	return &processes{
		options: o, number: desc("num_procs", "Processes of nginx."),
		cpu:  desc("cpu_seconds_total", "CPU time of nginx' processes, user and system, in seconds."),
		read: desc("read_bytes_total", "Bytes that nginx' processes read."), write: desc("write_bytes_total", "Bytes that nginx' processes wrote."),
		resident: desc("resident_memory_bytes", "Resident memory of nginx' processes."), virtual: desc("virtual_memory_bytes", "Virtual memory of nginx' processes."),
		oldest: desc("oldest_start_time_seconds", "When the oldest process of nginx started, in Unix seconds."),
	}
}

// Describe implements prometheus.Collector.
func (p *processes) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.number, p.cpu, p.read, p.write, p.resident, p.virtual, p.oldest} {
		out <- d
	}
}

// processSum is what processes use together.
type processSum struct {
	number, cpu, resident, virtual, oldest float64
	read, write                            uint64
	io                                     bool // read and write are known
}

// Collect implements prometheus.Collector.
func (p *processes) Collect(out chan<- prometheus.Metric) {
	master := p.options.Master()
	if master == 0 {
		return
	}
	sum := sumProcesses(append([]int{master}, children(master)...))
	if sum.number == 0 {
		return
	}
	gauge := func(d *prometheus.Desc, v float64) { out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	counter := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v)
	}
	gauge(p.number, sum.number)
	counter(p.cpu, sum.cpu)
	gauge(p.resident, sum.resident)
	gauge(p.virtual, sum.virtual)
	gauge(p.oldest, sum.oldest)
	if sum.io {
		counter(p.read, float64(sum.read))
		counter(p.write, float64(sum.write))
	}
}

func sumProcesses(pids []int) processSum {
	sum := processSum{io: true}
	for _, pid := range pids {
		proc, err := procfs.NewProc(pid)
		if err != nil {
			continue // it has just ended
		}
		stat, err := proc.Stat()
		if err != nil {
			continue
		}
		sum.number++
		sum.cpu += stat.CPUTime() + float64(stat.CUTime+stat.CSTime)/userHZ
		sum.resident += float64(stat.ResidentMemory())
		sum.virtual += float64(stat.VirtualMemory())
		if start, err := stat.StartTime(); err == nil && (sum.oldest == 0 || start < sum.oldest) {
			sum.oldest = start
		}
		io, err := proc.IO()
		if err != nil {
			sum.io = false // the kernel shows it to the same user only
			continue
		}
		sum.read, sum.write = sum.read+io.ReadBytes, sum.write+io.WriteBytes
	}
	return sum
}

// userHZ is the unit of times in /proc on all of Linux.
const userHZ = 100

func children(pid int) []int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
	if err != nil {
		return nil
	}
	var list []int
	for word := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(word); err == nil {
			list = append(list, child)
		}
	}
	return list
}
