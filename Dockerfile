# SPDX-FileCopyrightText: The Fairway Authors
# SPDX-License-Identifier: Apache-2.0
#
# The image: Fairway, and nginx with its modules from Debian. Build it with BuildKit, which is docker's default:
#
#     make image IMAGE=registry.example.com/fairway:0.1.0
#
# It runs as a user of its own, with a read-only root file system if /run/fairway and /tmp are writable.

ARG GO=1.26
ARG DEBIAN=trixie

FROM --platform=$BUILDPLATFORM golang:${GO}-${DEBIAN} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
ARG VERSION=unknown
ARG TARGETOS
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /out/fairway ./cmd/fairway

FROM debian:${DEBIAN}-slim
# The capability is for ports below 1024. It is permitted, not effective: a container without it starts too, and then needs ports above.
# dumb-init has it as well, because no_new_privs lets a program have no more than the one that started it.
RUN --mount=type=bind,from=build,source=/out,target=/mnt/out \
    apt-get update && \
    apt-get install -y --no-install-recommends \
        ca-certificates \
        dumb-init \
        libcap2-bin \
        libnginx-mod-http-brotli-filter \
        libnginx-mod-http-brotli-static \
        libnginx-mod-http-geoip2 \
        libnginx-mod-http-headers-more-filter \
        libnginx-mod-http-lua \
        libnginx-mod-http-modsecurity \
        libnginx-mod-http-ndk \
        libnginx-mod-stream \
        lua-cjson \
        lua-resty-core \
        lua-resty-lrucache \
        modsecurity-crs \
        nginx && \
    groupadd --system --gid 82 fairway && \
    useradd --system --uid 101 --gid 82 --home-dir /nonexistent --no-create-home --shell /usr/sbin/nologin fairway && \
    install -m 0755 /mnt/out/fairway /usr/local/bin/fairway && \
    setcap cap_net_bind_service=+p /usr/local/bin/fairway && \
    setcap cap_net_bind_service=+p /usr/bin/dumb-init && \
    ln -s /usr/local/bin/fairway /nginx-ingress-controller && \
    ln -s /usr/local/bin/fairway /wait-shutdown && \
    install -d -o fairway -g fairway -m 0755 /run/fairway && \
    rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /etc/nginx/sites-enabled /etc/nginx/modules-enabled /var/www

LABEL org.opencontainers.image.title="fairway" \
      org.opencontainers.image.description="Ingress controller on nginx without reloads, the drop-in successor of ingress-nginx" \
      org.opencontainers.image.source="https://github.com/fairway-ingress/fairway" \
      org.opencontainers.image.licenses="Apache-2.0"

# HTTP, HTTPS, webhook, health and metrics.
EXPOSE 80 443 8443 10254
USER 101:82
# The arguments of a Deployment of ingress-nginx work as they are, its program's path included.
ENTRYPOINT ["/usr/bin/dumb-init", "--single-child", "--", "/usr/local/bin/fairway", "controller"]
