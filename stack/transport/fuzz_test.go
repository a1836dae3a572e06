package transport

import (
	"testing"

	"nictwin/models/format/wire"
	"nictwin/stack/verbs"
)

// FuzzInput feeds arbitrary bytes, as a sequence of packets, to busy connections of every kind. Nothing may panic, and
// the work that results must end in bounded time.
func FuzzInput(f *testing.F) {
	for _, op := range []wire.Opcode{wire.RCAck, wire.RCReadRespFirst, wire.RCAtomicAck, wire.RCReadRequest,
		wire.RCFetchAdd, wire.RCSendFirst, wire.RCWriteOnly,
		wire.UCSendFirst, wire.UDSendOnly, OpSelectiveAck, OpSolarWrite, OpSolarRead, OpSolarData, OpSolarAck} {
		for _, psn := range []byte{0, 1, 5} {
			b := make([]byte, 70)
			b[0], b[1], b[2], b[3], b[4], b[12], b[13], b[23] = 60, byte(op), 0x40, 0xff, 0xff, psn, 0x1f, 8
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range []struct {
			kind Kind
			r    Recovery
		}{{RC, GoBackN}, {RC, SelectiveRepeat}, {UC, GoBackN}, {UD, GoBackN}, {Solar, GoBackN}} {
			feed(t, c.kind, c.r, data)
		}
	})
}

// feed posts requests to a connection and feeds it packets made from data.
func feed(t *testing.T, kind Kind, r Recovery, data []byte) {
	d := newDirectPair(t, kind, r)
	conn := d.conns[0]
	for i, op := range []verbs.Opcode{verbs.WRRead, verbs.WRSend, verbs.WRFetchAdd, verbs.WRWrite, verbs.WRRead} {
		x := Send{ID: uint64(i), Op: op, Flags: verbs.SendSignaled, Spans: []Span{{Len: 10_000}}, AH: benchAH}
		if op.IsAtomic() {
			x.Spans[0].Len = 8
		}
		if kind == UD {
			x.Spans[0].Len = 100
		}
		if kind.allows(op) {
			if err := conn.Post(0, &x); err != nil {
				t.Fatal(err)
			}
		}
	}
	if kind != Solar {
		for range 3 {
			if err := conn.PostRecv(&Recv{Spans: []Span{{Len: 9000}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var now Ps
	for len(data) > 0 { // the first byte is the length of the packet that follows
		n := min(int(data[0])+1, len(data))
		one := data[1:n]
		data = data[n:]
		d.pullAll(t, conn, now)
		if d.p.Parse(one, len(one)+int(now/us%3)*2000) == nil {
			conn.Input(now, &d.p)
		}
		now += 7 * us
		conn.Expire(now)
		for _, tok := range d.envs[0].tokens {
			conn.Placed(now, tok, verbs.WCSuccess)
		}
		d.envs[0].tokens = d.envs[0].tokens[:0]
	}
	d.pullAll(t, conn, now)
}

// pullAll takes all packets that may leave and checks that their number is bounded.
func (d *directPair) pullAll(t *testing.T, c Conn, now Ps) {
	const most = 1 << 16
	for i := 0; c.Next(now, &d.out); i++ {
		if len(d.out.Head)+len(d.out.Tail) > maxHead+SolarTrailerSize+3 {
			t.Fatalf("%d bytes of headers", len(d.out.Head))
		}
		if i > most {
			return // the fuzzer requested a READ of gigabytes
		}
	}
}
