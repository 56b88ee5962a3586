// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fairway-ingress/fairway/internal/metrics"
	"github.com/fairway-ingress/fairway/internal/nginx/conf"
	"github.com/fairway-ingress/fairway/internal/nginx/lua"
)

// recordingConf proxies a request and counts it again and again in its log phase; /result says how long each turn took, in µs per request.
const recordingConf = `
load_module /usr/lib/nginx/modules/ndk_http_module.so;
load_module /usr/lib/nginx/modules/ngx_http_lua_module.so;
worker_processes 1; events { worker_connections 128; }
http {
  access_log off;
  lua_package_path '%s/?.lua;;'; lua_shared_dict fairway 1m; lua_shared_dict fairway_traffic 1m;
  map "" $counted { default "%s"; }
  server {
    listen 127.0.0.1:%d;
    location / {
      proxy_pass http://127.0.0.1:%d;
      log_by_lua_block {
        local traffic = require "fairway.traffic"
        traffic.configure(%s)
        local host, route = { name = "a.example" }, { i = { "ns", "i", "svc", "80", "/" } }
        local begin, record, clock, count = traffic.begin, traffic.record, os.clock, 100000
        local turns = {}
        for turn = 1, 15 do
          local start = clock()
          for _ = 1, count do
            begin(host, route, "a.example")
            record()
          end
          turns[turn] = (clock() - start) / count * 1e6
        end
        ngx.shared.fairway:set("result", table.concat(turns, " "))
      }
    }
    location = /result { content_by_lua_block { ngx.print(ngx.shared.fairway:get("result")) } }
  }
}
`

// recordRepeatedly gives the time of one recording in µs, without what it costs nginx to call Lua at all.
func recordRepeatedly(ctx context.Context, dir string) (float64, error) {
	dir = filepath.Join(dir, "recording")
	modules := filepath.Join(dir, "lua")
	if err := copyModules(modules); err != nil {
		return 0, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return 0, err
	}
	options := conf.Traffic{Options: *metrics.DefaultRequestOptions().Traffic()}
	stop, err := startNginx(dir, fmt.Sprintf(recordingConf, modules, conf.Measures, ports[0], backendPort, options.Lua()), nil)
	if err != nil {
		return 0, err
	}
	defer stop()
	if _, err := fetch(ctx, ports[0], "/"); err != nil {
		return 0, err
	}
	text, err := fetch(ctx, ports[0], "/result")
	if err != nil {
		return 0, err
	}
	var turns []float64
	for word := range strings.FieldsSeq(text) {
		took, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return 0, fmt.Errorf("nginx says %q", text)
		}
		turns = append(turns, took)
	}
	return quantile(turns, .5), nil
}

func copyModules(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return fs.WalkDir(lua.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(dir, path), 0o755)
		}
		text, err := lua.Files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), text, 0o644)
	})
}

func fetch(ctx context.Context, port int, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}
