package play

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"nictwin/models/ref"
	"nictwin/rtlbridge/protocol"
)

// Settings describes a run except for its transactions. It follows from the seed, the manifest and Given.
type Settings struct {
	// NAME=VALUE of each parameter of the build that was drawn or given
	Parameters []string          `json:"parameters,omitempty"`
	TieOffs    map[string]uint64 `json:"tie_offs,omitempty"` // values of the inputs whose tie-off is drawn or given
	Clocks     []ClockSetting    `json:"clocks"`
	Gaps       bool              `json:"gaps"`             // there are gaps between transactions
	Streams    []StreamSetting   `json:"streams"`          // streams that can stall
	Resets     []int             `json:"resets,omitempty"` // transactions taken before each reset; nil: no resets
}

// ClockSetting is the period and phase of a clock.
type ClockSetting struct {
	Signal   string `json:"signal"`
	PeriodPs int64  `json:"period_ps"`
	PhasePs  int64  `json:"phase_ps"` // phase relative to the first clock
	Drawn    bool   `json:"drawn"`    // drawn from the seed; else given by the user
}

// StreamSetting describes how a stream stalls.
type StreamSetting struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Stall int    `json:"stall"` // percent of cycles
	Burst int    `json:"burst"` // cycles for which one draw decides whether the stream stalls
	// Of an input: the number of drawn transactions that are offered later than possible, and the longest such delay in
	// cycles.
	Gaps       int    `json:"gaps"`
	LongestGap uint64 `json:"longest_gap"`
}

// StallSetting is the stall of a stream that the user gives.
type StallSetting struct{ Percent, Burst int }

// Given holds settings that replace drawn ones. All other settings stay as they would be without it.
type Given struct {
	Parameters map[string]string // parameters of the top module, in place of the manifest's
	TieOffs    map[string]uint64
	Clocks     map[string]ClockSetting
	Stalls     map[string]StallSetting
	Resets     []int // taken transactions before each reset; nil: drawn, empty: no reset
}

// Lines formats the settings as text, one per line.
func (s *Settings) Lines() (list []string) {
	add := func(format string, a ...any) { list = append(list, fmt.Sprintf(format, a...)) }
	for _, p := range s.Parameters {
		add("parameter %s", p)
	}
	for _, n := range slices.Sorted(maps.Keys(s.TieOffs)) {
		add("tie_off %s=%d", n, s.TieOffs[n])
	}
	for _, c := range s.Clocks {
		add("clock %s %d ps, phase %d ps", c.Signal, c.PeriodPs, c.PhasePs)
	}
	for i := range s.Streams {
		add("stream %s: %s, %s", s.Streams[i].Name, s.Streams[i].stall(), s.Streams[i].gap())
	}
	if len(s.Resets) > 0 {
		add("%s", s.resets())
	}
	return list
}

// String formats the settings in one line, without parameters, listing only streams that stall.
func (s *Settings) String() string {
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(s.TieOffs)) {
		parts = append(parts, fmt.Sprintf("%s=%d", n, s.TieOffs[n]))
	}
	for _, c := range s.Clocks {
		if c.Drawn {
			parts = append(parts, fmt.Sprintf("%s %d+%d ps", c.Signal, c.PeriodPs, c.PhasePs))
		}
	}
	quiet := len(parts)
	for i := range s.Streams {
		x := &s.Streams[i]
		if x.Stall > 0 {
			parts = append(parts, x.Name+" "+x.stall())
		}
		if x.Gaps > 0 {
			parts = append(parts, x.Name+" "+x.gap())
		}
	}
	if len(parts) == quiet {
		parts = append(parts, "no stalls, no gaps")
	}
	if len(s.Resets) > 0 {
		parts = append(parts, s.resets())
	}
	return strings.Join(parts, "; ")
}

func (s *StreamSetting) stall() string {
	if s.Stall == 0 {
		return "no stalls"
	}
	return fmt.Sprintf("stalls %d%% in bursts of %d", s.Stall, s.Burst)
}

func (s *StreamSetting) gap() string {
	if s.Gaps == 0 {
		return "no gaps"
	}
	return fmt.Sprintf("%d gaps of up to %d cycles", s.Gaps, s.LongestGap)
}

func (s *Settings) resets() string {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Resets), " ", ", "), "[]")
	return fmt.Sprintf("resets after %s transactions taken", list)
}

// begin draws the run's settings and transactions, and starts the device.
func (p *played) begin(ctx context.Context) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p.Manifest.Name)) // a hash never fails
	rng := rand.New(rand.NewPCG(p.Seed, h.Sum64()))
	m := p.drawTiming(rng)
	p.give(&m)
	start := p.start(rng, &m)
	p.judge = p.newJudge(ctx, rng.Uint64(), m.plain())
	p.offerDrawn(rng, m.gaps)
	if err := p.judge.Err(); err != nil {
		return err
	}
	if err := p.planResets(rng); err != nil {
		return err
	}
	p.running = true
	p.patience = p.wait(&m)
	start.Watchdog = uint64(p.Spec.Fair)
	p.describe(&m, &start)
	return p.conn.Start(start)
}

// give replaces drawn settings by given ones. The stall that the manifest declares for a stream remains an upper limit.
func (p *played) give(m *timing) {
	for i, s := range p.streams {
		if !p.pauses(i) {
			continue
		}
		if p.Stall >= 0 {
			m.stall[i] = p.Stall
			if own := p.ownStall(s); own.given() {
				m.stall[i] = min(p.Stall, int(own.most()))
			}
		}
		if x, ok := p.Given.Stalls[s.Name]; ok {
			m.stall[i], m.burst[i] = x.Percent, bits.Len(uint(x.Burst))-1
		}
	}
	m.gaps = m.gaps && !p.NoGap
}

// pauses reports whether a stream can stall. Streams of kind level cannot, nor can outputs without
// a ready signal.
func (d *Device) pauses(i int) bool {
	return d.streams[i].Kind != ref.Level && (d.streams[i].In || d.hello.Streams[i].Ready)
}

// offerDrawn draws the transactions of the run and queues those that are kept.
func (p *played) offerDrawn(rng *rand.Rand, gaps bool) {
	jobs := p.jobs // number of jobs of the reference; transactions are numbered after them
	p.Offered = jobs
	for _, x := range p.draw(rng, p.judge, gaps, p.Cut) {
		x.id += jobs
		p.Offered = x.id + 1
		// the value of a level at power-up
		power := p.streams[x.stream].Kind == ref.Level && len(p.queues[x.stream].drawn) == 0
		q := &p.queues[x.stream]
		gap := x.at - q.at
		q.at = x.at
		if kept(p.Keep, x.id) {
			if gap > 0 {
				q.gaps, q.longest = q.gaps+1, max(q.longest, gap)
			}
			p.began = append(p.began, x.id)
		} else if !power {
			continue
		}
		p.queue(x)
	}
}

// start describes the power-up of the device.
func (p *played) start(r *rand.Rand, m *timing) protocol.Start {
	s := p.conn.NewStart(r.Uint64())
	s.Poison = true
	for i := range s.Streams {
		s.Streams[i].StallPercent, s.Streams[i].BurstLog2 = m.stall[i], m.burst[i]
		s.Streams[i].MaxBytes = protocol.MaxDataBytes
		if !p.streams[i].In {
			s.Streams[i].MaxBytes = p.Spec.Longest
		}
	}
	for i := range p.hello.Clocks {
		period, phase := p.clock(r, i)
		if i == 0 {
			s.PeriodPs = period
			continue
		}
		s.Clocks[i-1] = protocol.ClockStart{PeriodPs: period, PhasePs: phase}
	}
	for i, t := range p.hello.Ties {
		v := p.Spec.TieOffs[t.Name]
		x, given := p.Given.TieOffs[t.Name]
		if v.given() {
			if drawn := v.draw(r); !given {
				x = drawn
			}
			given = true
		}
		if given {
			s.Ties = append(s.Ties, protocol.TieValue{Index: i, Value: x})
		}
	}
	return s
}

// clock draws period and phase of a clock, or takes those given.
func (p *played) clock(r *rand.Rand, i int) (period, phase int64) {
	c := &p.hello.Clocks[i]
	period = c.PeriodPs
	if v := p.Spec.Clocks[c.Name]; v.given() {
		period = int64(v.draw(r))
	}
	if i > 0 {
		phase = r.Int64N(period)
	}
	if x, ok := p.Given.Clocks[c.Name]; ok {
		return x.PeriodPs, x.PhasePs
	}
	return period, phase
}

// describe records the settings of the run.
func (p *played) describe(m *timing, start *protocol.Start) {
	s := &p.Settings
	s.Parameters, s.Resets, s.Gaps = p.parameters, p.resets, m.gaps
	if s.Resets == nil && p.Spec.Resets.given() {
		s.Resets = []int{}
	}
	for i, c := range p.hello.Clocks {
		v := p.Spec.Clocks[c.Name]
		_, given := p.Given.Clocks[c.Name]
		k := ClockSetting{Signal: c.Name, PeriodPs: start.PeriodPs, Drawn: i > 0 || given || v.given()}
		if i > 0 {
			k.PeriodPs, k.PhasePs = start.Clocks[i-1].PeriodPs, start.Clocks[i-1].PhasePs
		}
		s.Clocks = append(s.Clocks, k)
	}
	for _, t := range start.Ties {
		if s.TieOffs == nil {
			s.TieOffs = map[string]uint64{}
		}
		s.TieOffs[p.hello.Ties[t.Index].Name] = t.Value
	}
	s.Streams = []StreamSetting{}
	for i, x := range p.streams {
		if !p.pauses(i) {
			continue
		}
		q := &p.queues[i]
		k := StreamSetting{Name: x.Name, Dir: direction(x), Stall: m.stall[i], Gaps: q.gaps, LongestGap: q.longest}
		if k.Stall > 0 {
			k.Burst = 1 << m.burst[i]
		}
		s.Streams = append(s.Streams, k)
	}
	p.fair = newFairness(p.Spec.Fair, p.hello, s.Clocks)
	p.trace("# seed %d\n", p.Seed)
	for _, l := range s.Lines() {
		p.trace("# %s\n", l)
	}
}
