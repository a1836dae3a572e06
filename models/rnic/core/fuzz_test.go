package core

import (
	"testing"

	"nictwin/models/format/wire"
	"nictwin/models/rnic/rnicspec"
)

// No packet may make a queue pair of any type, in any state, panic. The bytes are taken as a whole
// frame, and also as the part between UDP header and ICRC, since few random frames have a valid
// CRC.
func FuzzPackets(f *testing.F) {
	n := newNode(f)
	a := Address{}
	for _, op := range []wire.Opcode{wire.RCSendFirst, wire.RCWriteOnlyImm, wire.RCReadRequest, wire.RCFetchAdd,
		wire.RCAck,
		wire.RCReadRespOnly, wire.RCAtomicAck, wire.UCWriteFirst, wire.UDSendOnly, 0x1f} {
		p := Packet{RETH: wire.RETHFields{RKey: key, DMALen: 100}}
		p.Opcode, p.DestQP = op, 1
		n.out = nil
		n.frame(&p, &a, make([]byte, 8))
		f.Add(n.out[0], uint8(0))
		f.Add(n.out[0][42:len(n.out[0])-4], uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		n := newNode(t)
		q := n.dev.Add(1, rnicspec.QPType(kind%4))
		q.Connect(rnicspec.RTS, attributes(1, 0, 0, 256))
		for i := range 4 {
			q.PostRecv(rnicspec.RecvWQE{VA: uint64(i) << 10, Length: 1 << 10, Key: key}, &n.e)
		}
		for _, o := range []rnicspec.Opcode{rnicspec.Read, rnicspec.Write, rnicspec.FetchAdd} {
			q.Post(rnicspec.WQE{Opcode: o, Length: 8, LocalKey: key, RemoteKey: key}, &n.e)
			n.send(q)
		}
		n.take(b)
		for len(b) > 0 {
			size := min(len(b), int(b[0])+1)
			n.e.Reset()
			var p Packet
			if p.decode(nil, b[:size]) == Kept {
				p.PSN &= 7
				if p.IsResponse() {
					q.Answer(&p, &n.e)
				} else {
					q.Respond(&p, &n.e)
				}
				n.finish(q)
			}
			q.ReceiveFrame(b[:size], &n.e)
			b = b[size:]
			for n.send(q) {
			}
		}
	})
}
