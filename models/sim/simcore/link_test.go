package simcore

import (
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLinkTimes(t *testing.T) {
	type sent struct{ at, depart, arrive Ps }
	cases := map[string]struct {
		spec  LinkSpec
		bytes int
		sends []sent
	}{
		"latency only": {LinkSpec{Latency: 100}, 64, []sent{{0, 0, 100}, {7, 7, 107}, {7, 7, 107}}},
		"back to back": {LinkSpec{Latency: 100, Rate: Rate{1, 10}}, 5,
			[]sent{{0, 0, 150}, {0, 0, 200}, {99, 99, 250}, {151, 151, 301}}},
		"overhead": {LinkSpec{Rate: Rate{1, 10}, OverheadBytes: 3}, 5, []sent{{0, 0, 80}, {1, 1, 160}}},
		"departed in the past": {LinkSpec{Latency: 100, Rate: Rate{1, 10}}, 5,
			[]sent{{200, 110, 260}, {200, 130, 310}, {205, 205, 360}}},
		"departs in the future": {LinkSpec{Latency: 100, Rate: Rate{1, 10}}, 5,
			[]sent{{0, 1000, 1150}, {1, 1, 1200}}},
		"arrives at once": {LinkSpec{Latency: 100}, 5, []sent{{200, 100, 200}}},
		"fractions":       {LinkSpec{Rate: Rate{3, 10}}, 1, []sent{{0, 0, 4}, {0, 0, 7}, {0, 0, 10}, {11, 11, 15}}},
		"empty messages":  {LinkSpec{Latency: 9, Rate: Rate{1, 10}}, 0, []sent{{0, 0, 9}, {0, 0, 9}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewEngine()
			p := newPair(t, e, c.spec, 16)
			p.drain()
			var want []arrival
			for i, s := range c.sends {
				want = append(want, arrival{i, s.arrive, s.depart, s.arrive})
				at(e, s.at, func() { require.Nil(t, p.a.Send(newMsg(i, c.bytes, s.depart))) })
			}
			runWithin(t, e)
			assert.Equal(t, want, p.arrivals)
			assert.Zero(t, p.l.InFlight())
		})
	}
}

// TestLinkTimesProperty compares times of arrival with the formula of Link, for random sizes, rates
// and times of departure, with traffic in both directions.
func TestLinkTimesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := LinkSpec{
			Latency:       Ps(rapid.IntRange(0, 5000).Draw(t, "latency")),
			OverheadBytes: rapid.IntRange(0, 30).Draw(t, "overhead"),
		}
		if rapid.Bool().Draw(t, "limited") {
			spec.Rate = Rate{rapid.Int64Range(1, 200).Draw(t, "bytes"), Ps(rapid.Int64Range(1, 9000).Draw(t, "ps"))}
		}
		e := NewEngine()
		p := newPair(t, e, spec, 200)
		p.drain()
		sent, back := uint64(0), uint64(0)
		now, free := Ps(0), Ps(0) // free: end of the last transmission, in units of 1/Rate.Bytes ps
		den := Ps(max(spec.Rate.Bytes, 1))
		var want []arrival
		for i := range rapid.IntRange(1, 100).Draw(t, "messages") {
			now += Ps(rapid.IntRange(0, 3000).Draw(t, "gap"))
			depart := max(0, now+Ps(rapid.IntRange(-int(spec.Latency), 2000).Draw(t, "depart")))
			bytes := rapid.IntRange(0, 300).Draw(t, "size")
			free = max(free, depart*den) + Ps(bytes+spec.OverheadBytes)*spec.Rate.Ps
			arrive := (free+den-1)/den + spec.Latency
			sent, back = sent+uint64(bytes), back+999
			want = append(want, arrival{i, arrive, depart, arrive})
			at(e, now, func() {
				require.Nil(t, p.a.Send(newMsg(i, bytes, depart)))
				require.Nil(t, p.b.Send(newMsg(i, 999, e.Now()))) // the other direction must have no influence
			})
		}
		p.ca.recv = func(now sim.VTimeInSec, port sim.Port) { port.Retrieve(now) }
		require.NoError(t, e.Run())
		require.Equal(t, want, p.arrivals)
		from, to := p.l.Sent(p.a)
		require.Equal(t, [2]uint64{sent, back}, [2]uint64{from, to})
	})
}

func TestLinkStampsTheMessage(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{Latency: 3000}, 4)
	m := newMsg(1, 10, 500)
	at(e, 1000, func() { require.Nil(t, p.a.Send(m)) })
	runWithin(t, e)
	assert.Equal(t, []any{p.a, p.b}, []any{m.Src, m.Dst})
	assert.Equal(t, []Ps{500, 3500}, []Ps{FromSec(m.SendTime), FromSec(m.RecvTime)})
	assert.Same(t, m, p.b.Peek())
	assert.Nil(t, p.b.SendAt(newMsg(2, 10, 0), e.Now()))
}

// TestUntimedMessage: a message that is not Timed departs when it is sent.
func TestUntimedMessage(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{Latency: 300}, 4)
	at(e, 1000, func() { require.Nil(t, p.a.Send(&sim.GeneralRsp{})) })
	runWithin(t, e)
	assert.Equal(t, Ps(1300), e.Now())
	assert.Equal(t, Ps(1300), FromSec(p.b.Peek().Meta().RecvTime))
}

func TestSendMistakesPanic(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{Latency: 100}, 4)
	require.NoError(t, e.RunUntil(1000))
	assert.PanicsWithValue(t, "simcore: link Link: A.Port sends at 1000 ps what departed at 899 ps: "+
		"with a latency of 100 ps it would arrive in the past", func() { p.a.Send(newMsg(0, 1, 899)) })
	assert.Panics(t, func() { p.a.Send(newMsg(0, -1, 1000)) }, "negative size")
	assert.Panics(t, func() { p.a.Send(newMsg(0, 1<<30, 1000)) }, "size too large")
	assert.PanicsWithValue(t, "simcore: port X is not plugged in",
		func() { NewPort(nil, 1, "X").Send(newMsg(0, 1, 1000)) })
	assert.Panics(t, func() { p.l.Send(newMsg(0, 1, 1000)) }, "no Src")
	assert.Error(t, p.l.Handle(foreignEvent{}))
}

// TestCreditsHoldBack: messages in flight and unread never exceed the credits.
func TestCreditsHoldBack(t *testing.T) {
	for _, c := range []struct{ credits, capacity, want int }{{0, 3, 3}, {2, 5, 2}, {6, 3, 6}} {
		e := NewEngine()
		p := newPair(t, e, LinkSpec{Latency: 100, Credits: c.credits}, c.capacity)
		sent := 0
		for p.a.CanSend() {
			require.Nil(t, p.a.Send(newMsg(sent, 1, 0)))
			sent++
		}
		assert.NotNil(t, p.a.Send(newMsg(9, 1, 0)))
		assert.Equal(t, c.want, sent)
		runWithin(t, e)
		assert.Equal(t, min(c.want, c.capacity), p.b.Len())
		assert.False(t, p.a.CanSend(), "delivered but not retrieved")
	}
}

// TestMoreCreditsThanBuffer: messages for which the far buffer has no room wait on the link, in
// order, and enter the buffer as soon as it has room.
func TestMoreCreditsThanBuffer(t *testing.T) {
	for name, e := range bothEngines() {
		p := newPair(t, e, LinkSpec{Latency: 10, Credits: 5}, 2)
		for i := range 5 {
			require.Nil(t, p.a.Send(newMsg(i, 1, 0)))
		}
		var got []int
		for _, when := range []Ps{50, 60, 60, 70, 80} {
			at(e, when, func() { got = append(got, p.b.Retrieve(when.Sec()).(*testMsg).n) })
		}
		var received []Ps
		p.cb.recv = func(sim.VTimeInSec, sim.Port) { received = append(received, Now(e)) }
		runWithin(t, e)
		assert.Equal(t, []int{0, 1, 2, 3, 4}, got, name)
		assert.Equal(t, []Ps{10, 10, 50, 60, 60}, received, name)
	}
}

func TestCreditReturnTime(t *testing.T) {
	for _, c := range []struct{ latency, want Ps }{{0, 201}, {1, 201}, {40, 240}} {
		for name, e := range bothEngines() {
			p := newPair(t, e, LinkSpec{Latency: 100, Credits: 1, CreditLatency: c.latency}, 1)
			require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
			require.False(t, p.a.CanSend())
			var freed []Ps
			p.ca.free = func(sim.VTimeInSec, sim.Port) {
				freed = append(freed, Now(e))
				assert.True(t, p.a.CanSend(), name)
			}
			at(e, 200, func() {
				p.b.Retrieve(0)
				assert.False(t, p.a.CanSend(), "not at the time of the return")
			})
			runWithin(t, e)
			assert.Equal(t, []Ps{c.want}, freed, name)
		}
	}
}

// TestEarlyReceiver: an early receiver gets each message when it is sent, with its arrival in the
// future. Credits bind the sender as usual.
func TestEarlyReceiver(t *testing.T) {
	e := NewEngine()
	p := &pair{s: e, ca: newStub("A"), cb: newStub("B")}
	p.cb.early = true
	p.a, p.b = NewPort(p.ca, 4, "A.Port"), NewPort(p.cb, 2, "B.Port")
	_, err := Connect("Link", e, LinkSpec{Latency: 1000, Rate: Rate{1, 10}, Credits: 9}, p.a, p.b)
	require.NoError(t, err)
	var handed []arrival
	p.cb.recv = func(sim.VTimeInSec, sim.Port) {
		handed = append(handed, arrival{at: e.Now()})
	}
	at(e, 500, func() {
		require.Nil(t, p.a.Send(newMsg(0, 5, 500)))
		require.Nil(t, p.a.Send(newMsg(1, 5, 100)))
		require.NotNil(t, p.a.Send(newMsg(2, 5, 500)), "the buffer bounds the credits")
		assert.Equal(t, Ps(1550), p.b.Retrieve(0).(*testMsg).Arrive)
		m := p.b.Retrieve(0).(*testMsg)
		assert.Equal(t, Ps(1600), m.Arrive)
		assert.Equal(t, Ps(1600), FromSec(m.RecvTime))
	})
	var freed Ps
	p.ca.free = func(sim.VTimeInSec, sim.Port) { freed = e.Now() }
	runWithin(t, e)
	assert.Equal(t, []arrival{{at: 500}, {at: 500}}, handed)
	assert.Equal(t, Ps(501), freed)
	assert.Panics(t, func() { p.a.Send(&sim.GeneralRsp{}) }, "not Timed")
}

func TestSpecErrorsAllAtOnce(t *testing.T) {
	spec := LinkSpec{Latency: -1, Rate: Rate{Bytes: 5}, Credits: -2, CreditLatency: -3, OverheadBytes: -4}
	_, err := NewLink("Board.Link[0]", NewEngine(), spec)
	for _, want := range []string{"Board.Link[0]", "latency_ps -1", "5 bytes in 0 ps", "credits -2",
		"credit_latency_ps -3", "overhead_bytes -4"} {
		assert.ErrorContains(t, err, want)
	}
	assert.NoError(t, LinkSpec{}.Validate())
	assert.NoError(t, LinkSpec{Rate: Gbps(400), Latency: Microsecond}.Validate())
	assert.Equal(t, Rate{64, 2500}, PerCycle(64, Freq{}))
}

// TestStockPortOnLink: Akita's port works on our link. The next test has our port on Akita's
// connection.
func TestStockPortOnLink(t *testing.T) {
	e := NewEngine()
	a, b := newStub("A"), newStub("B")
	pa := NewPort(a, 2, "A.Port")
	pb := sim.NewLimitNumMsgPort(b, 2, "B.Port")
	l, err := NewLink("Link", e, LinkSpec{Latency: 10, Credits: 4})
	require.NoError(t, err)
	l.PlugIn(pa, 0)
	l.PlugIn(pb, 0)
	var got []int
	for i := range 4 {
		require.Nil(t, pa.Send(newMsg(i, 1, 0)))
	}
	require.False(t, pa.CanSend())
	freed := 0
	a.free = func(sim.VTimeInSec, sim.Port) { freed++ }
	for _, when := range []Ps{100, 200, 300, 400} {
		at(e, when, func() { got = append(got, pb.Retrieve(when.Sec()).(*testMsg).n) })
	}
	runWithin(t, e)
	assert.Equal(t, []int{0, 1, 2, 3}, got)
	assert.Equal(t, 1, freed)

	m := newMsg(7, 1, e.Now())
	m.Src = pb
	require.Nil(t, pb.Send(m))
	runWithin(t, e)
	assert.Same(t, m, pa.Peek())
}

func TestPortOnStockConnection(t *testing.T) {
	e := NewEngine()
	a, b := newStub("A"), newStub("B")
	var got []int
	c := sim.NewDirectConnection("Connection", e, sim.GHz)
	px, py := NewPort(a, 1, "A.Other"), NewPort(b, 1, "B.Other")
	c.PlugIn(px, 1)
	c.PlugIn(py, 1)
	b.recv = func(now sim.VTimeInSec, p sim.Port) { got = append(got, p.Retrieve(now).(*testMsg).n) }
	for i := range 3 {
		at(e, e.Now()+Ps(i)*5000, func() {
			m := newMsg(10+i, 1, 0)
			m.Dst, m.SendTime = py, e.CurrentTime()
			assert.True(t, px.CanSend())
			assert.Nil(t, px.Send(m))
		})
	}
	runWithin(t, e)
	assert.Equal(t, []int{10, 11, 12}, got)
}

func TestLinkHooks(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{Latency: 10}, 2)
	log := &eventLog{}
	p.l.AcceptHook(log)
	p.a.AcceptHook(log)
	p.b.AcceptHook(log)
	require.Nil(t, p.a.Send(newMsg(0, 1, 0)))
	runWithin(t, e)
	p.b.Retrieve(0)
	assert.Equal(t, []*sim.HookPos{sim.HookPosConnStartSend, sim.HookPosPortMsgSend,
		sim.HookPosPortMsgRecvd, sim.HookPosConnDeliver, sim.HookPosPortMsgRetrieve}, log.pos)
}

func TestLinkAllocatesNothing(t *testing.T) {
	e := NewEngine()
	p := newPair(t, e, LinkSpec{Latency: 1000, Rate: Gbps(400), Credits: 2}, 2)
	m := newMsg(0, 256, 0)
	p.cb.recv = func(now sim.VTimeInSec, port sim.Port) { port.Retrieve(now) }
	one := func() {
		for range 3 {
			if p.a.SendAt(m, e.Now()) != nil {
				break
			}
		}
		_ = e.Run()
	}
	one()
	assert.Zero(t, testing.AllocsPerRun(100, one))
}

func TestRateWithUnit(t *testing.T) {
	var r Rate
	require.NoError(t, r.DecodeWord("200Gbps"))
	require.Equal(t, Rate{Bytes: 1, Ps: 40}, r)
	require.NoError(t, r.DecodeWord("7GB/s"))
	require.Equal(t, Rate{Bytes: 7, Ps: 1000}, r)
	require.EqualError(t, r.DecodeWord("0bps"), `"0bps": want more than 0, or no such field`)
	require.EqualError(t, r.DecodeWord("7GB"), `"7GB": unknown unit "GB": want bps, Kbps, Mbps, Gbps, B/s, KB/s, MB/s `+
		`or GB/s`)
	require.Equal(t, Rate{Bytes: 7, Ps: 1000}, r)
}
