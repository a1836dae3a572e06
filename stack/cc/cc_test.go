package cc

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	_ "nictwin/models/sim/fixedseed"
)

const us = Microsecond

func dcqcn(t testing.TB, line Bps) *DCQCN {
	d, err := NewDCQCN(DefaultDCQCN(line))
	require.NoError(t, err)
	return d
}

// TestDCQCNTrace compares DCQCN with the paper's equations worked out by hand: cut by alpha/2, five recoveries of half
// the cut, then additive increase.
func TestDCQCNTrace(t *testing.T) {
	d := dcqcn(t, 40*Gbps)
	require.Equal(t, 40*Gbps, d.Rate())
	require.Equal(t, Never, d.Next())
	d.Notified(0) // alpha is 1: this halves the rate
	d.Notified(10 * us)
	require.Equal(t, []Bps{10 * Gbps, 20 * Gbps}, []Bps{d.Rate(), d.Target()})
	at := 10 * us
	for i, want := range []struct{ rate, target Bps }{
		{15000 * Mbps, 20000 * Mbps}, {17500 * Mbps, 20000 * Mbps}, {18750 * Mbps, 20000 * Mbps},
		{19375 * Mbps, 20000 * Mbps},
		{19707_500_000, 20040 * Mbps}, {19893_750_000, 20080 * Mbps},
	} {
		at += 55 * us
		require.Equal(t, at, d.Next())
		d.Tick(at - 1)
		d.Tick(at)
		require.Equal(t, want.rate, d.Rate(), "expiration %d", i+1)
		require.Equal(t, want.target, d.Target(), "expiration %d", i+1)
	}
	// Six periods without a notification: alpha = (255/256)^6; the next cut is by half of that.
	alpha := math.Pow(255./256, 6)
	require.InDelta(t, alpha, float64(d.Alpha(at))/float64(one), 1e-8)
	d.Notified(at)
	require.InDelta(t, 19893_750_000*(1-alpha/2), float64(d.Rate()), 200)
	require.InDelta(t, alpha*255/256+1./256, float64(d.Alpha(at))/float64(one), 1e-8)
}

// TestDCQCNHyperIncrease checks that the byte counter alone raises the rate by R_AI, and that once both counters exceed
// F each step adds a growing multiple of R_HAI.
func TestDCQCNHyperIncrease(t *testing.T) {
	d := dcqcn(t, 400*Gbps)
	for range 6 {
		d.Notified(0)
	}
	require.Equal(t, 6250*Mbps, d.Rate())
	require.Equal(t, 12500*Mbps, d.Target())
	for range 6 { // the byte counter expires six times: four fast recoveries, two additive increases
		d.Sent(0, 10e6-1)
		d.Sent(0, 1)
	}
	require.Equal(t, 12580*Mbps, d.Target())
	for i := range 5 { // the timer expires five times, no more than threshold F; the byte counter's count 6 exceeds F
		d.Tick(Ps(i+1) * 55 * us)
	}
	require.Equal(t, 12780*Mbps, d.Target())
	d.Tick(6 * 55 * us) // both counters at 6: one step of hyper increase
	require.Equal(t, 13180*Mbps, d.Target())
	d.Sent(6*55*us, 10e6) // byte counter at 7, timer at 6: one more step
	require.Equal(t, 13580*Mbps, d.Target())
	d.Tick(7 * 55 * us) // both counters at 7: two steps
	require.Equal(t, 14380*Mbps, d.Target())
	d.Tick(2000 * us)
	d.Tick(1e12)
	require.Equal(t, 400*Gbps, d.Rate(), "in the end line rate is reached, and the timer stops")
	require.Equal(t, Never, d.Next())
}

// TestDCQCNFollowsTheRecursion checks that for any sequence of events rate and alpha follow the paper's recursion,
// computed in floating point.
func TestDCQCNFollowsTheRecursion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DefaultDCQCN(100 * Gbps)
		d, err := NewDCQCN(s)
		require.NoError(t, err)
		m := newReal(s)
		now := Ps(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.Int64Range(0, 200*us).Draw(t, "wait")
			switch rapid.IntRange(0, 2).Draw(t, "event") {
			case 0:
				d.Notified(now)
				m.notified(now)
			case 1:
				n := rapid.IntRange(0, 25e6).Draw(t, "bytes")
				d.Sent(now, n)
				m.sent(now, n)
			default:
				d.Tick(now)
				m.tick(now)
			}
			require.InEpsilon(t, m.rc, float64(d.Rate()), 1e-6)
			require.InEpsilon(t, m.rt, float64(d.Target()), 1e-6)
			require.InDelta(t, m.alpha, float64(d.Alpha(now))/float64(one), 1e-6)
		}
	})
}

// real is the paper's reaction point in floating point. It steps every timer, where DCQCN catches up in one go.
type real struct {
	s                DCQCNSpec
	rc, rt, alpha    float64
	at, alphaAt      Ps
	sum              int64
	t, bc            int
	begun, atLineYet bool
}

func newReal(s DCQCNSpec) *real {
	return &real{s: s, rc: float64(s.Line), rt: float64(s.Line), alpha: 1, atLineYet: true}
}

func (m *real) tick(now Ps) {
	for m.begun && m.alphaAt <= now {
		m.alpha *= 1 - 1/float64(m.s.GainInverse)
		m.alphaAt += m.s.AlphaPeriod
	}
	for !m.atLineYet && m.at <= now {
		m.at += m.s.Timer
		m.t++
		m.up()
	}
}

func (m *real) up() {
	f := m.s.FastRecovery
	if m.t > f && m.bc > f {
		m.rt += float64(min(m.t, m.bc)-f) * float64(m.s.HyperIncrease)
	} else if m.t >= f || m.bc >= f {
		m.rt += float64(m.s.AdditiveIncrease)
	}
	m.rt = min(m.rt, float64(m.s.Line))
	m.rc = (m.rc + m.rt) / 2
	m.atLineYet = float64(m.s.Line)-m.rc < 1
}

func (m *real) sent(now Ps, n int) {
	m.tick(now)
	if m.atLineYet {
		return
	}
	for m.sum += int64(n); !m.atLineYet && m.sum >= m.s.ByteCounter; m.sum -= m.s.ByteCounter {
		m.bc++
		m.up()
	}
}

func (m *real) notified(now Ps) {
	m.tick(now)
	m.rt, m.rc = m.rc, max(m.rc*(1-m.alpha/2), float64(m.s.MinRate))
	g := 1 / float64(m.s.GainInverse)
	m.alpha = (1-g)*m.alpha + g
	m.begun, m.atLineYet, m.sum, m.t, m.bc = true, false, 0, 0, 0
	m.at, m.alphaAt = now+m.s.Timer, now+m.s.AlphaPeriod
}

// TestMarker checks that a CNP leaves with the first mark, and then one at the end of each interval that had a mark.
func TestMarker(t *testing.T) {
	m, err := NewMarker(DefaultDCQCN(40 * Gbps))
	require.NoError(t, err)
	require.False(t, m.Arrived(0, false))
	require.True(t, m.Arrived(1*us, true))
	require.Equal(t, 51*us, m.Next())
	require.False(t, m.Arrived(2*us, true))
	require.False(t, m.Arrived(50*us, true))
	require.False(t, m.Tick(51*us-1))
	require.True(t, m.Tick(51*us))
	require.False(t, m.Arrived(60*us, false))
	require.False(t, m.Tick(101*us), "no mark in the second interval")
	require.Equal(t, Never, m.Next())
	require.True(t, m.Arrived(102*us, true), "the next mark is the first again")
	require.False(t, m.Arrived(103*us, true))
	require.True(t, m.Arrived(152*us, true), "one CNP for the interval that ended; the mark is the next one's")
	require.True(t, m.Tick(202*us))
}

func dctcp(t testing.TB, segment int64) *DCTCP {
	d, err := NewDCTCP(DefaultDCTCP(segment))
	require.NoError(t, err)
	return d
}

// TestDCTCPTrace compares alpha and window with values worked out by hand, in segments of 1,000 B: g = 1/16, cuts by
// alpha/2 once per window of data.
func TestDCTCPTrace(t *testing.T) {
	d := dctcp(t, 1000)
	ack := func(n int, marked bool) {
		for range n {
			d.Acked(0, 1000, marked)
		}
	}
	send := func(n int) {
		for range n {
			d.Sent(0, 1000)
		}
	}
	require.EqualValues(t, 10_000, d.Window())
	send(10)
	ack(1, false) // the first window is one packet without a mark: alpha is 15/16
	require.InDelta(t, 15./16, float64(d.Alpha())/float64(one), 1e-9)
	require.EqualValues(t, 11_000, d.Window())
	ack(5, false)
	ack(1, true) // the window of 16,000 is cut by half of 15/16
	require.EqualValues(t, 16_000-7_500, d.Window())
	ack(2, true) // a second mark in the same window of data: no cut
	require.EqualValues(t, 8_500, d.Window())
	ack(1, false) // the 10 packets have arrived: three of the last 9 were marked
	alpha := 15./16*15./16 + 3./9/16
	require.InDelta(t, alpha, float64(d.Alpha())/float64(one), 1e-9)
	send(9)
	ack(9, false) // beyond slow start the window grows by one segment per window of data
	require.EqualValues(t, 9_500, d.Window())
	// nothing was in flight, so the first packet is a window of data by itself
	require.InDelta(t, alpha*15./16*15./16, float64(d.Alpha())/float64(one), 1e-9)
	d.Lost(0, 0, false)
	require.EqualValues(t, 4_750, d.Window())
	d.Lost(0, 0, true)
	require.EqualValues(t, 1_000, d.Window())
}

// TestDCTCPAfterLoss checks that a window of data ends although bytes of it were lost and retransmitted.
func TestDCTCPAfterLoss(t *testing.T) {
	d := dctcp(t, 1000)
	for range 10 {
		d.Sent(0, 1000)
	}
	d.Acked(0, 1000, false)
	d.Lost(0, 9000, false)
	for range 9 {
		d.Sent(0, 1000)
	}
	before := d.Alpha()
	for range 9 {
		d.Acked(0, 1000, false)
	}
	require.Less(t, d.Alpha(), before)
	w := d.Window()
	d.Sent(0, 1000)
	d.Acked(0, 1000, true)
	require.Less(t, d.Window(), w, "the next mark cuts again")
}

// TestDCTCPOfIdleFlow checks that a window which the flow does not fill stops growing, so that a mark makes a
// difference.
func TestDCTCPOfIdleFlow(t *testing.T) {
	d := dctcp(t, 1000)
	round := func(n int, marked bool) {
		for range n {
			d.Sent(0, 1000)
		}
		for range n {
			d.Acked(0, 1000, marked)
		}
	}
	for range 100 {
		round(8, false)
	}
	require.EqualValues(t, 16_000, d.Window(), "slow start goes on to twice what was under way")
	round(1, true)
	w := d.Window()
	require.Less(t, w, int64(16_000))
	for range 100 {
		round(8, false)
	}
	require.Equal(t, w, d.Window(), "room for more is no reason to grow")
	for range 20 {
		round(int(d.Window())/1000, false)
	}
	require.Greater(t, d.Window(), w+10_000, "a full window grows by a segment a round trip")
}

// TestDCTCPOfLargePackets checks that a window grows if its flow sends more than a segment at a time, such as a READ of
// many packets, and has no room for the next one.
func TestDCTCPOfLargePackets(t *testing.T) {
	const bytes = 16_000
	d := dctcp(t, 1000)
	d.Lost(0, 0, false) // slow start is over
	for range 1000 {
		n := max(1, int(d.Window()/bytes))
		for range n {
			d.Sent(0, bytes)
		}
		for range n {
			d.Acked(0, bytes, false)
		}
	}
	require.Greater(t, d.Window(), int64(10*bytes), "all packets that fit in were under way")
}

func TestGap(t *testing.T) {
	require.EqualValues(t, 80_000, Gap(1000, 100*Gbps))
	require.EqualValues(t, 26_667, Gap(1000, 300*Gbps), "rounded up")
	require.EqualValues(t, 0, Gap(1000, Unlimited))
	require.EqualValues(t, 8e12, Gap(1, 1))
	require.EqualValues(t, 1, Gap(1, Unlimited-1))
	require.Equal(t, Never, Gap(math.MaxInt32, 1), "beyond what a time can hold")
}

func TestFixed(t *testing.T) {
	f, err := NewFixed(25 * Gbps)
	require.NoError(t, err)
	f.Notified(0)
	f.Lost(0, 1, true)
	require.Equal(t, 25*Gbps, f.Rate())
	_, err = NewFixed(0)
	require.ErrorContains(t, err, "rate 0 bit/s: want 1 or more")
}

// TestSpecs checks that every error of a spec names its field.
func TestSpecs(t *testing.T) {
	err := DCQCNSpec{MinRate: 5}.Validate()
	for _, f := range []string{"line_bps", "gain_inverse", "alpha_period_ps", "timer_ps", "byte_counter",
		"fast_recovery", "cnp_interval_ps", "least_bps 5bps: want 0bps at most"} {
		require.ErrorContains(t, err, f)
	}
	s := DefaultDCQCN(40 * Gbps)
	s.AlphaPeriod = s.CNPInterval
	_, err = NewDCQCN(s)
	require.ErrorContains(t, err, "alpha_period_ps 50us: want more than 50us, cnp_interval_ps")
	_, err = NewDCTCP(DCTCPSpec{Segment: 1 << 31, Initial: 3, MaxSegments: 2, GainInverse: 0})
	for _, f := range []string{"gain_inverse 0: want 1", "initial_segments 3: want 2 at most",
		"2 segments of 2147483648 B"} {
		require.ErrorContains(t, err, f)
	}
	require.NoError(t, DefaultDCTCP(4096).Validate())
}

func TestNoAllocations(t *testing.T) {
	q, w := dcqcn(t, 40*Gbps), dctcp(t, 1000)
	m, err := NewMarker(DefaultDCQCN(40 * Gbps))
	require.NoError(t, err)
	now := Ps(0)
	for _, c := range []Controller{q, w} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			now += 20 * us
			c.Sent(now, 1000)
			c.Acked(now, 1000, true)
			if m.Arrived(now, true) {
				c.Notified(now)
			}
			c.Lost(now, 10, false)
			c.Tick(now)
		}))
	}
}
