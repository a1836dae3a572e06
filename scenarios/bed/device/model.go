package device

import (
	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nic/boundary"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/rtlbridge"
)

// model is the Go NIC.
type model struct{ *nic.Comp }

func (s *Spec) newModel(slot board.Slot) (Device, error) {
	n := nic.DefaultSpec()
	for _, b := range []*nicspec.Build{slot.Build, s.Build} {
		if b != nil {
			n.Build = *b
		}
	}
	n.Ports, n.Freq.PeriodPs = slot.Ports, slot.Period
	if slot.EthBits != 0 {
		n.EthBits = slot.EthBits
	}
	c, err := nic.Builder{
		Scheduler: slot.Engine, Spec: n, Stalls: newStalls(&slot),
		Frames: slot.Frames, TLPs: slot.TLPs,
	}.Build(slot.Name)
	if err != nil {
		return nil, err
	}
	return model{c}, nil
}

// stalls holds a slot's stall patterns. The pattern of TLPs into the NIC has no bursts.
type stalls struct{ of, ofTLPIn inject.Stalls }

func newStalls(slot *board.Slot) *stalls {
	single := inject.Stalls{Seed: slot.Seed, Percent: slot.Stall}
	burst := single
	burst.Burst = slot.Burst
	return &stalls{burst, single}
}

// Of implements boundary.Stalls.
func (s *stalls) Of(stream string) func(cycle int64) bool {
	if stream == nic.StreamTLPIn {
		return s.ofTLPIn.Of(stream)
	}
	return s.of.Of(stream)
}

func (m model) Begin(func() bool) error { return nil }
func (m model) EthBits() int            { return m.Spec().EthBits }
func (m model) Period() simcore.Ps      { return m.Spec().Freq.Period() }
func (m model) Check() error            { return nil }
func (m model) Cycles() int64           { return m.Cycle() }
func (m model) Build() string           { return "" }
func (m model) Digest() uint64          { return 0 }
func (m model) Wall() rtlbridge.Wall    { return rtlbridge.Wall{} }
func (m model) Close() error            { return nil }

var (
	_ Device          = model{}
	_ boundary.Stalls = (*stalls)(nil)
)
