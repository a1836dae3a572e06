package contract

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/boundary"
	"nictwin/models/nicspec"
	"nictwin/models/tlp"
)

var msixChecks = []check{
	{"messages/one an entry", "M1 M2 M3 P9", stalled, messagesSingly},
	{"messages/by count", "M2 M3 M4", stalled, messagesByCount},
	{"messages/by time", "M2 M3 M5", stalled, messagesByTime},
	{"messages/by time of the oldest", "M2 M3", stalled, messagesOfTheOldest},
	{"messages/STATUS does not show what waits for its time", "M5", stalled, messagesUnseen},
	{"messages/large counts and times", "M2", calm, messagesLarge},
	{"messages/of Events", "M2 M3 Q4", stalled, messagesOfEvents},
	{"messages/of queues that are disabled", "M4 M2 G7", stalled, messagesAtTheEnd},
	{"messages/enabled anew", "M2", stalled, messagesAnew},
	{"messages/under traffic", "M1 M2 M3 C2", stalled, messagesUnderTraffic},
}

// msixQueue is what a queue's messages are held against.
type msixQueue struct {
	addr       uint64
	data       uint32
	count      int // mod_count
	cycles     int64
	cq, end    uint64
	unreported int
	oldest     int64 // when the oldest unreported entry left
	event, off bool
	messages   int
	last       int64 // when the last message left
}

// due tells whether a message may leave at a cycle.
func (m *msixQueue) due(at int64) bool {
	return m.unreported > 0 && (m.unreported >= max(m.count, 1) || m.event || m.off || m.cycles != 0 && at-m.oldest >= 64*m.cycles)
}

// messages follows the entries and messages of all queues that have an address for them.
type messages struct {
	*rig
	all []*msixQueue
	n   int // addresses given
}

// withMessages begins to follow messages.
func (r *rig) withMessages() *messages {
	m := &messages{rig: r}
	r.watch = m.see
	return m
}

func (m *messages) see(c boundary.Crossing) {
	h := tlp.Parse(&c.TLP.Hdr)
	if c.Kind != boundary.TLPOut || h.Kind != tlp.MWr {
		return
	}
	for _, q := range m.all {
		switch {
		case h.Address >= q.cq && h.Address < q.end:
			if q.unreported++; q.unreported == 1 {
				q.oldest = c.Last
			}
			q.event = q.event || c.TLP.Data[0] == byte(nicspec.CqeTypeEvent)
		case h.Address == q.addr:
			want := tlp.Header{Kind: tlp.MWr, Length: 1, FirstBE: 0xf, RequesterID: nicspec.RequesterNic, Address: q.addr, Addr64: q.addr>>32 != 0}
			require.Equal(m.t, want, h, "message")
			require.Equal(m.t, q.data, binary.LittleEndian.Uint32(c.TLP.Data), "data of a message")
			require.True(m.t, q.due(c.First), "message at cycle %d that is not due: %+v", c.First, *q)
			q.unreported, q.event, q.last = 0, false, c.Last
			q.messages++
		}
	}
}

// queue is the settings of a queue that is about to be enabled.
func (m *messages) queue(count, cycles int) *msixQueue {
	m.n++
	q := &msixQueue{data: uint32(m.n) * 0x01030507, count: count, cycles: int64(cycles)}
	q.addr = m.alloc(m.n%2, 64, 64) + uint64(m.n*4%64)
	return q
}

func (m *messages) openRx(q, log, count, cycles int) (*rxRing, *msixQueue) {
	m.t.Helper()
	s := m.queue(count, cycles)
	m.rxMod = func(f *nicspec.RxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = s.addr, s.data, uint16(count), uint16(cycles)
	}
	x := m.rig.openRx(q, log, nil)
	m.rxMod = nil
	m.follow(s, &x.ring)
	return x, s
}

func (m *messages) openTx(q, log, count, cycles int) (*txRing, *msixQueue) {
	m.t.Helper()
	s := m.queue(count, cycles)
	m.txMod = func(f *nicspec.TxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = s.addr, s.data, uint16(count), uint16(cycles)
	}
	x := m.rig.openTx(q, log)
	m.txMod = nil
	m.follow(s, &x.ring)
	return x, s
}

func (m *messages) follow(s *msixQueue, g *ring) {
	s.cq, s.end = g.CQ, g.CQ+uint64(g.CQBytes())
	m.all = append(m.all, s)
}

// disable turns a queue off: what is unreported then is reported before the command ends.
func (m *messages) disable(t nicspec.Table, q int, s *msixQueue) {
	m.t.Helper()
	s.off = true
	m.rig.disable(t, q)
	m.run(2 * m.way) // the message is on its way to memory
	require.Zero(m.t, s.unreported, "entries that were not reported when the queue was off")
}

// settled waits until no message is due, nor will be, and demands that MSIX tells how many there were.
func (m *messages) settled() {
	m.t.Helper()
	m.quiet()
	m.until("messages leave", func() bool { return !slices.ContainsFunc(m.all, func(q *msixQueue) bool { return q.due(1 << 62) }) })
	m.run(2 * nicspec.VisibleCycles)
	n := uint64(0)
	for _, q := range m.all {
		n += uint64(q.messages)
		if q.messages > 0 {
			require.Equal(m.t, q.data, binary.LittleEndian.Uint32(m.load(q.addr, 4)))
		}
	}
	require.Equal(m.t, n, m.read2(nicspec.RegCounter(dev(nicspec.CntMsix))), "MSIX")
}

// messagesSingly has a message for every entry, when they come one after the other.
func messagesSingly(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	for count := range 2 {
		x, a := m.openRx(1, 5, count, 0)
		y, b := m.openTx(2, 5, count, 7)
		r.post(x, 10)
		r.receiveAll(1)
		for i := range 8 {
			first := r.ordinal()
			r.play(frameOf(100 + i))
			r.delivered(x, first, nicspec.RuleNone)
			r.transmit(y, r.sound(w[i%2], uint64(i)))
			m.settled()
			require.Equal(r.t, [2]int{i + 1, i + 1}, [2]int{a.messages, b.messages})
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.t, [2]int{8, 8}, [2]int{a.messages, b.messages})
	}
}

// messagesByCount has queues without a limit of time: nothing is reported before there is enough of it.
func messagesByCount(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	for _, count := range []int{2, 5, 16} {
		x, a := m.openRx(1, 6, count, 0)
		y, b := m.openTx(2, 6, count, 0)
		r.post(x, 60)
		r.receiveAll(1)
		for i := range 2*count + 1 {
			first := r.ordinal()
			r.play(frameOf(90 + i))
			r.delivered(x, first, nicspec.RuleNone)
			r.transmit(y, r.sound(w[i%2], uint64(i)))
			r.run(500)
			m.settled()
			want := (i + 1) / count
			require.Equal(r.t, [2]int{want, want}, [2]int{a.messages, b.messages}, "messages after %d entries", i+1)
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.t, [2]int{3, 3}, [2]int{a.messages, b.messages}, "the last one is for what was left")
		m.settled()
	}
}

// messagesByTime has queues that report after some time at the latest.
func messagesByTime(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	for _, units := range []int{1, 2, 10, 60} {
		x, a := m.openRx(1, 6, 40, units)
		y, b := m.openTx(2, 6, 40, units)
		r.post(x, 60)
		r.receiveAll(1)
		for i := range 4 {
			first := r.ordinal()
			for k := range i + 1 {
				r.play(frameOf(90 + k))
			}
			for k := range i + 1 {
				r.delivered(x, first+k, nicspec.RuleNone)
			}
			from := a.oldest
			r.transmit(y, r.sound(w[0], 1), r.sound(w[1], 2))
			m.settled()
			if r.stall == 0 {
				require.LessOrEqual(r.t, a.last-from, int64(64*units+2*1024), "cycles from the oldest entry to its message")
			}
		}
		require.GreaterOrEqual(r.t, min(a.messages, b.messages), 4)
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
	}
}

// messagesOfEvents has Events, which are reported whatever the moderation.
func messagesOfEvents(r *rig) {
	r.write(nicspec.RegCplTimeout, timeout)
	m := r.withMessages()
	r.receiveAll(1)
	for i, f := range failures[:6] {
		r.quiet()
		x, a := m.openRx(1, 4, 1000, 0)
		y, b := m.openTx(2, 4, 1000, 0)
		r.failOnce(f.kind, x.Base, 64)
		r.post(x, 1)
		r.event(&x.ring, f.want, 0)
		r.failOnce(f.kind, y.Base, 64)
		r.enqueue(y, nicspec.WqeFields{})
		r.tell(&y.ring)
		r.event(&y.ring, f.want, 0)
		m.settled()
		require.Equal(r.t, [2]int{1, 1}, [2]int{a.messages, b.messages}, "%v", f.kind)
		r.b.Faults.Clear()
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.t, 2*(i+1), m.total())
	}
}

func (m *messages) total() (n int) {
	for _, q := range m.all {
		n += q.messages
	}
	return n
}

// messagesAtTheEnd disables queues with unreported entries, and queues without.
func messagesAtTheEnd(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	for n := range 4 {
		x, a := m.openRx(1, 4, 50, 0)
		y, b := m.openTx(2, 4, 50, 60_000)
		r.post(x, 8)
		r.receiveAll(1)
		first := r.ordinal()
		for i := range n {
			r.play(frameOf(80 + i))
		}
		for i := range n {
			r.delivered(x, first+i, nicspec.RuleNone)
			r.transmit(y, r.sound(w[0], uint64(i)))
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		want := min(n, 1)
		require.Equal(r.t, [2]int{want, want}, [2]int{a.messages, b.messages}, "%d entries", n)
		m.settled()
	}
}

// messagesAnew holds that a queue's count begins anew with its enabling, and that queues without an address send nothing.
func messagesAnew(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	for i := range 3 {
		y, b := m.openTx(2, 4, 3, 0)
		r.transmit(y, r.sound(w[0], 1), r.sound(w[0], 2))
		m.settled()
		require.Zero(r.t, b.messages)
		m.disable(nicspec.TableTxq, 2, b)
		y, b = m.openTx(2, 4, 3, 0)
		r.transmit(y, r.sound(w[0], 3), r.sound(w[0], 4))
		m.settled()
		require.Zero(r.t, b.messages)
		r.transmit(y, r.sound(w[0], 5))
		m.settled()
		require.Equal(r.t, 1, b.messages)
		m.disable(nicspec.TableTxq, 2, b)
		z := r.openTx(2, 4) // without
		r.transmit(z, r.sound(w[0], uint64(i)))
		r.disable(nicspec.TableTxq, 2)
		m.settled()
	}
}

// messagesUnderTraffic has many queues with moderation of all kinds, both directions at work.
func messagesUnderTraffic(r *rig) {
	m := r.withMessages()
	_, w := r.txSetup(9, 2)
	rng := rand.New(rand.NewPCG(101, 9))
	var rxs []*rxRing
	var txs []*txRing
	for i := range 6 {
		x, _ := m.openRx(i+1, 7, []int{0, 1, 3, 8, 100, 7}[i], []int{0, 3, 0, 20, 5, 1}[i])
		r.post(x, 100)
		y, _ := m.openTx(i+20, 6, []int{7, 100, 0, 2, 1, 30}[i], []int{0, 2, 9, 0, 40, 1}[i])
		rxs, txs = append(rxs, x), append(txs, y)
	}
	r.byDest(1, 2, 3, 4, 5, 6)
	r.receiveAll(1)
	for range 4 {
		var posts [6][]posted
		var firsts [6]uint16
		for i, y := range txs {
			var all []nicspec.WqeFields
			for range 4 + rng.IntN(20) {
				e := r.cut(w, pattern(60+rng.IntN(500), rng.Uint64()), 0, 2, rng)
				e.FComplete = rng.IntN(3) > 0
				all = append(all, e)
			}
			all[len(all)-1].FComplete = true
			firsts[i] = y.PI
			posts[i] = r.enqueue(y, all...)
			r.tell(&y.ring)
		}
		first := r.ordinal()
		var order []int
		for range 60 {
			q := rng.IntN(6)
			order = append(order, q)
			r.play(to(q+1, frameOf(60+rng.IntN(600))))
		}
		for i, q := range order {
			r.delivered(rxs[q], first+i, uint16(q))
			r.post(rxs[q], 1)
		}
		for i, y := range txs {
			r.ended(y, firsts[i], posts[i])
		}
	}
	m.settled()
	require.Greater(r.t, m.total(), 20)
}

// messagesOfTheOldest spreads two entries over the time that they may wait: the first says when the message is due.
func messagesOfTheOldest(r *rig) {
	m := r.withMessages()
	const units, apart = 60, 2500 // 3,840 cycles to wait
	_, w := r.txSetup(9, 2)
	x, a := m.openRx(1, 6, 40, units)
	y, b := m.openTx(2, 6, 40, units)
	r.post(x, 60)
	r.receiveAll(1)
	first, oldest := r.ordinal(), [2]int64{}
	for k := range 2 {
		r.play(frameOf(90 + k))
		r.delivered(x, first+k, nicspec.RuleNone)
		r.transmit(y, r.sound(w[k], uint64(1+k)))
		if k == 0 {
			oldest = [2]int64{a.oldest, b.oldest}
			m.run(apart)
		}
	}
	m.settled()
	require.Equal(r.t, [2]int{1, 1}, [2]int{a.messages, b.messages}, "messages of two entries each")
	if r.stall == 0 {
		for i, q := range []*msixQueue{a, b} {
			require.LessOrEqual(r.t, q.last-oldest[i], int64(64*units+2*1024), "cycles from the oldest entry to the message")
		}
	}
}
