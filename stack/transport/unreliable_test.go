package transport

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

// pair connects two ends of a kind, without posting requests.
func pair(t *testing.T, s schedule, kind Kind) *rig {
	r := &rig{schedule: s, attempts: map[fault]uint8{}, budget: 200_000, trace: func(string, ...any) {}}
	for i := range 2 {
		e := &end{rig: r, side: uint8(i), mem: make([]byte, memBytes), dead: map[uint32]bool{}}
		r.ends[i] = e
		spec := s.spec(uint32(100 + i))
		spec.Kind, spec.Recovery, spec.Window, spec.QKey = kind, GoBackN, 64, 0x5555
		var err error
		e.conn, err = New(spec, e, nil, nil)
		require.NoError(t, err)
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			a := s.attr(i)
			require.NoError(t, e.conn.Modify(0, to, &a))
		}
	}
	return r
}

// fill generates the bytes of message i and writes them to addr.
func (r *rig) fill(e *end, i uint64, addr uint64, n uint32) []byte {
	b := e.at(addr, n)
	for k := range b {
		b[k] = byte(r.hash(70, i, uint64(k/8)) >> (k % 8 * 8))
	}
	return bytes.Clone(b)
}

// weakSchedule draws a schedule for services that do not guarantee order or arrival.
func weakSchedule(seed uint64) schedule {
	s := drawSchedule(seed)
	s.refuse, s.blackhole, s.pause, s.kill, s.retries, s.rnrs = refuseNone, 0, 0, 0, 7, 7
	return s
}

// TestDatagramSchedules checks that over UC and UD a message arrives whole or not at all, and over a network without
// faults exactly once and in order.
func TestDatagramSchedules(t *testing.T) {
	arrived, missing := 0, 0
	for seed := uint64(1); seed <= runs(t)/4; seed++ {
		s := weakSchedule(seed)
		kind := draw(&s, 80, UC, UD)
		r := pair(t, s, kind)
		a, b := r.ends[0], r.ends[1]
		var data [][]byte
		var ops []verbs.Opcode
		n := 1 + s.hash(81)%10
		for i := range n {
			op := []verbs.Opcode{verbs.WRSend, verbs.WRSendImm, verbs.WRWriteImm}[s.hash(82, i)%3]
			length := uint32(s.hash(83, i) % uint64(3*s.mtu))
			if kind == UD {
				op, length = []verbs.Opcode{verbs.WRSend, verbs.WRSendImm}[s.hash(82, i)%2], length%uint32(s.mtu+1)
			}
			x := Send{ID: i, Op: op, Flags: verbs.SendSignaled,
				Spans: []Span{{Addr: base64k + i*1024, Len: min(length, 1024), Key: keyLocal}}, Imm: uint32(i),
				RKey: keyRemote, RemoteAddr: base64k + remoteAt + i*800, AH: NewAH(testPath(0)), RemoteQP: 101,
				RemoteQKey: 0x5555}
			x.Spans[0].Len = min(x.Spans[0].Len, 800)
			data, ops = append(data, r.fill(a, i, base64k+i*1024, x.Spans[0].Len)), append(ops, op)
			r.after(Ps(s.hash(84, i)%(2*us))+Ps(i)*2*us, func() {
				require.NoError(t, a.conn.Post(r.now, &x))
				a.pull()
			})
		}
		for i := range 2*n + 1 {
			require.NoError(t,
				b.conn.PostRecv(&Recv{ID: i, Spans: []Span{{Addr: base64k + recvAt + i*512, Len: 512, Key: keyLocal},
					{Addr: base64k + i*500, Len: 500, Key: keyLocal}}}))
		}
		next := 0
		b.complete = func(c *Completion) {
			var got []byte
			if c.Opcode == verbs.WCRecvWriteWithImm {
				got = b.at(base64k+remoteAt+uint64(c.Imm)*800, c.ByteLen)
			} else {
				first := min(c.ByteLen, 512)
				got = append(bytes.Clone(b.at(base64k+recvAt+c.ID*512, first)),
					b.at(base64k+c.ID*500, c.ByteLen-first)...)
			}
			found := false
			for i := range data {
				found = found || bytes.Equal(got, data[i]) && (!c.HasImm || c.Imm == uint32(i))
			}
			if !found || c.Status != verbs.WCSuccess || kind == UD && (c.SrcQP != 100) {
				r.failf("seed %d: %+v is no message that was sent", seed, *c)
			}
			if s.lossless() && !bytes.Equal(got, data[next]) {
				r.failf("seed %d: message %d is not what was sent", seed, next)
			}
			next++
		}
		r.play()
		require.NoError(t, r.failure, "seed %d", seed)
		require.Len(t, a.sends, int(n), "seed %d", seed)
		for i, c := range a.sends {
			require.Equal(t, Completion{ID: uint64(i), Opcode: ops[i].Completion()}, c)
		}
		if s.lossless() {
			require.Len(t, b.recvs, int(n), "seed %d", seed)
		}
		arrived, missing = arrived+len(b.recvs), missing+int(n)-len(b.recvs)
	}
	t.Log(arrived, "arrived,", missing, "did not")
	require.Greater(t, arrived, 1000)
	require.Greater(t, missing, 100)
}

// TestSolarSchedules checks that each request for blocks ends once, with its blocks in memory and intact; a refused one
// fails alone.
func TestSolarSchedules(t *testing.T) {
	var total tally
	spoiled := 0
	for seed := uint64(1); seed <= runs(t)/4; seed++ {
		s := weakSchedule(seed)
		if s.hash(31)%8 == 0 {
			s.blackhole, s.retries = Ps(s.hash(30)%(10*us))+1, 1
		}
		r := pair(t, s, Solar)
		r.spoil1024 = draw(&s, 90, 0, 50)
		a, b := r.ends[0], r.ends[1]
		n := 1 + s.hash(91)%12
		data, ended := make([][]byte, n), make([]int, n)
		requests := make([]Send, n)
		for i := range n {
			length := uint32(s.hash(92, i)) % 600
			x := &requests[i]
			*x = Send{ID: i, Op: verbs.WRWrite, Flags: verbs.SendSignaled,
				Spans: s.splitSpans(uint32(i)*1024, length, s.hash(93, i)), RKey: keyRemote,
				RemoteAddr: base64k + remoteAt +
					i*600}
			if s.hash(94, i)%2 == 0 {
				x.Op = verbs.WRRead
				data[i] = r.fill(b, i, x.RemoteAddr, length)
			} else {
				data[i] = r.fill(a, i, base64k+i*1024, length)
			}
			if i == 3 && length > 0 {
				x.RKey = 999
			}
			r.after(Ps(s.hash(95, i)%(4*us)), func() {
				require.NoError(t, a.conn.Post(r.now, x))
				a.pull()
			})
		}
		a.complete = func(c *Completion) {
			ended[c.ID]++
			x := &requests[c.ID]
			want := verbs.WCSuccess
			if x.RKey != keyRemote {
				want = verbs.WCRemAccessErr
			}
			if c.Status != want &&
				!(r.blackhole != 0 && (c.Status == verbs.WCRetryExcErr || c.Status == verbs.WCFlushErr)) {
				r.failf("seed %d: request %d ends with %v", seed, c.ID, c.Status)
			}
			switch {
			case c.Status != verbs.WCSuccess:
			case x.Op == verbs.WRRead:
				r.compareAt(a, "READ", x.Spans, data[c.ID])
			default:
				r.compareAt(b, "WRITE", []Span{{Addr: x.RemoteAddr, Len: uint32(len(data[c.ID]))}}, data[c.ID])
			}
		}
		r.play()
		require.NoError(t, r.failure, "seed %d", seed)
		for i, k := range ended {
			require.Equal(t, 1, k, "seed %d: request %d", seed, i)
		}
		for _, e := range r.ends {
			for h := range e.packets {
				require.True(t, e.packets[h].done, "seed %d", seed)
			}
		}
		spoiled += r.spoiled
		total.add(r)
	}
	t.Logf("%+v, %d blocks spoiled, %v", total.stats, spoiled, total.statuses)
	require.Greater(t, spoiled, 100)
	require.Positive(t, total.statuses[verbs.WCRetryExcErr])
	require.Greater(t, total.stats.Resent, uint64(1000))
}
