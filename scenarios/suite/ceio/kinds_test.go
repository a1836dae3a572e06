package ceio

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/hostbed"
	"nictwin/stack/hostnet"
	"nictwin/stack/hostnet/apps"
	"nictwin/stack/rpc"
)

// flowKind makes both ends of a flow.
type flowKind interface {
	flow(s *server, i int) (server, client hostnet.FlowConfig)
}

// ends sets the addresses of both ends of a flow.
func (s *server) ends(i int, a, b *hostnet.FlowConfig) {
	port := uint16(7000 + i)
	a.Ends, b.Ends = hostbed.Ends(0, 1, port, port, s.v6), hostbed.Ends(1, 0, port, port, s.v6)
}

// echo is a flow of requests of one packet.
type echo struct {
	bytes int
	load  apps.Load
}

func (k echo) flow(s *server, i int) (a, b hostnet.FlowConfig) {
	client, err := apps.NewEchoClient(uint64(i), k.bytes, k.load)
	require.NoError(s, err)
	r := rpc.DefaultSpec(k.bytes)
	a = hostnet.FlowConfig{RPC: r, Server: apps.NewEchoServer(uint64(i), k.bytes)}
	b = hostnet.FlowConfig{RPC: r, Client: client, Outstanding: 256}
	s.ends(i, &a, &b)
	if headers := a.Ends.HeaderBytes() + rpc.AckBytes; k.bytes+headers > hostnet.DefaultSpec().BufferBytes {
		a.Buffers.Bytes, b.Buffers.Bytes = nicspec.FrameMax, nicspec.FrameMax
	}
	return a, b
}

// chunks is a flow of large messages into a file. Headers are split off, so that the payload of consecutive packets is
// adjacent.
type chunks struct {
	spec   apps.ChunkSpec
	load   apps.Load
	copies bool // into the file
	server **apps.ChunkServer
}

func (k chunks) flow(s *server, i int) (a, b hostnet.FlowConfig) {
	k.spec.Copy = k.copies
	server, err := apps.NewChunkServer(apps.ChunkServerConfig{Seed: uint64(i), Spec: k.spec,
		Peek: func(at uint64, b []byte) error { return s.Rack.Servers[0].Cards[0].Memory.Read(at, b) }})
	require.NoError(s, err)
	client, err := apps.NewChunkClient(uint64(i), k.spec, k.load)
	require.NoError(s, err)
	r := rpc.DefaultSpec(k.spec.Segment)
	a = hostnet.FlowConfig{RPC: r, Server: server, AnswerBytes: apps.ChunkAnswerBytes}
	b = hostnet.FlowConfig{RPC: r, Client: client, Outstanding: k.spec.Outstanding}
	s.ends(i, &a, &b)
	a.Buffers = hostnet.Buffers{Bytes: k.spec.Segment, Split: a.Ends.HeaderBytes() + rpc.DataBytes, HeaderBytes: 128}
	if k.server != nil {
		*k.server = server
	}
	return a, b
}

// vxlan is a flow of datagrams of 64 B, whose destination port all flows share.
type vxlan struct {
	load apps.Load
	sink **apps.VXLANSink
}

func (k vxlan) flow(s *server, i int) (a, b hostnet.FlowConfig) {
	const networks = 5
	source, err := apps.NewVXLANSource(networks, k.load)
	require.NoError(s, err)
	sink := apps.NewVXLANSink(networks, apps.Wire{})
	port := uint16(50_000 + i)
	*k.sink = sink
	return hostnet.FlowConfig{MatchSource: true, Sink: sink, Ends: hostbed.Ends(0, 1, apps.VXLANPort, port, s.v6)},
		hostnet.FlowConfig{MatchSource: true, Source: source, Ends: hostbed.Ends(1, 0, port, apps.VXLANPort, s.v6)}
}

// stray is a flow of the client to the port of the last flow and the server's MAC address, but to another IP address.
func (s *server) stray() hostnet.FlowConfig {
	source, err := apps.NewVXLANSource(1, apps.Load{Requests: s.strays, EveryPs: 1_000_000})
	require.NoError(s, err)
	c := hostnet.FlowConfig{Source: source, Ends: hostbed.Ends(1, 0, 9999, uint16(7000+len(s.kinds)-1), s.v6)}
	c.Ends.Peer.IP = hostbed.Address(76, s.v6).IP
	return c
}

// headers counts packets that were marked when a path handed them over, and IP headers that the path changed.
type headers struct {
	marked, wrong uint64
}

// look is a path whose packets are looked at.
type look struct {
	hostnet.Path
	h *headers
	c hostnet.PathConfig
}

// Next implements hostnet.Path. It counts marks, and headers with CE or a wrong checksum.
func (l *look) Next(p *hostnet.Packet) bool {
	if !l.Path.Next(p) {
		return false
	}
	b := make([]byte, p.L4-p.L3)
	if err := l.c.Bus.Core().Load(p.At(p.L3), b); err != nil {
		panic(err)
	}
	ecn, sum := b[1]&3, uint32(0)
	if b[0]>>4 == 6 {
		ecn, b = b[1]>>4&3, nil
	}
	if p.CE {
		l.h.marked++
	}
	for ; len(b) > 0; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if sum = sum&0xffff + sum>>16; sum != 0 && sum != 0xffff || ecn == 3 {
		l.h.wrong++
	}
	return true
}

// Holds implements hostnet.Limited.
func (l *look) Holds() int { return l.Path.(hostnet.Limited).Holds() }
