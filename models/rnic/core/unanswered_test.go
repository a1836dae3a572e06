package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// The response to a READ is lost, and a NAK of a later request arrives: the READ must be requested
// again first, whatever the NAK reports (IBTA 9.7.5.1.1). It must still count among the READs in
// flight, and end before the request that the peer refused.
func TestNAKsAfterALostAnswer(t *testing.T) {
	for _, c := range []struct {
		name     string
		second   rnicspec.WQE
		lose     bool // lose the second request
		nak      wire.Syndrome
		retries  int
		rnr      int
		statuses []rnicspec.Status
	}{
		{"sequence", rnicspec.WQE{Opcode: rnicspec.Write, Length: 8}, true, wire.NAKSequence, 7, 7,
			[]rnicspec.Status{0, 0, 0}},
		{"not ready", rnicspec.WQE{Opcode: rnicspec.Send, Length: 8}, false, wire.RNRSyndrome(1), 7, 7,
			[]rnicspec.Status{0, 0, 0}},
		{"not ready, no retries", rnicspec.WQE{Opcode: rnicspec.Send, Length: 8}, false, wire.RNRSyndrome(1), 7, 0,
			[]rnicspec.Status{0, rnicspec.RNRExceeded, rnicspec.Flushed}},
		{"refused", rnicspec.WQE{Opcode: rnicspec.Write, Length: 8, RemoteVA: memBytes}, false, wire.NAKRemoteAccess, 2,
			7,
			// the peer does not answer any more
			[]rnicspec.Status{rnicspec.RetryExceeded, rnicspec.Flushed, rnicspec.Flushed}},
		{"no retries", rnicspec.WQE{Opcode: rnicspec.Write, Length: 8}, true, wire.NAKSequence, 0, 7,
			[]rnicspec.Status{rnicspec.RetryExceeded, rnicspec.Flushed, rnicspec.Flushed}},
	} {
		p := newPair(t, rnicspec.RC, 256)
		q := p.q[0]
		q.MaxRead, q.Retries, q.req.retries, q.RNRRetry, q.req.rnr = 1, c.retries, c.retries, c.rnr, c.rnr
		c.second.ID, c.second.Flags = 1, sig
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, Length: 8, Flags: sig})
		p.post(0, c.second)
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Write, ID: 2, Length: 8, Flags: sig, RemoteVA: 64})
		p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, ID: 3, Length: 8, Flags: sig})
		for p.send(0) {
		}
		require.Len(t, p.n[0].out, 3, "a READ at a time")
		for i, f := range p.n[0].out {
			if i == 0 {
				p.n[1].take(f)
				p.n[1].out = nil // loses the response
			} else if i == 2 || !c.lose {
				p.n[1].take(f)
			}
		}
		p.n[0].out = nil
		var pk Packet
		require.Equal(t, Kept, pk.Decode(p.n[1].out[0]))
		require.Equal(t, c.nak, pk.AETH.Syndrome, c.name)
		p.n[0].take(p.n[1].out[0])
		p.n[1].out = nil
		q.Resume()
		if c.retries > 0 {
			require.Equal(t, rnicspec.RTS, q.State, c.name)
			require.True(t, p.send(0))
			require.Equal(t, Kept, pk.Decode(p.n[0].out[0]))
			require.Equal(t, wire.RCReadRequest, pk.Opcode, c.name)
			require.EqualValues(t, 0xfffff0, pk.PSN)
		}
		if c.rnr > 0 {
			p.recv(1, 0x1000, 64, 9)
		}
		for range 10 {
			p.run()
			q.Resume()
			p.n[0].e.Reset()
			q.Timeout(&p.n[0].e)
			p.n[0].finish(q)
		}
		require.Len(t, p.n[0].done, 4, c.name)
		for i, s := range c.statuses {
			require.Equal(t, s, p.n[0].done[i].Status, "%s: request %d", c.name, i)
			require.EqualValues(t, i, p.n[0].done[i].ID)
		}
	}
}

// A NAK with the PSN of one of a READ's own responses must end that READ, however many of them have
// arrived.
func TestNAKOfAReadUnderWay(t *testing.T) {
	p := newPair(t, rnicspec.RC, 256)
	p.post(0, rnicspec.WQE{Opcode: rnicspec.Read, Length: 1024, Flags: sig})
	p.send(0)
	p.n[1].take(p.n[0].out[0])
	p.n[0].take(p.n[1].out[0])
	nak := Packet{AETH: wire.AETHFields{Syndrome: wire.NAKRemoteOperational}}
	nak.Opcode, nak.DestQP, nak.PSN = wire.RCAck, 1, 0xfffff2
	p.n[1].out = nil
	p.n[1].frame(&nak, &p.q[1].Address, nil)
	p.n[0].take(p.n[1].out[0])
	require.Equal(t, rnicspec.Failed, p.q[0].State)
	require.Equal(t, rnicspec.RemoteOperation, p.n[0].done[0].Status)
}
