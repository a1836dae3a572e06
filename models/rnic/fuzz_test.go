package rnic

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// No register write may make the NIC panic or work forever. The input is a list of writes: an
// offset of four bytes, a length, and that many bytes.
func FuzzRegisters(f *testing.F) {
	piece := func(off uint32, b []byte) []byte {
		return append(append(binary.LittleEndian.AppendUint32(nil, off), byte(len(b))), b...)
	}
	command := func(cmd rnicspec.Command) []byte {
		b := make([]byte, rnicspec.CmdBytes)
		rnicspec.EncodeCommand(cmd, 1, b)
		return piece(rnicspec.RegCommand, b)
	}
	seed := command(&rnicspec.CreateCQ{CQN: 1, Log: 2})
	for t := range rnicspec.NumQPTypes {
		qp := append(append([]byte(nil), seed...),
			command(&rnicspec.CreateQP{QPN: 2, Type: t, SendLog: 3, RecvLog: 3, SendCQ: 1, RecvCQ: 1})...)
		qp = append(qp, command(&rnicspec.ModifyQP{QPN: 2, State: rnicspec.RTS, PMTU: 256, MaxRead: 1})...)
		qp = append(qp, piece(rnicspec.QPPage(2)+rnicspec.PageRecv, []byte{4, 0, 0, 0})...)
		qp = append(qp, piece(rnicspec.QPPage(2)+rnicspec.PageSend, []byte{2, 0, 0, 0})...)
		f.Add(append(qp, piece(rnicspec.QPPage(2)+rnicspec.PagePush, make([]byte, 64))...))
	}
	f.Add(piece(0xffffffff, []byte{1, 2, 3, 4}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRig(t, 1, testSpec())
		h := r.hosts[0]
		h.do(&rnicspec.CreateAH{TTL: 1})
		for len(b) > 5 {
			off := uint64(binary.LittleEndian.Uint32(b))
			n := min(int(b[4]), len(b)-5)
			if off == 0xffffffff {
				off = ^uint64(nicspec.BarBase)
			}
			h.nic.writeRegister(off, b[5:5+n])
			b = b[5+n:]
			h.nic.arm(r.e.Now())
			require.NoError(t, r.e.RunUntil(r.e.Now()+simcore.Microsecond))
		}
		require.NoError(t, r.e.RunUntil(r.e.Now()+simcore.Second))
		require.NoError(t, h.nic.Err())
	})
}
