//go:build !wasip1

// Package process serves a registered character as a program of its own, which companiond starts
// and stops. The same source that is a WebAssembly module with an empty main,
//
//	func main() {}
//
// is such a program with
//
//	func main() { process.Main() }
//
// It is built with go build, put into modules.plugins, and named in the configuration:
//
//	[module.momo]
//	program = "momo"
//
// A program may do what WebAssembly cannot: open sockets, read files, start other programs. For code
// that waits, [companion.Host.Context] ends when nobody waits for the answer any more.
//
// # One call at a time
//
// As in WebAssembly the daemon's calls are answered one after the other, so package variables need no
// locks. [companion.Handler.Run] alone runs beside them. The daemon ends a program that goes on with a call which was given up.
//
// # What it prints
//
// Lines on standard output and standard error go to the daemon's log, under the module's name, and so
// does what [companion.Host.Log] says, with its level.
//
// The package decides nothing, and a program that is started by hand says so and ends.
package process

import (
	"context"
	"encoding/json"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/companiond/companiond/abi"
	companion "github.com/companiond/companiond/sdk/go"
	"github.com/companiond/companiond/sdk/go/process/wire"
)

// Main serves the registered character until the daemon ends it.
func Main() {
	s := newServer()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: wire.Handshake,
		Plugins:         plugin.PluginSet{wire.Name: wire.Plugin{Serve: s.serve}},
		GRPCServer:      wire.GRPCServer,
		Logger:          hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}), // why it cannot serve
	})
}

// server answers calls one at a time, but for a run.
type server struct {
	turn   chan struct{}
	serves func(request []byte, c companion.Carrier) (reply []byte)
}

func newServer() *server {
	return &server{make(chan struct{}, 1), func(request []byte, c companion.Carrier) []byte {
		reply, _ := companion.Serve(request, c)
		return reply
	}}
}

func (s *server) serve(ctx context.Context, in wire.Stream) error {
	kind, request, err := in.Recv()
	if err != nil {
		return err
	}
	if kind != wire.Request {
		return wire.Unexpected(kind)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &call{ctx: ctx, stream: in, answers: make(chan []byte)}
	go c.receive(cancel)
	if op(request) != abi.OpRun { // which runs beside all others
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
		case <-ctx.Done():
			return in.Send(wire.Reply, refusal(abi.Errorf(abi.CodeTimeout, "nobody waits for the answer any more")))
		}
	}
	reply := s.serves(request, companion.Carrier{Ask: c.ask, Log: c.log, Context: ctx})
	c.sending.Lock()
	defer c.sending.Unlock()
	return in.Send(wire.Reply, reply)
}

// op gives the op of a request, empty where it has none.
func op(request []byte) string {
	var r struct {
		Op string `json:"op"`
	}
	_ = json.Unmarshal(request, &r) // what is none is answered with an error later
	return r.Op
}

// call is one call that is being answered. A character may ask and log from several goroutines.
type call struct {
	ctx     context.Context
	stream  wire.Stream
	sending sync.Mutex
	asking  sync.Mutex
	answers chan []byte
}

// receive hears what the daemon says during a call, until it says no more.
func (c *call) receive(cancel context.CancelFunc) {
	defer cancel()
	for {
		kind, body, err := c.stream.Recv()
		if err != nil || kind != wire.Answer {
			return // a Cancel, or the end
		}
		select {
		case c.answers <- body:
		case <-c.ctx.Done():
			return
		}
	}
}

// ask carries one host_call.
func (c *call) ask(request []byte) []byte {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.ctx.Err() != nil {
		return refusal(abi.Errorf(abi.CodeTimeout, "nobody waits for the answer any more"))
	}
	if err := c.send(wire.HostCall, request); err != nil {
		return refusal(abi.Errorf(abi.CodeUnavailable, "the daemon cannot be asked: %v", err))
	}
	select {
	case answer := <-c.answers:
		return answer
	case <-c.ctx.Done():
		return refusal(abi.Errorf(abi.CodeTimeout, "nobody waits for the answer any more"))
	}
}

func (c *call) log(level abi.Level, text string) {
	line, _ := json.Marshal(wire.LogLine{Level: level, Text: text}) // a number and a text can always be marshalled
	_ = c.send(wire.Log, line)                                      // a daemon that is gone wants no log
}

func (c *call) send(kind wire.Kind, body []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.stream.Send(kind, body)
}

func refusal(err *abi.Error) []byte {
	reply, _ := json.Marshal(abi.Reply{Error: err}) // strings and a bool can always be marshalled
	return reply
}
