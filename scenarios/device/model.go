package device

import (
	"nictwin/models/board"
	"nictwin/models/inject"
	"nictwin/models/nic"
	"nictwin/models/nicspec"
	"nictwin/models/simcore"
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
		Scheduler: slot.Engine, Spec: n, Stalls: &inject.Stalls{Seed: slot.Seed, Percent: slot.Stall},
		Frames: slot.Frames, TLPs: slot.TLPs,
	}.Build(slot.Name)
	if err != nil {
		return nil, err
	}
	return model{c}, nil
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

var _ Device = model{}
