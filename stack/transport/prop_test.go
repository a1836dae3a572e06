package transport

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/stack/verbs"
)

var onlySeed = flag.Uint64("schedule", 0, "play only the schedule of this seed, with a trace")

// rcRig connects two RC ends and posts the workload of a schedule.
func rcRig(s schedule, spared map[fault]bool, trace func(string, ...any)) (*rig, [2]*plan, error) {
	return rigOf(s, spared, trace, s.conn, func(int, *plan) {})
}

// conn creates an end's connection.
func (s *schedule) conn(e *end) (Conn, error) {
	var p Pacer
	if s.paced {
		p = s.meter(e)
	}
	return New(s.spec(uint32(100+e.side)), e, p, nil)
}

// rigOf connects two ends and posts the workload of a schedule. adapt may change the workload first.
func rigOf(s schedule, spared map[fault]bool, trace func(string, ...any), conn func(*end) (Conn, error),
	adapt func(side int, p *plan)) (*rig, [2]*plan, error) {
	if trace == nil {
		trace = func(string, ...any) {}
	}
	r := &rig{schedule: s, attempts: map[fault]uint8{}, spared: spared, trace: trace, budget: 200_000}
	var plans [2]*plan
	for i := range 2 {
		r.ends[i] = &end{rig: r, side: uint8(i), mem: make([]byte, memBytes), dead: map[uint32]bool{}}
		plans[i] = s.workload(i)
		adapt(i, plans[i])
	}
	for i, e := range r.ends {
		var err error
		if e.conn, err = conn(e); err != nil {
			return nil, plans, err
		}
		copy(e.mem[remoteAt:], s.blank(1-i))
		for _, m := range plans[i].messages {
			if m.Op.IsSend() || m.Op.IsWrite() {
				scatterBytes(e, m)
			}
		}
		for _, to := range []verbs.State{verbs.QPSInit, verbs.QPSRTR, verbs.QPSRTS} {
			a := s.attr(i)
			if err := e.conn.Modify(0, to, &a); err != nil {
				return nil, plans, err
			}
		}
	}
	for i, e := range r.ends {
		r.post(e, plans[i].messages)
		r.postRecvs(e, plans[1-i])
	}
	r.interrupt()
	return r, plans, nil
}

func (s *schedule) spec(qpn uint32) Spec {
	spec := DefaultSpec(RC, qpn)
	spec.Recovery, spec.Window, spec.AckEvery, spec.ReorderPackets = s.recovery, s.window, s.ackEvery, s.slack
	spec.SprayPorts, spec.Credits, spec.EchoECN = s.spray, s.credits, s.marked > 0
	return spec
}

func (s *schedule) attr(side int) Attr {
	a := DefaultAttr()
	a.Path = path(side, s.v6)
	a.DestQP = uint32(101 - side)
	a.SendPSN, a.RecvPSN = s.psn[side], s.psn[1-side]
	a.MTU, a.Timeout, a.RetryCount, a.RNRRetry, a.MinRNR = s.mtu, s.timeout, s.retries, s.rnrs, 1
	a.MaxRead, a.MaxDestRead = s.maxRead, s.maxRead
	return a
}

// blank returns the initial memory of a side.
func (s *schedule) blank(side int) []byte {
	t := *s
	t.ops = [2]int{}
	return t.workload(side).remote
}

// scatterBytes writes a request's data to the local memory that it names.
func scatterBytes(e *end, m *message) {
	off := 0
	for _, x := range m.Spans {
		off += copy(e.at(x.Addr, x.Len), m.data[min(off, len(m.data)):])
	}
}

// post makes a side post its requests over a span of time.
func (r *rig) post(e *end, messages []*message) {
	var at Ps
	for i, m := range messages {
		if !r.burst {
			at += Ps(r.hash(uint64(e.side), 60, uint64(i)) % (3 * us))
		}
		r.after(at, func() {
			if m.Op == verbs.WRLocalInv {
				delete(e.dead, m.Imm)
			}
			if err := e.conn.Post(e.now, &m.Send); err != nil {
				e.failf("side %d: post: %v", e.side, err)
			}
			e.pull()
		})
	}
}

// postRecvs posts the receive requests for the peer's messages, late if the schedule says so.
func (r *rig) postRecvs(e *end, peer *plan) {
	var at Ps
	top := uint32(recvAt)
	for i, m := range peer.recvs {
		if r.lateRecv > 0 {
			at = max(at, Ps(r.hash(uint64(e.side), 61, uint64(i))%uint64(r.lateRecv)))
		}
		x := Recv{ID: uint64(i), Spans: r.splitSpans(top, m.recvCap, r.hash(uint64(e.side), 62, uint64(i)))}
		top += m.recvCap
		r.after(at, func() {
			if err := e.conn.PostRecv(&x); err != nil {
				e.failf("side %d: post_recv: %v", e.side, err)
			}
		})
	}
}

// interrupt changes states while messages are in flight.
func (r *rig) interrupt() {
	e := r.ends[0]
	if r.pause != 0 {
		r.after(r.pause, func() { r.modify(e, verbs.QPSSQD) })
		e.drained = func() { r.after(us, func() { r.modify(e, verbs.QPSRTS) }) }
	}
	if r.kill != 0 {
		r.after(r.kill, func() { r.modify(r.ends[1], verbs.QPSErr) })
	}
}

func (r *rig) modify(e *end, to verbs.State) {
	if err := e.conn.Modify(e.now, to, nil); err != nil && e.conn.State() != verbs.QPSErr {
		e.failf("side %d: modify to %v: %v", e.side, to, err)
	}
	e.pull()
}

// meter is a pacer with a fixed gap between packets, and a window that shrinks and grows. It checks that the connection
// obeys both.
type meter struct {
	gap, free Ps
	marks     int
	cnpDue    Ps // time at which a CNP to the peer is due; 0: none is due
	window    int64
	flight    int64
	failf     func(string, ...any)
}

// meter draws a pacer. It has a window only if every packet requests an acknowledgement: otherwise the window could
// shrink below the number of packets per acknowledgement.
func (s *schedule) meter(e *end) *meter {
	m := &meter{gap: 150_000, window: math.MaxInt64, failf: e.failf}
	if s.ackEvery == 1 {
		m.window = int64(draw(s, 28, 1, 2, 5, 40)) * int64(s.mtu)
	}
	return m
}

func (m *meter) Admit(now Ps, _, fresh int) Ps {
	if m.free > now {
		return m.free
	}
	if m.flight += int64(fresh); m.flight > m.window && m.flight > int64(fresh) && fresh > 0 {
		m.failf("%d B under way: want %d at most", m.flight, m.window)
	}
	m.free = now + m.gap
	return now
}

func (m *meter) Acked(_ Ps, n int, echo bool) {
	if m.flight -= int64(n); m.flight < 0 {
		m.failf("%d B acknowledged that were not sent", -m.flight)
	}
	if echo && m.window < math.MaxInt64 {
		m.window = max(m.window/2, 1)
	}
}

func (m *meter) CNP(now Ps) { m.free = now + 10*m.gap }

func (m *meter) Marked(now Ps) bool {
	if m.marks++; m.marks%3 == 1 {
		m.cnpDue = now + 4*m.gap
	}
	return m.marks%3 == 0
}

func (m *meter) Lost(Ps, bool) {}
func (m *meter) Window() int64 { return m.window }

func (m *meter) Deadline() Ps {
	if m.cnpDue == 0 {
		return Never
	}
	return m.cnpDue
}

func (m *meter) Expire(now Ps) bool {
	due := m.cnpDue != 0 && m.cnpDue <= now
	if due {
		m.cnpDue = 0
	}
	return due
}

// playRC plays a schedule of RC and judges it.
func playRC(s schedule, spared map[fault]bool, trace func(string, ...any)) (*rig, error) {
	r, plans, err := rcRig(s, spared, trace)
	if err != nil {
		return nil, err
	}
	for i, e := range r.ends {
		e.complete = func(c *Completion) { r.onCompletion(e, plans[i], plans[1-i], c) }
	}
	r.play()
	if r.failure == nil {
		for i, e := range r.ends {
			r.judge(e, plans[i], plans[1-i])
		}
	}
	return r, r.failure
}

// runs returns the number of schedules to play.
func runs(t *testing.T) uint64 {
	text := os.Getenv("NICTWIN_LONG")
	if text == "" {
		return 20_000
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err, "NICTWIN_LONG")
	require.Positive(t, n, "NICTWIN_LONG")
	return 100_000 * n // make test-all sets 10: a million
}

// TestSchedules plays messages over a network with faults. Each must arrive exactly once, in order and intact, or the
// connection must end as the standard says. A failure is shrunk and reported with the seed that replays it.
func TestSchedules(t *testing.T) {
	if *onlySeed != 0 {
		_, err := playRC(drawSchedule(*onlySeed), nil, t.Logf)
		require.NoError(t, err)
		return
	}
	n := runs(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var total tally
	workers := uint64(runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			var mine tally
			for seed := w + 1; seed <= n && !t.Failed(); seed += workers {
				r, err := playRC(drawSchedule(seed), nil, nil)
				if err != nil {
					t.Error(shrink(seed, err))
				} else {
					mine.add(r)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.join(&mine)
		})
	}
	wg.Wait()
	if !t.Failed() {
		total.require(t)
	}
}

// shrink removes requests and faults from a failing schedule for as long as it still fails, and describes the rest.
func shrink(seed uint64, err error) string {
	s := drawSchedule(seed)
	for side := range s.ops {
		for s.ops[side] > 0 {
			less := s
			less.ops[side]--
			if less.refuse != refuseNone && less.refuseAt >= less.ops[0] {
				break
			}
			_, e := playRC(less, nil, nil)
			if e == nil {
				break
			}
			s, err = less, e
		}
	}
	spared := map[fault]bool{}
	r, _ := playRC(s, spared, nil)
	if r == nil {
		return fmt.Sprintf("seed %d: %v", seed, err)
	}
	for _, f := range r.faults {
		spared[f] = true
		if _, e := playRC(s, spared, nil); e == nil {
			delete(spared, f)
		} else {
			err = e
		}
	}
	var log strings.Builder
	r, _ = playRC(s, spared, func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) })
	return fmt.Sprintf("seed %d (-schedule %d replays it): %v\nwith %d and %d requests and the faults %+v\n%v\n%s",
		seed, seed, err, s.ops[0], s.ops[1], r.faults, &s, &log)
}
