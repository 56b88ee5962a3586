// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// processSpec is what the internal "container" command gets: how to set up
// the process's namespaces and what to execute then.
type processSpec struct {
	Netns    string
	Hostname string
	Scratch  string // directory for the writable layer's mount point
	Files    map[string]string
	Mounts   []mount
	Dir      string
	Argv     []string
	Env      []string
}

type mount struct {
	Source, Target string
	ReadOnly       bool
}

// runContainer replaces this process with a container's program. The program
// sees the machine's file system through an overlay, so that what it writes
// and what is mounted for it stays its own.
func runContainer(args []string) error {
	runtime.LockOSThread()
	var s processSpec
	b, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	f, err := os.Open(nsPath(s.Netns))
	if err != nil {
		return err
	}
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	unix.Sethostname([]byte(s.Hostname))
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	root := filepath.Join(s.Scratch, "root")
	if err := unix.Mount("tmpfs", s.Scratch, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("scratch: %w", err)
	}
	for _, d := range []string{"upper", "work", "root"} {
		if err := os.Mkdir(filepath.Join(s.Scratch, d), 0o755); err != nil {
			return err
		}
	}
	opts := fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", s.Scratch, s.Scratch)
	if err := unix.Mount("overlay", root, "overlay", 0, opts); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	for _, d := range []string{"/proc", "/sys", "/dev"} {
		if err := unix.Mount(d, root+d, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", d, err)
		}
	}
	// Sources are opened before the change of root and mounted after it, so
	// that links in target paths (/var/run) stay inside.
	sources := make([]int, len(s.Mounts))
	for i, m := range s.Mounts {
		if sources[i], err = unix.Open(m.Source, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("volume %s: %w", m.Source, err)
		}
	}
	if err := unix.Chroot(root); err != nil {
		return err
	}
	os.Chdir("/")
	for name, content := range s.Files {
		os.Remove(name)
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return err
		}
	}
	for i, m := range s.Mounts {
		if err := bind(fmt.Sprintf("/proc/self/fd/%d", sources[i]), m); err != nil {
			return fmt.Errorf("mount %s: %w", m.Target, err)
		}
	}
	if err := os.Chdir(s.Dir); err != nil {
		os.Chdir("/")
	}
	for _, e := range s.Env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			os.Setenv("PATH", path)
		}
	}
	program, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return err
	}
	return unix.Exec(program, s.Argv, s.Env)
}

// bind mounts source at the mount's target, which it creates if need be.
func bind(source string, m mount) error {
	info, err := os.Stat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(m.Target, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(m.Target), 0o755); err == nil {
		var f *os.File
		if f, err = os.OpenFile(m.Target, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			f.Close()
		}
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(source, m.Target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if m.ReadOnly {
		return unix.Mount("", m.Target, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	return nil
}

// command prepares the process of a container.
func (c *container) command(ctx context.Context) (*exec.Cmd, error) {
	pod := c.w.current()
	env, err := c.environment(ctx, pod)
	if err != nil {
		return nil, err
	}
	lookup := map[string]string{}
	list := make([]string, 0, len(env))
	for _, e := range env {
		lookup[e.Name] = e.Value
		list = append(list, e.Name+"="+e.Value)
	}
	expand := func(s string) string { return expandVars(s, lookup) }
	hostname := pod.Spec.Hostname
	if hostname == "" {
		hostname = pod.Name
	}
	hosts := fmt.Sprintf("127.0.0.1\tlocalhost\n::1\tlocalhost\n%s\t%s\n", c.w.ip, hostname)
	for _, a := range pod.Spec.HostAliases {
		hosts += a.IP + "\t" + strings.Join(a.Hostnames, "\t") + "\n"
	}
	spec := processSpec{
		Netns: c.w.ns, Hostname: hostname,
		Scratch: filepath.Join(c.w.dir, "scratch-"+c.spec.Name),
		Files: map[string]string{
			"/etc/hosts":    hosts,
			"/etc/hostname": hostname + "\n",
			"/etc/resolv.conf": fmt.Sprintf("search %s.svc.cluster.local svc.cluster.local cluster.local\nnameserver %s\noptions ndots:5\n",
				pod.Namespace, dnsServiceIP),
		},
		Dir:  c.spec.WorkingDir,
		Argv: c.image.argv(c.spec, expand),
		Env:  list,
	}
	if spec.Dir == "" {
		spec.Dir = "/"
	}
	for _, m := range c.spec.VolumeMounts {
		source, err := c.w.volumeSource(m.Name)
		if err != nil {
			return nil, err
		}
		sub := m.SubPath
		if m.SubPathExpr != "" {
			sub = expand(m.SubPathExpr)
		}
		if sub != "" {
			source = filepath.Join(source, sub)
			if _, err := os.Stat(source); err != nil {
				os.MkdirAll(source, 0o755)
			}
		}
		spec.Mounts = append(spec.Mounts, mount{source, m.MountPath, m.ReadOnly})
	}
	if err := os.MkdirAll(spec.Scratch, 0o755); err != nil {
		return nil, err
	}
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.w.dir, c.spec.Name+".json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return nil, err
	}
	return exec.Command("/proc/self/exe", "container", file), nil
}

// environment is the container's environment in order: built-in defaults
// first, then envFrom, then env.
func (c *container) environment(ctx context.Context, pod *v1.Pod) ([]v1.EnvVar, error) {
	var list []v1.EnvVar
	index := map[string]int{}
	values := map[string]string{}
	set := func(name, value string) {
		values[name] = value
		if i, ok := index[name]; ok {
			list[i].Value = value
			return
		}
		index[name] = len(list)
		list = append(list, v1.EnvVar{Name: name, Value: value})
	}
	set("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	set("HOME", "/root")
	set("HOSTNAME", pod.Name)
	set("KUBERNETES_SERVICE_HOST", apiServiceIP)
	set("KUBERNETES_SERVICE_PORT", "443")
	set("KUBERNETES_SERVICE_PORT_HTTPS", "443")
	set("KUBERNETES_PORT", "tcp://"+apiServiceIP+":443")
	// What echo servers report; a declared variable of the same name wins.
	set("POD_NAME", pod.Name)
	set("POD_NAMESPACE", pod.Namespace)
	set("NAMESPACE", pod.Namespace)
	set("POD_IP", c.w.ip)
	set("NODE_NAME", pod.Spec.NodeName)
	set("SERVICE_NAME", firstOf(pod.Labels["app.kubernetes.io/name"], pod.Labels["app"], pod.Name))
	var ports []string
	for _, p := range c.spec.Ports {
		ports = append(ports, fmt.Sprintf("%d/%s", p.ContainerPort, strings.ToLower(string(firstOf(p.Protocol, v1.ProtocolTCP)))))
	}
	set("CLUSTER_PORTS", strings.Join(ports, ","))
	for k, v := range c.image.Env {
		set(k, v)
	}

	for _, from := range c.spec.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = c.w.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			data, err = c.w.secret(from.SecretRef.Name, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			set(from.Prefix+k, v)
		}
	}
	for _, e := range c.spec.Env {
		if e.ValueFrom == nil {
			set(e.Name, expandVars(e.Value, values))
			continue
		}
		var data map[string]string
		var err error
		switch from := e.ValueFrom; {
		case from.FieldRef != nil:
			set(e.Name, c.w.field(pod, from.FieldRef.FieldPath))
		case from.ResourceFieldRef != nil:
			set(e.Name, c.resource(from.ResourceFieldRef))
		case from.ConfigMapKeyRef != nil:
			if data, err = c.w.configMap(from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Optional); err == nil {
				if v, ok := data[from.ConfigMapKeyRef.Key]; ok {
					set(e.Name, v)
				}
			}
		case from.SecretKeyRef != nil:
			if data, err = c.w.secret(from.SecretKeyRef.Name, from.SecretKeyRef.Optional); err == nil {
				if v, ok := data[from.SecretKeyRef.Key]; ok {
					set(e.Name, v)
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// field resolves a downward API path.
func (w *worker) field(pod *v1.Pod, path string) string {
	if key, ok := cutIndex(path, "metadata.labels"); ok {
		return pod.Labels[key]
	}
	if key, ok := cutIndex(path, "metadata.annotations"); ok {
		return pod.Annotations[key]
	}
	switch path {
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "status.hostIP", "status.hostIPs":
		return w.node.ip
	case "status.podIP", "status.podIPs":
		return w.ip
	case "metadata.labels":
		return formatMap(pod.Labels)
	case "metadata.annotations":
		return formatMap(pod.Annotations)
	}
	return ""
}

func cutIndex(path, prefix string) (string, bool) {
	key, ok := strings.CutPrefix(path, prefix+"['")
	return strings.TrimSuffix(key, "']"), ok
}

func formatMap(m map[string]string) string {
	var b strings.Builder
	for k, v := range m {
		fmt.Fprintf(&b, "%s=%q\n", k, v)
	}
	return b.String()
}

// resource resolves a resourceFieldRef; without a limit it gives the share of
// this machine that the node would offer.
func (c *container) resource(ref *v1.ResourceFieldSelector) string {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := c.spec.Resources.Limits
	if kind == "requests" {
		list = c.spec.Resources.Requests
	}
	q, ok := list[v1.ResourceName(name)]
	if !ok {
		q = c.w.node.object.Status.Allocatable[v1.ResourceName(name)]
	}
	value, divisor := q.MilliValue(), ref.Divisor.MilliValue()
	if divisor == 0 {
		divisor = 1000
	}
	return strconv.FormatInt((value+divisor-1)/divisor, 10)
}

// expandVars replaces $(NAME) by known variables; $$ stands for one $.
func expandVars(s string, vars map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '$' && i+1 < len(s) {
			if s[i+1] == '$' {
				b.WriteByte('$')
				i++
				continue
			}
			if s[i+1] == '(' {
				if end := strings.IndexByte(s[i:], ')'); end > 0 {
					name := s[i+2 : i+end]
					if v, ok := vars[name]; ok {
						b.WriteString(v)
					} else {
						b.WriteString(s[i : i+end+1])
					}
					i += end
					continue
				}
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func firstOf[T ~string](values ...T) T {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
