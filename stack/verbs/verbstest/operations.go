package verbstest

import (
	"encoding/binary"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// lengths are message lengths: none, short, around one packet, and several packets, the last one short.
var lengths = []int{0, 1, 63, 1023, 1024, 1025, 3*1024 + 5}

const imm = 0x01020304

// operations checks that each operation of each type moves exactly the requested bytes, and reports it.
func operations(b *bench) {
	all := []verbs.Opcode{verbs.WRWrite, verbs.WRWriteImm, verbs.WRSend, verbs.WRSendImm, verbs.WRRead, verbs.WRCmpSwap,
		verbs.WRFetchAdd,
		verbs.WRLocalInv, verbs.WRSendInv, verbs.WRNop}
	for _, typ := range []verbs.QPType{verbs.QPTRC, verbs.QPTUC} {
		if !b.has(typ) {
			continue
		}
		x := b.pair(typ)
		for _, op := range all {
			switch {
			case !typ.Allows(op):
				x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: op})
			case op.IsAtomic():
				atomics(b, x, op)
			case op == verbs.WRLocalInv || op == verbs.WRSendInv:
				invalidates(b, x, op)
			case op == verbs.WRNop:
				nops(b, x)
			default:
				for i, n := range lengths {
					transfer(b, x, op, n, byte(i))
				}
			}
		}
	}
}

// transfer carries out a SEND, WRITE or READ of n bytes.
func transfer(b *bench, x [2]*end, op verbs.Opcode, n int, seed byte) {
	b.Helper()
	local, remote := x[0].buffer(n, seed), x[1].buffer(n, seed+100)
	recv := x[1].buffer(n+10, seed+50)
	w := verbs.SendWR{ID: 77, Opcode: op, Flags: verbs.SendSignaled, SGEs: local.sges()}
	takes := op.IsSend() || op == verbs.WRWriteImm
	if takes {
		x[1].postRecv(verbs.RecvWR{ID: 88, SGEs: recv.sges()})
		b.settle() // UC drops messages that arrive before their receive request is at the device
	}
	if op.HasImm() {
		w.Imm = imm
	}
	if !op.IsSend() {
		w.RemoteAddr, w.RKey = remote.addr, x[1].mr.RKey
	}
	x[0].post(w)
	got := b.only(x[0].send)
	want := verbs.WC{ID: 77, Opcode: op.Completion(), QPN: x[0].qp.Num()}
	if op == verbs.WRRead {
		want.ByteLen = uint32(n)
	}
	require.Equal(b, want, got, "%v of %d B", op, n)
	out, in, rest := pattern(n, seed), pattern(n, seed+100), pattern(n+10, seed+50)
	switch {
	case op.IsSend():
		copy(rest, out)
	case op == verbs.WRRead:
		out = in
	default:
		in = out
	}
	local.holds(out)
	remote.holds(in)
	recv.holds(rest)
	if takes {
		received(b, x[1], op, n)
	} else {
		require.Empty(b, b.drain(x[1].recv))
	}
}

// received checks the completion of a receive request.
func received(b *bench, e *end, op verbs.Opcode, n int) {
	b.Helper()
	want := verbs.WC{ID: 88, Opcode: verbs.WCRecv, ByteLen: uint32(n), QPN: e.qp.Num()}
	if op == verbs.WRWriteImm {
		want.Opcode = verbs.WCRecvWriteWithImm
	}
	if op.HasImm() {
		want.Flags, want.Imm = verbs.WCWithImm, imm
	}
	require.Equal(b, want, b.only(e.recv), "receive of %v, %d B", op, n)
}

// atomics checks that the old value is returned and the new one stored.
func atomics(b *bench, x [2]*end, op verbs.Opcode) {
	if b.lacks(verbs.FeatureAtomics) {
		x[0].refusesAt(0, verbs.EOPNOTSUPP, verbs.SendWR{Opcode: op})
		return
	}
	le := binary.LittleEndian
	var old, swap uint64 = 0x1112131415161718, 0x2122232425262728
	for _, match := range []bool{true, false} {
		local, remote := x[0].buffer(8, 1), x[1].buffer(8, 2)
		require.NoError(b, x[1].Memory.Write(remote.addr, le.AppendUint64(nil, old)))
		w := verbs.SendWR{ID: 5, Opcode: op, Flags: verbs.SendSignaled, SGEs: local.sges(), RemoteAddr: remote.addr,
			RKey: x[1].mr.RKey, CompareAdd: old, Swap: swap}
		want := swap
		if op == verbs.WRFetchAdd {
			w.CompareAdd, want = 7, old+7
		} else if !match {
			w.CompareAdd, want = old+1, old
		}
		x[0].post(w)
		require.Equal(b, verbs.WC{ID: 5, Opcode: op.Completion(), ByteLen: 8, QPN: x[0].qp.Num()}, b.only(x[0].send))
		local.holds(le.AppendUint64(nil, old))
		remote.holds(le.AppendUint64(nil, want))
	}
}

// invalidates checks that a key's remote rights can be revoked, here or at the peer.
func invalidates(b *bench, x [2]*end, op verbs.Opcode) {
	if b.lacks(verbs.FeatureInvalidate) {
		x[0].refusesAt(0, verbs.EOPNOTSUPP, verbs.SendWR{Opcode: op})
		return
	}
	owner := x[1]
	if op == verbs.WRLocalInv {
		owner = x[0]
	}
	m := owner.register(owner.pd, owner.Base, 100, allAccess)
	w := verbs.SendWR{ID: 6, Opcode: op, Flags: verbs.SendSignaled, InvKey: m.RKey}
	if op == verbs.WRSendInv {
		x[1].postRecv(verbs.RecvWR{ID: 9})
	}
	x[0].post(w)
	require.Equal(b, verbs.WC{ID: 6, Opcode: op.Completion(), QPN: x[0].qp.Num()}, b.only(x[0].send))
	if op == verbs.WRSendInv {
		require.Equal(b, verbs.WC{ID: 9, Opcode: verbs.WCRecv, Flags: verbs.WCWithInv, InvKey: m.RKey,
			QPN: x[1].qp.Num()}, b.only(x[1].recv))
	}
	y := b.pair(verbs.QPTRC)
	if op == verbs.WRLocalInv {
		y[0], y[1] = y[1], y[0]
	}
	y[0].post(verbs.SendWR{Opcode: verbs.WRWrite, RemoteAddr: owner.Base, RKey: m.RKey, SGEs: y[0].buffer(1, 1).sges()})
	require.Equal(b, verbs.WCRemAccessErr, b.only(y[0].send).Status, "its rights have ended")
}

// nops checks that NOPs move nothing, and end in turn: behind a WRITE of several packets, and in front of one.
func nops(b *bench, x [2]*end) {
	nop := verbs.SendWR{ID: 1, Opcode: verbs.WRNop, Flags: verbs.SendSignaled}
	if b.lacks(verbs.FeatureNop) {
		x[0].refusesAt(0, verbs.EOPNOTSUPP, nop)
		return
	}
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRNop, Flags: verbs.SendInline})
	x[0].post(nop)
	require.Equal(b, verbs.WC{ID: 1, Opcode: verbs.WCNop, QPN: x[0].qp.Num()}, b.only(x[0].send))
	out, in := x[0].buffer(5000, 1), x[1].buffer(5000, 2)
	write := verbs.SendWR{ID: 2, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled, SGEs: out.sges(),
		RemoteAddr: in.addr, RKey: x[1].mr.RKey}
	mute := verbs.SendWR{Opcode: verbs.WRNop}
	x[0].post(write, nop, mute, write, mute, nop, nop)
	ok := func(id uint64) ended { return ended{id, verbs.WCSuccess} }
	require.Equal(b, []ended{ok(2), ok(1), ok(2), ok(1), ok(1)}, b.statuses(x[0].send))
	in.holds(pattern(5000, 1))
}

// lists checks messages whose memory is in pieces of any length on both sides.
func lists(b *bench) {
	typ := b.side[0].attr.Types[0]
	x := b.pair(typ)
	many := make([]verbs.SGE, x[0].cap.MaxSendSGE+1)
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRSend, SGEs: many})
	x[1].badRecv(0, verbs.EINVAL, verbs.RecvWR{SGEs: make([]verbs.SGE, x[1].cap.MaxRecvSGE+1)})
	sizes := [][2][]int{{{1500}, {1500}}, {{1500}, {2000}}, {{}, {10}}}
	if min(x[0].cap.MaxSendSGE, x[1].cap.MaxRecvSGE) > 2 {
		sizes = append(sizes, [][2][]int{{{1, 1499}, {1499, 1}}, {{1024, 0, 476}, {3, 1500}}, {{0, 7, 0}, {2, 2, 3}},
			{{500, 500, 500}, {1500}}}...)
	}
	for i, s := range sizes {
		var out, in []buffer
		var sges, into []verbs.SGE
		var want []byte
		for j, n := range s[0] {
			out = append(out, x[0].buffer(n, byte(10*i+j)))
			sges = append(sges, out[j].sge())
			want = append(want, pattern(n, byte(10*i+j))...)
		}
		for j, n := range s[1] {
			in = append(in, x[1].buffer(n, 0))
			into = append(into, in[j].sge())
		}
		x[1].postRecv(verbs.RecvWR{SGEs: into})
		x[0].post(verbs.SendWR{Opcode: verbs.WRSend, Flags: verbs.SendSignaled, SGEs: sges})
		require.Equal(b, verbs.WCSuccess, b.only(x[0].send).Status)
		require.EqualValues(b, len(want), b.only(x[1].recv).ByteLen)
		for j := range in {
			n := min(len(want), in[j].n)
			in[j].holds(append(slices.Clone(want[:n]), pattern(in[j].n, 0)[n:]...))
			want = want[n:]
		}
	}
}

// inline checks that bytes are copied when posting, up to the granted length.
func inline(b *bench) {
	x := b.pair(b.side[0].attr.Types[0])
	most := x[0].cap.MaxInline
	require.GreaterOrEqual(b, most, min(32, b.side[0].attr.MaxInline))
	for n := range most + 2 {
		bytes := pattern(n, 9)
		w := verbs.SendWR{Opcode: verbs.WRSend, Flags: verbs.SendInline | verbs.SendSignaled, Inline: bytes}
		if n > most {
			x[0].refusesAt(0, verbs.EINVAL, w)
			continue
		}
		in := x[1].buffer(n, 1)
		x[1].postRecv(verbs.RecvWR{SGEs: in.sges()})
		x[0].post(w)
		clear(bytes)
		require.Equal(b, verbs.WCSuccess, b.only(x[0].send).Status)
		require.EqualValues(b, n, b.only(x[1].recv).ByteLen)
		in.holds(pattern(n, 9))
	}
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRRead, Flags: verbs.SendInline})
}

// unsignalled checks that only signaled requests have completions, which also free the places of the others.
func unsignalled(b *bench) {
	x := b.pair(b.side[0].attr.Types[0])
	buf := x[0].buffer(64, 1)
	to := x[1].buffer(64, 2)
	for round := range 10 {
		var wrs []verbs.SendWR
		for i := range x[0].cap.MaxSendWR {
			wrs = append(wrs, verbs.SendWR{ID: uint64(round*100 + i), Opcode: verbs.WRWrite, SGEs: buf.sges(),
				RemoteAddr: to.addr, RKey: x[1].mr.RKey})
		}
		last := &wrs[len(wrs)-1]
		last.Flags = verbs.SendSignaled
		x[0].post(wrs...)
		require.Equal(b, []ended{{last.ID, verbs.WCSuccess}}, b.statuses(x[0].send))
	}
	to.holds(pattern(64, 1))
	all := b.side[0].end(b.side[0].attr.Types[0], func(a *verbs.QPInitAttr) { a.SignalAll = true })
	peer := b.side[1].end(b.side[0].attr.Types[0], nil)
	all.moveTo(b.side[0].attr.Types[0], all.path(peer), verbs.QPSRTS)
	peer.moveTo(b.side[0].attr.Types[0], peer.path(all), verbs.QPSRTS)
	all.post(verbs.SendWR{ID: 3, Opcode: verbs.WRWrite, SGEs: buf.sges(), RemoteAddr: to.addr, RKey: x[1].mr.RKey})
	require.Equal(b, []ended{{3, verbs.WCSuccess}}, b.statuses(all.send), "sq_sig_all")
}

// full checks that a queue takes the granted number of requests, that ENOMEM names the first one that found no place,
// and that polling makes room.
func full(b *bench) {
	x := b.pair(b.side[0].attr.Types[0])
	n := x[1].cap.MaxRecvWR
	x[1].badRecv(n, verbs.ENOMEM, make([]verbs.RecvWR, n+2)...)
	x[1].badRecv(0, verbs.ENOMEM, verbs.RecvWR{})
	wrs := slices.Repeat([]verbs.SendWR{{ID: 4, Opcode: verbs.WRSend, Flags: verbs.SendSignaled}}, x[0].cap.MaxSendWR+2)
	x[0].refusesAt(x[0].cap.MaxSendWR, verbs.ENOMEM, wrs...)
	require.Len(b, b.statuses(x[0].send), x[0].cap.MaxSendWR, "those before it were posted")
	got := len(b.statuses(x[1].recv))
	require.Equal(b, min(n, x[0].cap.MaxSendWR), got)
	x[1].postRecv(make([]verbs.RecvWR, got)...)
	x[0].post(wrs[:1]...)
	require.Equal(b, []ended{{4, verbs.WCSuccess}}, b.statuses(x[0].send))
}

// refused checks that a bad request in a list is named by its position, that those before it are carried out, and those
// behind it are not.
func refused(b *bench) {
	x := b.pair(b.side[0].attr.Types[0])
	x[1].postRecv(make([]verbs.RecvWR, 8)...)
	good := verbs.SendWR{ID: 1, Opcode: verbs.WRSend, Flags: verbs.SendSignaled}
	x[0].refusesAt(2, verbs.EINVAL, good, good, verbs.SendWR{Opcode: 99}, good)
	require.Equal(b, []ended{{1, verbs.WCSuccess}, {1, verbs.WCSuccess}}, b.statuses(x[0].send))
	x[0].refusesAt(0, verbs.EINVAL, verbs.SendWR{Opcode: verbs.WRSend, Flags: 1 << 7})
	require.Equal(b, verbs.QPSRTS, x[0].state(), "a refused request leaves no trace")
	require.Len(b, b.statuses(x[1].recv), 2)
}

// fence checks that a SEND with a fence, posted behind a READ into the same memory, sends what the READ returned.
func fence(b *bench) {
	if !b.has(verbs.QPTRC) {
		return
	}
	x := b.pair(verbs.QPTRC)
	const n = 3000
	from, via, to := x[1].buffer(n, 1), x[0].buffer(n, 2), x[1].buffer(n, 3)
	key := x[1].mr.RKey
	x[0].post(
		verbs.SendWR{ID: 1, Opcode: verbs.WRRead, Flags: verbs.SendSignaled, SGEs: via.sges(), RemoteAddr: from.addr,
			RKey: key},
		verbs.SendWR{ID: 2, Opcode: verbs.WRWrite, Flags: verbs.SendSignaled | verbs.SendFence, SGEs: via.sges(),
			RemoteAddr: to.addr, RKey: key},
	)
	require.Equal(b, []ended{{1, verbs.WCSuccess}, {2, verbs.WCSuccess}}, b.statuses(x[0].send))
	via.holds(pattern(n, 1))
	to.holds(pattern(n, 1))
}

// order checks that requests of all kinds complete in posting order, on both sides.
func order(b *bench) {
	typ := b.side[0].attr.Types[0]
	x := b.pair(typ)
	ops := []verbs.Opcode{verbs.WRWrite, verbs.WRRead, verbs.WRSend, verbs.WRWriteImm, verbs.WRSendImm, verbs.WRRead,
		verbs.WRWrite}
	ops = slices.DeleteFunc(ops, func(o verbs.Opcode) bool { return !typ.Allows(o) })
	var sent, received []ended
	id := uint64(0)
	for round := range 6 {
		var wrs []verbs.SendWR
		var recvs []verbs.RecvWR
		for i, op := range ops {
			id++
			local, remote := x[0].buffer(200*(1+(round+i)%9), byte(i)), x[1].buffer(2000, byte(i))
			wrs = append(wrs, verbs.SendWR{ID: id, Opcode: op, Flags: verbs.SendSignaled, SGEs: local.sges(),
				RemoteAddr: remote.addr, RKey: x[1].mr.RKey})
			sent = append(sent, ended{id, verbs.WCSuccess})
			if op.IsSend() || op.HasImm() {
				recvs = append(recvs, verbs.RecvWR{ID: id + 1000, SGEs: x[1].buffer(2000, 1).sges()})
				received = append(received, ended{id + 1000, verbs.WCSuccess})
			}
		}
		x[1].postRecv(recvs...)
		x[0].post(wrs...)
		if round%2 == 1 { // two rounds are in flight at a time
			n := len(ops) * 2
			require.Equal(b, sent[len(sent)-n:], b.statuses(x[0].send))
		}
	}
	require.Equal(b, received, b.statuses(x[1].recv))
}
