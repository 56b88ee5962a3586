// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	authv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumeSource is the directory that backs a volume.
func (w *worker) volumeSource(name string) (string, error) {
	for _, v := range w.current().Spec.Volumes {
		if v.Name != name {
			continue
		}
		if v.HostPath != nil {
			return v.HostPath.Path, nil
		}
		return w.volumeDir(name), nil
	}
	return "", fmt.Errorf("no volume %q", name)
}

func (w *worker) volumeDir(name string) string { return filepath.Join(w.dir, "volumes", name) }

// writeVolumes fills all volumes. It fails while an object they need is
// missing.
func (w *worker) writeVolumes(ctx context.Context) error {
	for _, v := range w.current().Spec.Volumes {
		if err := os.MkdirAll(w.volumeDir(v.Name), 0o777); err != nil {
			return err
		}
		files, err := w.volumeFiles(ctx, &v)
		if err != nil {
			return fmt.Errorf("volume %s: %w", v.Name, err)
		}
		if files != nil {
			if err := writePayload(w.volumeDir(v.Name), files); err != nil {
				return err
			}
		}
	}
	return nil
}

// refreshVolumes rewrites volumes whose objects have changed, as a kubelet
// does (but within seconds).
func (w *worker) refreshVolumes(ctx context.Context) {
	for {
		pause(ctx, 2*time.Second)
		if ctx.Err() != nil {
			return
		}
		for _, v := range w.current().Spec.Volumes {
			if v.ConfigMap == nil && v.Secret == nil {
				continue
			}
			files, err := w.volumeFiles(ctx, &v)
			if err != nil || files == nil {
				continue
			}
			if err := writePayload(w.volumeDir(v.Name), files); err != nil {
				log.Print(err)
			}
		}
	}
}

// volumeFiles is the content of a volume made from API objects; nil for the
// others, which are empty directories.
func (w *worker) volumeFiles(ctx context.Context, v *corev1.Volume) (map[string][]byte, error) {
	files := map[string][]byte{}
	pod := w.current()
	switch {
	case v.ConfigMap != nil:
		data, err := w.configMap(v.ConfigMap.Name, v.ConfigMap.Optional)
		if err != nil {
			return nil, err
		}
		return pick(files, data, v.ConfigMap.Items), nil
	case v.Secret != nil:
		data, err := w.secret(v.Secret.SecretName, v.Secret.Optional)
		if err != nil {
			return nil, err
		}
		return pick(files, data, v.Secret.Items), nil
	case v.DownwardAPI != nil:
		return w.downward(files, pod, v.DownwardAPI.Items), nil
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			switch {
			case s.ConfigMap != nil:
				data, err := w.configMap(s.ConfigMap.Name, s.ConfigMap.Optional)
				if err != nil {
					return nil, err
				}
				pick(files, data, s.ConfigMap.Items)
			case s.Secret != nil:
				data, err := w.secret(s.Secret.Name, s.Secret.Optional)
				if err != nil {
					return nil, err
				}
				pick(files, data, s.Secret.Items)
			case s.DownwardAPI != nil:
				w.downward(files, pod, s.DownwardAPI.Items)
			case s.ServiceAccountToken != nil:
				t := s.ServiceAccountToken
				request := &authv1.TokenRequest{Spec: authv1.TokenRequestSpec{
					BoundObjectRef: &authv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
				}}
				seconds := int64(24 * 3600) // never renewed here
				request.Spec.ExpirationSeconds = &seconds
				if t.Audience != "" {
					request.Spec.Audiences = []string{t.Audience}
				}
				token, err := w.r.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
				if err != nil {
					return nil, err
				}
				files[t.Path] = []byte(token.Status.Token)
			}
		}
		return files, nil
	}
	return nil, nil
}

func (w *worker) downward(files map[string][]byte, pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile) map[string][]byte {
	for _, item := range items {
		if item.FieldRef != nil {
			files[item.Path] = []byte(w.field(pod, item.FieldRef.FieldPath))
		}
	}
	return files
}

// pick copies the wanted keys (all without items).
func pick(files map[string][]byte, data map[string]string, items []corev1.KeyToPath) map[string][]byte {
	if len(items) == 0 {
		for k, v := range data {
			files[k] = []byte(v)
		}
	}
	for _, i := range items {
		if v, ok := data[i.Key]; ok {
			files[i.Path] = []byte(v)
		}
	}
	return files
}

// writePayload replaces the content of dir atomically, in the layout of a
// kubelet: files are links through ..data, which is switched by a rename.
func writePayload(dir string, files map[string][]byte) error {
	data := filepath.Join(dir, "..data")
	same := true
	for name, content := range files {
		old, err := os.ReadFile(filepath.Join(data, name))
		same = same && err == nil && bytes.Equal(old, content)
	}
	old, _ := os.Readlink(data)
	if same && old != "" {
		entries, _ := os.ReadDir(filepath.Join(dir, old))
		if len(entries) == len(topNames(files)) {
			return nil
		}
	}
	fresh, err := os.MkdirTemp(dir, ".."+time.Now().Format("2006_01_02_15_04_05."))
	if err != nil {
		return err
	}
	os.Chmod(fresh, 0o755)
	for name, content := range files {
		file := filepath.Join(fresh, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	if err := os.Symlink(filepath.Base(fresh), data+"_tmp"); err != nil {
		return err
	}
	if err := os.Rename(data+"_tmp", data); err != nil {
		return err
	}
	wanted := topNames(files)
	for name := range wanted {
		os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name))
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if n := e.Name(); n[0] != '.' && !wanted[n] {
			os.Remove(filepath.Join(dir, n))
		}
	}
	if old != "" {
		os.RemoveAll(filepath.Join(dir, old))
	}
	return nil
}

func topNames(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	for name := range files {
		for d := filepath.Dir(name); d != "."; d = filepath.Dir(name) {
			name = d
		}
		names[name] = true
	}
	return names
}

// configMap and secret read an object from the informer caches.
func (w *worker) configMap(name string, optional *bool) (map[string]string, error) {
	cm, err := w.r.factory.Core().V1().ConfigMaps().Lister().ConfigMaps(w.current().Namespace).Get(name)
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data := map[string]string{}
	for k, v := range cm.Data {
		data[k] = v
	}
	for k, v := range cm.BinaryData {
		data[k] = string(v)
	}
	return data, nil
}

func (w *worker) secret(name string, optional *bool) (map[string]string, error) {
	s, err := w.r.factory.Core().V1().Secrets().Lister().Secrets(w.current().Namespace).Get(name)
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data := map[string]string{}
	for k, v := range s.Data {
		data[k] = string(v)
	}
	return data, nil
}
