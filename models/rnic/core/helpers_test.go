package core

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/rnic/rnicspec"
)

const memBytes = 1 << 20

// node is a device over plain memory. Its effects take place at once.
type node struct {
	t    testing.TB
	dev  *Device
	mem  []byte
	done []Completion
	out  [][]byte // frames that the node has sent
	e    Effects
	wait map[uint32]int64 // waits requested by RNR NAKs in ps, by queue pair
	drop [DropUnknown + 1]int
}

const key = 7

func newNode(t testing.TB) *node {
	n := &node{t: t, dev: NewDevice(), mem: make([]byte, memBytes), wait: map[uint32]int64{}}
	require.True(t, n.dev.Register(Region{Key: key, Access: rnicspec.AllAccess, PageLog: 12, Bytes: memBytes}))
	return n
}

func attributes(dest uint32, psn, peer uint32, mtu int) Attributes {
	return Attributes{DestQP: dest, SendPSN: psn, RecvPSN: peer, PMTU: mtu, Access: rnicspec.AllAccess,
		MaxRead: rnicspec.MaxRead,
		MinRNR:  1, Retries: 7, RNRRetry: 7, QKey: 0x1234,
		Address: Address{SrcMAC: [6]byte{2}, DstMAC: [6]byte{4}, UDPPort: 0xc000, TTL: 64}}
}

func (n *node) finish(q *QP) {
	for _, p := range n.e.Place {
		copy(n.mem[p.Bus:], p.Data)
	}
	n.done = append(n.done, n.e.Done...)
	if n.e.Wait > 0 {
		n.wait[q.Num] = n.e.Wait
	}
	if n.e.Drop != Kept {
		n.drop[n.e.Drop]++
	}
	r := n.e.Reply
	if r.Kind == NoReply {
		return
	}
	if r.Kind == AtomicReply {
		old := binary.LittleEndian.Uint64(n.mem[r.Bus:])
		binary.LittleEndian.PutUint64(n.mem[r.Bus:], q.Apply(&r, old))
	}
	for i := range q.ReplyPackets(&r) {
		var p Packet
		off, size := q.PlanReply(&r, i, &p)
		n.frame(&p, &q.Address, n.mem[r.Bus+uint64(off):][:size])
	}
	if (r.Kind == ReadReply || r.Kind == AtomicReply) && !r.Again {
		q.ReadDone()
	}
}

func (n *node) frame(p *Packet, a *Address, payload []byte) {
	size, _ := p.FrameBytes(a, len(payload))
	f := make([]byte, size)
	p.Encode(f, a, len(payload))
	copy(f[p.PayloadAt(a):], payload)
	require.NoError(n.t, Seal(f))
	n.out = append(n.out, f)
}

// send makes a queue pair send its next packet, and reports whether it had one.
func (n *node) send(q *QP) bool {
	var o Outgoing
	n.e.Reset()
	ok := q.Next(&o, &n.e)
	if ok {
		payload := o.Inline
		if payload == nil {
			payload = n.mem[o.Bus:][:o.Len]
		}
		a := o.Addr
		if a == nil {
			a = &q.Address
		}
		n.frame(&o.Packet, a, payload)
		if o.Report {
			n.done = append(n.done, o.Done)
		}
	}
	n.finish(q)
	return ok
}

// take handles a received frame.
func (n *node) take(frame []byte) {
	var p Packet
	if d := p.Decode(frame); d != Kept {
		n.drop[d]++
		return
	}
	q := n.dev.QP(p.DestQP)
	if q == nil {
		n.drop[DropNoQP]++
		return
	}
	n.e.Reset()
	if p.IsResponse() {
		q.Answer(&p, &n.e)
	} else {
		q.Respond(&p, &n.e)
	}
	n.finish(q)
}

// pair is two nodes with a connected queue pair each.
type pair struct {
	n [2]*node
	q [2]*QP
}

func newPair(t testing.TB, typ rnicspec.QPType, mtu int) *pair {
	p := &pair{}
	psn := [2]uint32{0xfffff0, 0x123456} // the PSNs of the first side wrap soon
	for i := range p.n {
		p.n[i] = newNode(t)
		p.q[i] = p.n[i].dev.Add(uint32(i+1), typ)
		p.q[i].Connect(rnicspec.RTS, attributes(uint32(2-i), psn[i], psn[1-i], mtu))
	}
	return p
}

// run carries all packets of both sides, without loss, until there are none.
func (p *pair) run() {
	for moved := true; moved; {
		moved = false
		for i, n := range p.n {
			for p.send(i) {
				moved = true
			}
			for len(n.out) > 0 {
				f := n.out[0]
				n.out = n.out[1:]
				p.n[1-i].take(f)
				moved = true
			}
		}
	}
}

func (p *pair) send(i int) bool { return p.n[i].send(p.q[i]) }

func (p *pair) post(i int, w rnicspec.WQE) {
	w.LocalKey, w.RemoteKey = key, key
	p.n[i].e.Reset()
	p.q[i].Post(w, &p.n[i].e)
	p.n[i].finish(p.q[i])
}

func (p *pair) recv(i int, va uint64, n uint32, id uint64) {
	p.n[i].e.Reset()
	p.q[i].PostRecv(rnicspec.RecvWQE{ID: id, VA: va, Length: n, Key: key}, &p.n[i].e)
	p.n[i].finish(p.q[i])
}

func pattern(b []byte, seed byte) {
	for i := range b {
		b[i] = seed + byte(i*7+i>>8)
	}
}
