package provisioner

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Connect returns a connection to a driver that is in this process. A call is one of a method: nothing listens, and no goroutine carries messages to and fro in an
// order that no seed decides.
func Connect(register func(grpc.ServiceRegistrar)) (*grpc.ClientConn, error) {
	d := driver{}
	register(d)
	return grpc.NewClient("passthrough:///driver", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(d.call))
}

// driver has the methods by which gRPC knows them.
type driver map[string]func(ctx context.Context, request proto.Message) (any, error)

func (d driver) RegisterService(service *grpc.ServiceDesc, impl any) {
	for _, m := range service.Methods {
		d["/"+service.ServiceName+"/"+m.MethodName] = func(ctx context.Context, request proto.Message) (any, error) {
			return m.Handler(impl, ctx, func(copied any) error {
				proto.Merge(copied.(proto.Message), request)
				return nil
			}, nil)
		}
	}
}

func (d driver) call(ctx context.Context, method string, request, answer any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
	m, ok := d[method]
	if !ok {
		return status.Error(codes.Unimplemented, method)
	}
	got, err := m(ctx, request.(proto.Message))
	if err != nil {
		return err
	}
	proto.Merge(answer.(proto.Message), got.(proto.Message))
	return nil
}
