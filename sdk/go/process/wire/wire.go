//go:build !wasip1

// Package wire is the carrier between the daemon and a module that is a process: what each side
// finds in the other's handshake, and the frames of a call.
//
// A module is a gRPC server as hashicorp/go-plugin starts one, with one method,
//
//	rpc companion.v1.Module/Call (stream google.protobuf.BytesValue) returns (stream google.protobuf.BytesValue)
//
// and each call of it is one op. A frame is a byte that says what it is, and JSON behind it; see
// [Kind]. The JSON is that of abi/ABI.md, the same as in WebAssembly.
//
// The package knows no op, decides nothing, and starts no process.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/companiond/companiond/abi"
)

// Handshake tells a module's program from any other, and the version of the border. Both sides have
// the same.
var Handshake = plugin.HandshakeConfig{ProtocolVersion: abi.Version, MagicCookieKey: "COMPANIOND_MODULE", MagicCookieValue: "companion_v1"}

// Name is what the module is called among the plugins of its program.
const Name = "module"

// Kind is the first byte of a frame.
type Kind byte

// The kinds of frames. The daemon begins a call with Request; the module ends it with Reply. Between
// them the module may ask with HostCall, one at a time, and waits for its Answer. Cancel says that
// nobody waits for the reply any more: the module gives the call up, and still replies.
const (
	Request Kind = 'q' // daemon: an abi.Request
	Answer  Kind = 'a' // daemon: an abi.Reply to the last HostCall
	Cancel  Kind = 'c' // daemon: nothing

	HostCall Kind = 'h' // module: an abi.Request, of which op and data count
	Log      Kind = 'l' // module: a LogLine
	Reply    Kind = 'r' // module: an abi.Reply
)

// LogLine is a line for the daemon's log.
type LogLine struct {
	Level abi.Level `json:"level"`
	Text  string    `json:"text"`
}

// room is how much longer a message is than the JSON in it.
const room = 64

// MaxToModule and MaxToDaemon bound a message in bytes.
const (
	MaxToModule = max(abi.MaxAnswer, abi.MaxRequest) + room
	MaxToDaemon = abi.MaxReply + room
)

const (
	service = "companion.v1.Module"
	method  = "Call"
)

// Stream is one call, seen from either side. Recv may be called beside Send, and neither beside itself.
type Stream interface {
	Send(k Kind, body []byte) error
	// Recv gives the next frame; the error is io.EOF behind the last one.
	Recv() (Kind, []byte, error)
}

// rpcStream is what gRPC has of a stream on either side.
type rpcStream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

type stream struct{ rpc rpcStream }

func (s stream) Send(k Kind, body []byte) error {
	return s.rpc.SendMsg(&wrapperspb.BytesValue{Value: append([]byte{byte(k)}, body...)})
}

func (s stream) Recv() (Kind, []byte, error) {
	var frame wrapperspb.BytesValue
	if err := s.rpc.RecvMsg(&frame); err != nil {
		return 0, nil, err
	}
	if len(frame.Value) == 0 {
		return 0, nil, errors.New("an empty frame")
	}
	return Kind(frame.Value[0]), frame.Value[1:], nil
}

// Server answers calls in a module, each in a goroutine of its own. The ctx ends with the connection.
type Server func(ctx context.Context, s Stream) error

// Plugin is the module as go-plugin has it. Serve is for the module's side; nil on the daemon's.
type Plugin struct {
	plugin.NetRPCUnsupportedPlugin
	Serve Server
}

var _ plugin.GRPCPlugin = Plugin{}

// GRPCServer implements plugin.GRPCPlugin.
func (p Plugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{StreamName: method, ServerStreams: true, ClientStreams: true, Handler: func(_ any, rpc grpc.ServerStream) error {
			return p.Serve(rpc.Context(), stream{rpc})
		}}},
	}, nil)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin; it gives a [Client].
func (p Plugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return Client{c}, nil
}

// Client is the daemon's side of a module.
type Client struct{ conn *grpc.ClientConn }

// Call begins a call, which ends by force when ctx does. A module that sends more than
// [MaxToDaemon] in a message ends it with [ErrTooLarge].
func (c Client) Call(ctx context.Context) (Stream, error) {
	desc := &grpc.StreamDesc{StreamName: method, ServerStreams: true, ClientStreams: true}
	rpc, err := c.conn.NewStream(ctx, desc, "/"+service+"/"+method, grpc.MaxCallRecvMsgSize(MaxToDaemon), grpc.MaxCallSendMsgSize(MaxToModule))
	if err != nil {
		return nil, err
	}
	return stream{rpc}, nil
}

// GRPCServer makes the server of a module's program, which takes messages as long as the border allows.
func GRPCServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(MaxToModule))...)
}

// Unexpected is the error of a frame that has no business where it came.
func Unexpected(k Kind) error { return fmt.Errorf("unexpected frame %q", string(rune(k))) }

// Ended says whether an error of Recv is the proper end of a call.
func Ended(err error) bool { return errors.Is(err, io.EOF) }
