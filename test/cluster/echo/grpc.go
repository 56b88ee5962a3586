// SPDX-FileCopyrightText: The Fairway Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
)

// newGRPC serves echo.Echo, whose messages are google.protobuf.Struct:
//
//	Unary   answers with {request, metadata, method, authority, remoteAddr, pod...}
//	Stream  answers each message of a bidirectional stream likewise
//
// Request fields "code" (a gRPC status number), "delay" (seconds) are obeyed.
// Unknown services get the code Unimplemented; grpc.health.v1 is there too.
func newGRPC() *grpc.Server {
	s := grpc.NewServer()
	healthpb.RegisterHealthServer(s, health.NewServer())
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "echo.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(structpb.Struct)
			if err := dec(in); err != nil {
				return nil, err
			}
			return answer(ctx, "Unary", in)
		}}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, ClientStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
			for {
				in := new(structpb.Struct)
				if err := stream.RecvMsg(in); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
				out, err := answer(stream.Context(), "Stream", in)
				if err != nil {
					return err
				}
				if err := stream.SendMsg(out); err != nil {
					return err
				}
			}
		}}},
	}, struct{}{})
	return s
}

func answer(ctx context.Context, method string, in *structpb.Struct) (*structpb.Struct, error) {
	if d := in.Fields["delay"].GetNumberValue(); d > 0 {
		time.Sleep(time.Duration(d * float64(time.Second)))
	}
	if c := in.Fields["code"].GetNumberValue(); c > 0 {
		return nil, status.Error(codes.Code(c), "as requested")
	}
	md, _ := metadata.FromIncomingContext(ctx)
	remote := ""
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		remote = p.Addr.String()
	}
	b, err := json.Marshal(map[string]any{
		"request": in.AsMap(), "method": "/echo.Echo/" + method, "metadata": md, "remoteAddr": remote,
		"pod": self.Pod, "namespace": self.Namespace, "service": self.Service, "node": self.Node,
	})
	if err != nil {
		return nil, err
	}
	out := new(structpb.Struct)
	return out, out.UnmarshalJSON(b)
}
