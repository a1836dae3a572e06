package core

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

const sig = rnicspec.FlagSignalled

// Every operation of an RC queue pair must work with messages of no bytes, of one packet and of several.
func TestOperations(t *testing.T) {
	for _, size := range []uint32{0, 1, 255, 256, 257, 5000} {
		p := newPair(t, rnicspec.RC, 256)
		pattern(p.n[0].mem[:8192], 3)
		pattern(p.n[1].mem[:8192], 77)
		p.recv(1, 0x10000, 8192, 100)
		p.recv(1, 0x20000, 8192, 101)
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig, ID: 1, Length: size, RemoteVA: 0x30000})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.SendImm, Flags: sig, ID: 2, Length: size, Imm: 0xabcdef})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, Flags: sig, ID: 3, Length: size, LocalVA: 0x40000})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.WriteImm, Flags: sig, ID: 4, Length: size, RemoteVA: 0x50000, Imm: 5})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.FetchAdd, Flags: sig, ID: 5, Length: 8, RemoteVA: 0x60000,
			LocalVA: 0x60000, SwapAdd: 9})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.CmpSwap, ID: 6, Length: 8, RemoteVA: 0x60000, LocalVA: 0x60008,
			Compare: 9, SwapAdd: 11})
		p.run()
		a, b := p.n[0].mem, p.n[1].mem
		require.Equal(t, a[:size], b[0x30000:][:size])
		require.Equal(t, a[:size], b[0x10000:][:size])
		require.Equal(t, b[:size], a[0x40000:][:size])
		require.Equal(t, a[:size], b[0x50000:][:size])
		require.EqualValues(t, []uint64{0, 9, 11}, []uint64{binary.LittleEndian.Uint64(a[0x60000:]),
			binary.LittleEndian.Uint64(a[0x60008:]), binary.LittleEndian.Uint64(b[0x60000:])})
		var ids []uint64
		for _, c := range p.n[0].done {
			require.Equal(t, rnicspec.OK, c.Status)
			ids = append(ids, c.ID)
		}
		require.Equal(t, []uint64{1, 2, 3, 4, 5}, ids, "in order, and not the one that is not signalled")
		require.Equal(t, []Completion{
			{Recv: true, CQE: rnicspec.CQE{ID: 100, QPN: 2, Opcode: rnicspec.Recv, Bytes: size, HasImm: true,
				Imm: 0xabcdef}},
			{Recv: true, CQE: rnicspec.CQE{ID: 101, QPN: 2, Opcode: rnicspec.RecvWrite, Bytes: size, HasImm: true,
				Imm: 5}},
		}, p.n[1].done)
		require.True(t, p.q[0].Idle())
		require.Zero(t, p.n[0].dev.Retries)
	}
}

// A failing request must complete with the standard's status and leave both queue pairs in the
// error state; later entries must be flushed.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		w       rnicspec.WQE
		prepare func(p *pair)
		want    rnicspec.Status
	}{
		{"no region", rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, RemoteVA: memBytes - 4}, nil,
			rnicspec.RemoteAccess},
		{"read beyond", rnicspec.WQE{Opcode: rnicspec.Read, Length: 8, RemoteVA: ^uint64(3)}, nil,
			rnicspec.RemoteAccess},
		{"no right", rnicspec.WQE{Opcode: rnicspec.Read, Length: 8},
			func(p *pair) { p.q[1].Access = rnicspec.RemoteWrite }, rnicspec.RemoteInvalid},
		{"atomic not aligned", rnicspec.WQE{Opcode: rnicspec.FetchAdd, Length: 8, RemoteVA: 4}, nil,
			rnicspec.RemoteInvalid},
		{"too long for the buffer", rnicspec.WQE{Opcode: rnicspec.Send, Length: 300},
			func(p *pair) { p.recv(1, 0, 299, 50) }, rnicspec.RemoteInvalid},
		{"buffer that may not be written", rnicspec.WQE{Opcode: rnicspec.Send, Length: 3},
			func(p *pair) { p.recv(1, memBytes, 299, 50) }, rnicspec.RemoteOperation},
		{"no local memory", rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, LocalVA: memBytes}, nil,
			rnicspec.LocalProtection},
		{"operation of no sense", rnicspec.WQE{Opcode: 99, Length: 8}, nil, rnicspec.LocalQP},
		{"atomic of 4 B", rnicspec.WQE{Opcode: rnicspec.CmpSwap, Length: 4}, nil, rnicspec.LocalLength},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, rnicspec.RC, 256)
			if c.prepare != nil {
				c.prepare(p)
			}
			c.w.ID = 1
			p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, ID: 9, Flags: sig})
			p.post(0, c.w)
			p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, ID: 2})
			p.run()
			p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, ID: 3})
			var got []rnicspec.Status
			for i, d := range p.n[0].done {
				got = append(got, d.Status)
				require.Equal(t, []uint64{9, 1, 2, 3}[i], d.ID)
			}
			require.Equal(t, []rnicspec.Status{rnicspec.OK, c.want, rnicspec.Flushed, rnicspec.Flushed}, got)
			require.Equal(t, rnicspec.Failed, p.q[0].State)
		})
	}
}

// Without a receive entry, the responder sends an RNR NAK. The requester must wait for the time in
// it, and give up after too many of them.
func TestNotReady(t *testing.T) {
	p := newPair(t, rnicspec.RC, 256)
	p.q[0].RNRRetry, p.q[0].req.rnr = 2, 2
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Send, Length: 1000, ID: 1, Flags: sig})
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Send, Length: 1000, ID: 2, Flags: sig})
	p.run()
	require.EqualValues(t, 1, p.n[1].dev.RNRs)
	require.EqualValues(t, 10_000_000, p.n[0].wait[1], "10 µs, as its timer code says")
	p.recv(1, 0, 2000, 10)
	p.q[0].Resume()
	p.run()
	require.Len(t, p.n[0].done, 1, "the first is through, and the count starts again")
	for range 2 {
		p.q[0].Resume()
		p.run()
	}
	require.Equal(t, rnicspec.RNRExceeded, p.n[0].done[1].Status)
}

// A request to a silent peer must be repeated Retries times, and then fail.
func TestRetryExceeded(t *testing.T) {
	p := newPair(t, rnicspec.RC, 256)
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Length: 300, ID: 1})
	sent := 0
	for range 20 {
		for p.send(0) {
			sent++
		}
		p.n[0].e.Reset()
		p.q[0].Timeout(&p.n[0].e)
		p.n[0].finish(p.q[0])
	}
	require.Equal(t, 2*8, sent)
	require.Equal(t, rnicspec.RetryExceeded, p.n[0].done[0].Status)
}

// The requester must keep at most 16 READs in flight; the responder must refuse one more.
func TestReadsInFlight(t *testing.T) {
	p := newPair(t, rnicspec.RC, 256)
	for range 20 {
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, Length: 10})
	}
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Flags: sig | rnicspec.FlagFence})
	n := 0
	for p.send(0) {
		n++
	}
	require.Equal(t, 16, n)
	p.run()
	require.Len(t, p.n[0].done, 1)

	var e Effects
	q := p.q[1]
	q.resp.reads = 16
	pk := Packet{}
	pk.Opcode, pk.PSN = wire.RCReadRequest, q.resp.psn
	q.Respond(&pk, &e)
	require.EqualValues(t, wire.NAKInvalidRequest, e.Reply.Syndrome)
}

func TestUnreliable(t *testing.T) {
	p := newPair(t, rnicspec.UC, 256)
	pattern(p.n[0].mem[:4096], 1)
	for i := range 3 {
		p.recv(1, uint64(0x10000+i*0x1000), 0x1000, uint64(i))
	}
	lose := func() { p.n[0].out = append(p.n[0].out[:0:0], p.n[0].out[1:]...) }
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Send, Length: 1000, ID: 1, Flags: sig})
	for p.send(0) {
	}
	lose()
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Send, Length: 999, ID: 2, Flags: sig})
	p.post(0, rnicspec.WQE{Opcode: rnicspec.WriteImm, Length: 300, ID: 3, Flags: sig, RemoteVA: 0x8000, Imm: 4})
	p.run()
	require.Len(t, p.n[0].done, 3, "it does not know of the loss")
	require.Equal(t, []Completion{
		{Recv: true, CQE: rnicspec.CQE{ID: 0, QPN: 2, Opcode: rnicspec.Recv, Bytes: 999}},
		{Recv: true, CQE: rnicspec.CQE{ID: 1, QPN: 2, Opcode: rnicspec.RecvWrite, Bytes: 300, HasImm: true, Imm: 4}},
	}, p.n[1].done)
	require.Equal(t, p.n[0].mem[:999], p.n[1].mem[0x10000:][:999])
	require.Equal(t, p.n[0].mem[:300], p.n[1].mem[0x8000:][:300])
}

func TestDatagrams(t *testing.T) {
	p := newPair(t, rnicspec.UD, 1024)
	pattern(p.n[0].mem[:4096], 1)
	p.recv(1, 0x1000, 600, 8)
	p.recv(1, 0x2000, 2000, 9)
	send := func(n uint32, qkey uint32) {
		p.post(0, rnicspec.WQE{Opcode: rnicspec.SendImm, Length: n, Imm: 6, DestQP: 2, QKey: qkey, Flags: sig})
	}
	send(1000, 0x1234) // too long for the buffer: dropped
	send(100, 0x1235)  // wrong Q_Key
	send(561, 0x1234)  // too long by a byte, with the 40 bytes in front of the message
	send(560, 0x1234)
	p.run()
	require.Len(t, p.n[0].done, 4)
	require.Equal(t,
		[]Completion{{Recv: true, CQE: rnicspec.CQE{ID: 8, QPN: 2, SrcQP: 1, Opcode: rnicspec.Recv, Bytes: 600,
			HasImm: true, Imm: 6}}}, p.n[1].done)
	require.Equal(t, p.n[0].mem[:560], p.n[1].mem[0x1028:][:560])
	require.EqualValues(t, 0x45, p.n[1].mem[0x1000+20], "the IP header stands before the message")
	require.Equal(t, []int{2, 1}, []int{p.n[1].drop[DropNoBuffer], p.n[1].drop[DropKey]})
	send(1025, 0x1234)
	p.run()
	require.Equal(t, rnicspec.LocalLength, p.n[0].done[4].Status)
}

// Frames with IPv4 and IPv6 headers must be decoded to what was encoded, and a changed bit must be
// detected.
func TestFrames(t *testing.T) {
	n := newNode(t)
	for _, v6 := range []bool{false, true} {
		a := Address{V6: v6, SrcMAC: [6]byte{2, 1}, DstMAC: [6]byte{2, 2}, UDPPort: 0xc123, TTL: 64, TOS: 2}
		p := Packet{RETH: wire.RETHFields{VA: 1 << 60, RKey: 3, DMALen: 5}, Imm: 99}
		p.Opcode, p.PSN, p.DestQP, p.AckReq = wire.RCWriteOnlyImm, 0xffffff, 77, true
		n.out = nil
		n.frame(&p, &a, []byte("Hello"))
		f := n.out[0]
		var back Packet
		require.Equal(t, Kept, back.Decode(f))
		require.Equal(t, "Hello", string(back.Payload))
		require.Equal(t, []any{p.RETH, p.Imm, p.PSN, uint8(3), true},
			[]any{back.RETH, back.Imm, back.PSN, back.PadCnt, back.AckReq})
		roce, ib := p.FrameBytes(&a, 5)
		require.Equal(t, len(f), roce)
		require.Equal(t, 26+16+4+8, ib)
		f[len(f)-9] ^= 1
		require.Equal(t, DropICRC, back.Decode(f))
	}
}

// A NAK must acknowledge everything before it. A READ whose responses have a gap must be requested
// again once, from the gap on.
func TestGaps(t *testing.T) {
	p := newPair(t, rnicspec.RC, 256)
	pattern(p.n[1].mem[:2048], 9)
	for id := range uint64(3) {
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, ID: id, Flags: sig, RemoteVA: 0x1000})
	}
	for p.send(0) {
	}
	p.n[1].take(p.n[0].out[0])
	p.n[1].out = nil // the acknowledgement and the second WRITE are lost
	p.n[1].take(p.n[0].out[2])
	require.Len(t, p.n[1].out, 1)
	p.n[0].out = nil
	p.n[0].take(p.n[1].out[0])
	require.Len(t, p.n[0].done, 1, "the first has ended by the NAK of the second")
	p.n[1].out = nil
	p.run()
	require.Len(t, p.n[0].done, 3)
	require.EqualValues(t, 1, p.n[0].dev.Retries)

	p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, Length: 2048, ID: 4, Flags: sig, LocalVA: 0x4000})
	p.send(0)
	p.n[1].take(p.n[0].out[0])
	p.n[0].out = nil
	for i, f := range p.n[1].out {
		if i != 3 {
			p.n[0].take(f)
		}
	}
	p.n[1].out = nil
	require.EqualValues(t, 2, p.n[0].dev.Retries)
	p.run()
	require.Len(t, p.n[0].done, 4)
	require.Equal(t, p.n[1].mem[:2048], p.n[0].mem[0x4000:][:2048])
	require.EqualValues(t, 2, p.n[0].dev.Retries)
}
