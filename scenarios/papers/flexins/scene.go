package flexins

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"nictwin/models/board"
	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/study"
	"nictwin/scenarios/run"
	"nictwin/scenarios/run/stats"
)

// scene is a point of a figure: a scenario with a window in which it is measured.
type scene struct {
	name      string // of the run
	board     string // preset of the pair of servers; empty: two BlueField-3
	devices   string // as the scenario has them
	stacks    string
	workloads []string   // fields of each, without count, begin and end; they begin within a microsecond
	passing   []string   // all fields of workloads with a count and an end of their own
	payload   string     // of all workloads; empty: reused
	more      string     // further fields of the scenario, a line each
	captures  *arriving  // flow that ends on Arm cores; nil: none
	warm      simcore.Ps // from the begin of the traffic to that of the window
	window    simcore.Ps

	captureFields string // of each capture
	dir           string // folder of the captures
}

// Ends of the traffic: how long it goes on behind the window, and a number of messages that none of the flows reaches.
const (
	behind   = 20 * simcore.Microsecond
	endless  = 100_000
	leastWin = 50 * simcore.Microsecond
)

// warmUp returns the length of a warm-up. Where no claim can be judged (study.Session.Few), rings need no whole lap.
func warmUp(s *study.Session, t simcore.Ps) simcore.Ps {
	if s.Few() {
		return min(t, leastWin)
	}
	return t
}

// text returns the scenario. Its window is the session's percentage of the usual one.
func (c *scene) text(s *study.Session) string {
	window := max(c.window*simcore.Ps(s.Percent)/100, min(leastWin, c.window))
	preset := cmp.Or(c.board, s.Text("testbed"))
	var b strings.Builder
	fmt.Fprintf(&b, "name: flexins\ndescription: %q\nboard: {preset: %s}\nstacks: [%s]\n", c.name, preset, c.stacks)
	if c.devices != "" {
		fmt.Fprintf(&b, "devices: [%s]\n", c.devices)
	}
	b.WriteString("workloads:\n")
	all := slices.Clone(c.passing)
	for i, w := range c.workloads {
		begin := s.Phase(fmt.Sprint(c.name, i), simcore.Microsecond)
		all = append(all, fmt.Sprintf("count: %d, begin: %dps, end: %dps, %s", endless, begin, c.warm+window+behind, w))
	}
	for _, w := range all {
		fmt.Fprintf(&b, "- {payload: %s, seed: %d, %s}\n", cmp.Or(c.payload, "reused"), s.Seed, w)
	}
	if c.captures != nil {
		b.WriteString("background:\n")
		for port := range 2 {
			fmt.Fprintf(&b, "- {capture: %q, port: %d, %s}\n", captureOf(c.dir, port), port, c.captureFields)
		}
	}
	fmt.Fprintf(&b, "measure: {warm_up: %dps, window: %dps}\n%s", c.warm, window, c.more)
	return b.String()
}

// played holds the measurements of a point.
type played struct {
	name  string
	rate  stats.Rate // of all flows
	flows []stats.FlowRate
	times []stats.Latency
	arm   [2]float64 // rate of each server's Arm DRAM in the window, in GB/s
	host  [2]float64 // of its host DRAM
	toArm [2]float64 // rate of writes to its Arm over PCIe, in Gbps
	sim   simcore.Ps
}

// play plays scenes, several at a time, and records their runs in order.
func play(s *study.Session, scenes ...*scene) ([]*played, error) {
	all, errs := make([]*played, len(scenes)), make([]error, len(scenes))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(scenes)) {
		wg.Go(func() {
			for i := range next {
				all[i], errs[i] = scenes[i].play(s)
			}
		})
	}
	for i := range scenes {
		next <- i
	}
	close(next)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, p := range all {
		s.Logf("%s: %.4g Gbps", p.name, p.rate.Gbps)
		p.record(s)
	}
	return all, s.Err()
}

// play plays the scene.
func (c *scene) play(s *study.Session) (*played, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if c.captures != nil {
		dir, err := c.captures.captures()
		defer func() { _ = os.RemoveAll(dir) }()
		if c.dir = dir; err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	list, err := run.Parse(c.name, []byte(c.text(s)))
	if err != nil {
		return nil, err
	}
	spec := &list[0].Spec
	w := &meter{from: simcore.Ps(spec.Measure.WarmUp), to: simcore.Ps(spec.Measure.WarmUp + spec.Measure.Window)}
	p, err := list[0].Play(s.Context, run.Options{NIC: "", Unjudged: true, Stats: run.StatsSummary,
		Traffic: w.traffic, Step: w.step})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	for i := range p.Findings {
		err = errors.Join(err, fmt.Errorf("%s: %s", c.name, p.Findings[i].Text))
	}
	if err != nil {
		return nil, err
	}
	if !w.whole {
		return nil, fmt.Errorf("%s: the traffic ended before the window: want a longer one", c.name)
	}
	x := &played{name: c.name, rate: p.Stats.Total, flows: p.Stats.Flows, times: p.Stats.Latency, sim: p.Sim}
	x.arm, x.host = w.rates(nicspec.EndpointArm), w.rates(nicspec.EndpointHost)
	for i := range x.toArm {
		const perGb = 8e-9 * float64(simcore.Second)
		x.toArm[i] = float64(w.writes[1][i]-w.writes[0][i]) * perGb / float64(w.to-w.from)
	}
	return x, nil
}

// step of the traffic: run.Options.Step is called after each.
const step = simcore.Microsecond

// meter reads the DRAM counters of both servers when the window begins and when it ends.
type meter struct {
	from, to simcore.Ps
	rack     *board.Rack
	at       simcore.Ps
	reads    [2][2][2]uint64 // by end of the window, endpoint, server
	writes   [2][2]uint64    // to the Arm, by end of the window and server
	began    bool
	whole    bool
}

func (m *meter) traffic(rack *board.Rack, settled bool) {
	if !settled {
		m.rack = rack
	}
}

func (m *meter) step(int) {
	m.at += step
	if !m.began && m.at >= m.from {
		m.began, m.reads[0], m.writes[0] = true, m.read(), m.written()
	}
	if !m.whole && m.at >= m.to {
		m.whole, m.reads[1], m.writes[1] = true, m.read(), m.written()
	}
}

// read returns the bytes of the DRAM of each endpoint and server.
func (m *meter) read() (n [2][2]uint64) {
	for i, c := range m.rack.Cards() {
		for _, ep := range []int{nicspec.EndpointArm, nicspec.EndpointHost} {
			h := c.Memory.Host(ep)
			if h == nil || i > 1 {
				continue
			}
			for _, d := range h.DRAM {
				c := d.Counters()
				n[ep][i] += c.ReadBytes + c.WrittenBytes - c.LoadRead - c.LoadWritten
			}
		}
	}
	return n
}

// written returns the payload bytes of writes from each card to its Arm.
func (m *meter) written() (n [2]uint64) {
	for i, c := range m.rack.Cards() {
		if c.ArmLink != nil && i < len(n) {
			n[i] = c.ArmLink.Counters(0).In[tlp.Posted].Payload
		}
	}
	return n
}

// rates returns the rate of an endpoint's DRAM on both servers in the window, in GB/s.
func (m *meter) rates(ep int) (r [2]float64) {
	const perGB = 1e-9 * float64(simcore.Second)
	for i := range r {
		r[i] = float64(m.reads[1][ep][i]-m.reads[0][ep][i]) * perGB / float64(m.to-m.from)
	}
	return r
}
