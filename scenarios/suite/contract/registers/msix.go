package registers

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/suite/contract/kit"
)

// MSIXChecks check messages and their moderation [M].
var MSIXChecks = []kit.Check{
	{Name: "messages/one an entry", Rules: "M1 M2 M3 P9", Stalls: kit.Stalled, Run: messagesSingly},
	{Name: "messages/by count", Rules: "M2 M3 M4", Stalls: kit.Stalled, Run: messagesByCount},
	{Name: "messages/by time", Rules: "M2 M3 M5", Stalls: kit.Stalled, Run: messagesByTime},
	{Name: "messages/by time of the oldest", Rules: "M2 M3", Stalls: kit.Stalled, Run: messagesOfTheOldest},
	{Name: "messages/STATUS does not show what waits for its time", Rules: "M5", Stalls: kit.Stalled,
		Run: messagesUnseen},
	{Name: "messages/large counts and times", Rules: "M2", Stalls: kit.Calm, Run: messagesLarge},
	{Name: "messages/of Events", Rules: "M2 M3 Q4", Stalls: kit.Stalled, Run: messagesOfEvents},
	{Name: "messages/of queues that are disabled", Rules: "M4 M2 G7", Stalls: kit.Stalled, Run: messagesAtTheEnd},
	{Name: "messages/enabled anew", Rules: "M2", Stalls: kit.Stalled, Run: messagesAnew},
	{Name: "messages/under traffic", Rules: "M1 M2 M3 C2", Stalls: kit.Stalled, Run: messagesUnderTraffic},
}

// msixQueue is the expected state of a queue's interrupts.
type msixQueue struct {
	addr       uint64
	data       uint32
	count      int // mod_count of the queue
	cycles     int64
	cq, end    uint64
	unreported int
	oldest     int64 // cycle in which the oldest unreported entry left
	event, off bool
	messages   int
	last       int64 // cycle in which the last message left
}

// due reports whether a message may leave in a cycle.
func (m *msixQueue) due(at int64) bool {
	return m.unreported > 0 && (m.unreported >= max(m.count, 1) || m.event || m.off || m.cycles != 0 &&
		at-m.oldest >= 64*m.cycles)
}

// messages tracks the entries and messages of all queues with a message address.
type messages struct {
	*kit.Rig
	all []*msixQueue
	n   int // number of addresses assigned
}

// withMessages starts to track messages.
func withMessages(r *kit.Rig) *messages {
	m := &messages{Rig: r}
	r.Watch = m.see
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
			want := tlp.Header{Kind: tlp.MWr, Length: 1, FirstBE: 0xf, RequesterID: nicspec.RequesterNic,
				Address: q.addr, Addr64: q.addr>>32 != 0}
			require.Equal(m.T, want, h, "message")
			require.Equal(m.T, q.data, binary.LittleEndian.Uint32(c.TLP.Data), "data of a message")
			require.True(m.T, q.due(c.First), "message at cycle %d that is not due: %+v", c.First, *q)
			q.unreported, q.event, q.last = 0, false, c.Last
			q.messages++
		}
	}
}

// queue chooses the message settings of the queue to be enabled next, and returns its expected
// state.
func (m *messages) queue(count, cycles int) *msixQueue {
	m.n++
	q := &msixQueue{data: uint32(m.n) * 0x01030507, count: count, cycles: int64(cycles)}
	q.addr = m.Alloc(m.n%2, 64, 64) + uint64(m.n*4%64)
	return q
}

func (m *messages) openRx(q, log, count, cycles int) (*kit.RxRing, *msixQueue) {
	m.T.Helper()
	s := m.queue(count, cycles)
	m.RxMod = func(f *nicspec.RxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = s.addr, s.data, uint16(count), uint16(cycles)
	}
	x := m.Rig.OpenRx(q, log, nil)
	m.RxMod = nil
	m.follow(s, &x.Ring)
	return x, s
}

func (m *messages) openTx(q, log, count, cycles int) (*kit.TxRing, *msixQueue) {
	m.T.Helper()
	s := m.queue(count, cycles)
	m.TxMod = func(f *nicspec.TxqEntryFields) {
		f.MsixAddr, f.MsixData, f.ModCount, f.ModCycles = s.addr, s.data, uint16(count), uint16(cycles)
	}
	x := m.Rig.OpenTx(q, log)
	m.TxMod = nil
	m.follow(s, &x.Ring)
	return x, s
}

func (m *messages) follow(s *msixQueue, g *kit.Ring) {
	s.cq, s.end = g.CQ, g.CQ+uint64(g.CQBytes())
	m.all = append(m.all, s)
}

// disable disables a queue. Unreported entries must be reported before the command ends.
func (m *messages) disable(t nicspec.Table, q int, s *msixQueue) {
	m.T.Helper()
	s.off = true
	m.Rig.Disable(t, q)
	m.Run(2 * m.OneWay) // until the message has reached memory
	require.Zero(m.T, s.unreported, "entries that were not reported when the queue was off")
}

// settled waits until no message is or will be due, and checks that counter MSIX agrees with the
// messages seen.
func (m *messages) settled() {
	m.T.Helper()
	m.Quiet()
	m.Until("messages leave",
		func() bool { return !slices.ContainsFunc(m.all, func(q *msixQueue) bool { return q.due(1 << 62) }) })
	m.Run(2 * nicspec.VisibleCycles)
	n := uint64(0)
	for _, q := range m.all {
		n += uint64(q.messages)
		if q.messages > 0 {
			require.Equal(m.T, q.data, binary.LittleEndian.Uint32(m.Load(q.addr, 4)))
		}
	}
	require.Equal(m.T, n, m.Read2(nicspec.RegCounter(kit.DevCounter(nicspec.CntMsix))), "MSIX")
}

// messagesSingly checks that every entry causes a message if entries come one at a time.
func messagesSingly(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	for count := range 2 {
		x, a := m.openRx(1, 5, count, 0)
		y, b := m.openTx(2, 5, count, 7)
		r.Post(x, 10)
		r.ReceiveAll(1)
		for i := range 8 {
			first := r.Ordinal()
			r.Play(kit.FrameOf(100 + i))
			r.Delivered(x, first, nicspec.RuleNone)
			r.Transmit(y, r.Sound(w[i%2], uint64(i)))
			m.settled()
			require.Equal(r.T, [2]int{i + 1, i + 1}, [2]int{a.messages, b.messages})
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.T, [2]int{8, 8}, [2]int{a.messages, b.messages})
	}
}

// messagesByCount uses queues without a time limit: nothing may be reported before the count is reached.
func messagesByCount(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	for _, count := range []int{2, 5, 16} {
		x, a := m.openRx(1, 6, count, 0)
		y, b := m.openTx(2, 6, count, 0)
		r.Post(x, 60)
		r.ReceiveAll(1)
		for i := range 2*count + 1 {
			first := r.Ordinal()
			r.Play(kit.FrameOf(90 + i))
			r.Delivered(x, first, nicspec.RuleNone)
			r.Transmit(y, r.Sound(w[i%2], uint64(i)))
			r.Run(500)
			m.settled()
			want := (i + 1) / count
			require.Equal(r.T, [2]int{want, want}, [2]int{a.messages, b.messages}, "messages after %d entries", i+1)
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.T, [2]int{3, 3}, [2]int{a.messages, b.messages},
			"messages, the last one for the remaining entries")
		m.settled()
	}
}

// messagesByTime uses queues with a time limit, by which an entry must be reported.
func messagesByTime(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	for _, units := range []int{1, 2, 10, 60} {
		x, a := m.openRx(1, 6, 40, units)
		y, b := m.openTx(2, 6, 40, units)
		r.Post(x, 60)
		r.ReceiveAll(1)
		for i := range 4 {
			first := r.Ordinal()
			for k := range i + 1 {
				r.Play(kit.FrameOf(90 + k))
			}
			for k := range i + 1 {
				r.Delivered(x, first+k, nicspec.RuleNone)
			}
			from := a.oldest
			r.Transmit(y, r.Sound(w[0], 1), r.Sound(w[1], 2))
			m.settled()
			if r.Stall == 0 {
				require.LessOrEqual(r.T, a.last-from, int64(64*units+2*1024),
					"cycles from the oldest entry to its message")
			}
		}
		require.GreaterOrEqual(r.T, min(a.messages, b.messages), 4)
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
	}
}

// messagesOfEvents causes Events, which must be reported at once whatever the moderation.
func messagesOfEvents(r *kit.Rig) {
	r.Write(nicspec.RegCplTimeout, kit.Timeout)
	m := withMessages(r)
	r.ReceiveAll(1)
	for i, f := range kit.Failures[:6] {
		r.Quiet()
		x, a := m.openRx(1, 4, 1000, 0)
		y, b := m.openTx(2, 4, 1000, 0)
		r.FailOnce(f.Kind, x.Base, 64)
		r.Post(x, 1)
		r.Event(&x.Ring, f.Want, 0)
		r.FailOnce(f.Kind, y.Base, 64)
		r.Enqueue(y, nicspec.WqeFields{})
		r.RingDoorbell(&y.Ring)
		r.Event(&y.Ring, f.Want, 0)
		m.settled()
		require.Equal(r.T, [2]int{1, 1}, [2]int{a.messages, b.messages}, "%v", f.Kind)
		r.Bed.Faults.Clear()
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		require.Equal(r.T, 2*(i+1), m.total())
	}
}

func (m *messages) total() (n int) {
	for _, q := range m.all {
		n += q.messages
	}
	return n
}

// messagesAtTheEnd disables queues with and without unreported entries.
func messagesAtTheEnd(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	for n := range 4 {
		x, a := m.openRx(1, 4, 50, 0)
		y, b := m.openTx(2, 4, 50, 60_000)
		r.Post(x, 8)
		r.ReceiveAll(1)
		first := r.Ordinal()
		for i := range n {
			r.Play(kit.FrameOf(80 + i))
		}
		for i := range n {
			r.Delivered(x, first+i, nicspec.RuleNone)
			r.Transmit(y, r.Sound(w[0], uint64(i)))
		}
		m.disable(nicspec.TableRxq, 1, a)
		m.disable(nicspec.TableTxq, 2, b)
		want := min(n, 1)
		require.Equal(r.T, [2]int{want, want}, [2]int{a.messages, b.messages}, "%d entries", n)
		m.settled()
	}
}

// messagesAnew checks that a queue's count restarts when the queue is enabled, and that queues without an address send
// no messages.
func messagesAnew(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	for i := range 3 {
		y, b := m.openTx(2, 4, 3, 0)
		r.Transmit(y, r.Sound(w[0], 1), r.Sound(w[0], 2))
		m.settled()
		require.Zero(r.T, b.messages)
		m.disable(nicspec.TableTxq, 2, b)
		y, b = m.openTx(2, 4, 3, 0)
		r.Transmit(y, r.Sound(w[0], 3), r.Sound(w[0], 4))
		m.settled()
		require.Zero(r.T, b.messages)
		r.Transmit(y, r.Sound(w[0], 5))
		m.settled()
		require.Equal(r.T, 1, b.messages)
		m.disable(nicspec.TableTxq, 2, b)
		z := r.OpenTx(2, 4) // a queue without a message address
		r.Transmit(z, r.Sound(w[0], uint64(i)))
		r.Disable(nicspec.TableTxq, 2)
		m.settled()
	}
}

// messagesUnderTraffic uses many queues with moderation of all kinds while traffic runs in both directions.
func messagesUnderTraffic(r *kit.Rig) {
	m := withMessages(r)
	_, w := r.TxSetup(9, 2)
	rng := rand.New(rand.NewPCG(101, 9))
	var rxs []*kit.RxRing
	var txs []*kit.TxRing
	for i := range 6 {
		x, _ := m.openRx(i+1, 7, []int{0, 1, 3, 8, 100, 7}[i], []int{0, 3, 0, 20, 5, 1}[i])
		r.Post(x, 100)
		y, _ := m.openTx(i+20, 6, []int{7, 100, 0, 2, 1, 30}[i], []int{0, 2, 9, 0, 40, 1}[i])
		rxs, txs = append(rxs, x), append(txs, y)
	}
	r.ByDest(1, 2, 3, 4, 5, 6)
	r.ReceiveAll(1)
	for range 4 {
		var posts [6][]kit.Posted
		var firsts [6]uint16
		for i, y := range txs {
			var all []nicspec.WqeFields
			for range 4 + rng.IntN(20) {
				e := r.Cut(w, kit.Pattern(60+rng.IntN(500), rng.Uint64()), 0, 2, rng)
				e.FComplete = rng.IntN(3) > 0
				all = append(all, e)
			}
			all[len(all)-1].FComplete = true
			firsts[i] = y.PI
			posts[i] = r.Enqueue(y, all...)
			r.RingDoorbell(&y.Ring)
		}
		first := r.Ordinal()
		var order []int
		for range 60 {
			q := rng.IntN(6)
			order = append(order, q)
			r.Play(kit.FrameTo(q+1, kit.FrameOf(60+rng.IntN(600))))
		}
		for i, q := range order {
			r.Delivered(rxs[q], first+i, uint16(q))
			r.Post(rxs[q], 1)
		}
		for i, y := range txs {
			r.Ended(y, firsts[i], posts[i])
		}
	}
	m.settled()
	require.Greater(r.T, m.total(), 20)
}

// messagesOfTheOldest lets two entries leave one after the other: the time limit of their message must count from the
// first.
func messagesOfTheOldest(r *kit.Rig) {
	m := withMessages(r)
	const units, apart = 60, 2500 // the limit is 60 units, 3,840 cycles
	_, w := r.TxSetup(9, 2)
	x, a := m.openRx(1, 6, 40, units)
	y, b := m.openTx(2, 6, 40, units)
	r.Post(x, 60)
	r.ReceiveAll(1)
	first, oldest := r.Ordinal(), [2]int64{}
	for k := range 2 {
		r.Play(kit.FrameOf(90 + k))
		r.Delivered(x, first+k, nicspec.RuleNone)
		r.Transmit(y, r.Sound(w[k], uint64(1+k)))
		if k == 0 {
			oldest = [2]int64{a.oldest, b.oldest}
			m.Run(apart)
		}
	}
	m.settled()
	require.Equal(r.T, [2]int{1, 1}, [2]int{a.messages, b.messages}, "messages of two entries each")
	if r.Stall == 0 {
		for i, q := range []*msixQueue{a, b} {
			require.LessOrEqual(r.T, q.last-oldest[i], int64(64*units+2*1024),
				"cycles from the oldest entry to the message")
		}
	}
}
