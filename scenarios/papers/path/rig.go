package path

import (
	"errors"
	"fmt"

	"nictwin/models/board"
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/papers/requester"
	"nictwin/scenarios/papers/study"
)

// rig is a card with a scripted NIC in its slot.
type rig struct {
	engine *simcore.Engine
	pools  board.Pools
	card   *board.Card
	nic    *requester.Requester
}

// rigSpec describes a rig.
type rigSpec struct {
	preset  string
	timed   bool // with the preset's caches and DRAM; else memories answer at once
	nic     requester.Spec
	nicGbps int64                 // rate of the shared channel; 0: as in the preset
	adapt   func(*board.CardSpec) // applies further changes to the preset; nil: none
}

func newRig(s rigSpec) (*rig, error) {
	c, err := board.CardPreset(s.preset)
	if err != nil {
		return nil, err
	}
	c.Endpoint.Limits.MPS = s.nic.MPS[nicspec.EndpointArm]
	host := c.Endpoint.Limits
	host.MPS = s.nic.MPS[nicspec.EndpointHost]
	c.Switch.Host.Limits = &host
	c.Endpoint.Ahead = 0 // the root complex requests all bytes of a read from memory at once
	if !s.timed {
		c.Switch.Arm.MemorySpec, c.Switch.Host.MemorySpec = board.MemorySpec{}, board.MemorySpec{}
	}
	if s.nicGbps != 0 {
		c.Switch.NICRate = simcore.Gbps(s.nicGbps)
	}
	if s.adapt != nil {
		s.adapt(&c)
	}
	r := &rig{engine: simcore.NewEngine()}
	r.card, err = board.NewCard(r.engine, &r.pools, c, requester.Factory(s.nic, &r.nic))
	return r, err
}

// finish runs until nothing is in flight, and checks that no component lost a byte.
func (r *rig) finish() error {
	if err := r.engine.Run(); err != nil {
		return err
	}
	return errors.Join(r.check(), r.nic.Err(), r.card.Err())
}

func (r *rig) check() error {
	in, out := r.card.Switch.Balance()
	errs := []error{study.Balance("switch", in.Wire, out.Wire),
		study.Balance("switch, payload", in.Payload, out.Payload)}
	for _, l := range []*pcielink.Link{r.card.HostLink, r.card.ArmLink} {
		for end := 0; l != nil && end < 2; end++ {
			c := l.Counters(end)
			took, gave := all(c.In), all(c.Out)
			errs = append(errs, study.Balance(fmt.Sprintf("%s from end %d", l.Name(), end), took.Wire,
				gave.Wire+l.Held(end).Wire))
		}
	}
	for ep := range requester.Endpoints {
		if c := r.card.Memory.Cache(ep); c != nil {
			st := c.Stats()
			errs = append(errs, study.Balance("cache", st.AcceptedBytes, st.FinishedBytes+st.Held))
		}
		if d := r.card.Memory.DRAM(ep); d != nil {
			n := d.Counters()
			errs = append(errs, study.Balance("DRAM", n.ReadBytes+n.WrittenBytes, n.FinishedBytes+n.Held))
		}
	}
	return errors.Join(errs...)
}

func all(c [3]pcielink.Count) pcielink.Count { return c[0].Plus(c[1]).Plus(c[2]) }

// links counts TLPs and bytes on the card's links, numbered as in the study: PCIe1 is between NIC and switch, PCIe0
// between switch and host. Directions are as seen from the NIC.
type links struct {
	nicOut, nicIn     pcielink.Count // on PCIe1, between NIC and switch
	hostOut, hostIn   pcielink.Count // on PCIe0, between switch and host
	armOut, armIn     pcielink.Count // on the link between switch and Arm
	armToNIC, nicHost pcielink.Count // the part of nicIn that comes from the Arm, and the part of nicOut to the host
}

func (r *rig) links() (l links) {
	s := r.card.Switch
	l.nicOut = all(s.In(nicswitch.PortNIC))
	for _, from := range []string{nicswitch.PortArm, nicswitch.PortHost, ""} {
		l.nicIn = l.nicIn.Plus(all(s.Out(from, nicswitch.PortNIC)))
	}
	l.armToNIC = all(s.Out(nicswitch.PortArm, nicswitch.PortNIC))
	l.nicHost = all(s.Out(nicswitch.PortNIC, nicswitch.PortHost))
	l.armOut, l.armIn = all(s.Out(nicswitch.PortNIC, nicswitch.PortArm)), all(s.In(nicswitch.PortArm))
	l.hostOut, l.hostIn = l.nicHost, all(s.In(nicswitch.PortHost))
	return l
}

// ledger returns the bytes on each link, per byte of payload.
func (r *rig) ledger(design string, payload uint64) *study.Ledger {
	l, b := r.links(), study.NewLedger(design, payload)
	for _, x := range []struct {
		where string
		c     pcielink.Count
	}{
		{"PCIe1, NIC to switch", l.nicOut}, {"PCIe1, switch to NIC", l.nicIn}, {"PCIe0, switch to host", l.hostOut},
		{"PCIe0, host to switch", l.hostIn}, {"Arm, switch to Arm", l.armOut}, {"Arm, Arm to switch", l.armIn},
	} {
		b.Add(x.where, "payload", x.c.Payload)
		b.Add(x.where, "wire", x.c.Wire)
	}
	if n := r.nic.Counters(); n.NetIn+n.NetOut > 0 {
		b.Add("network, in", "wire", n.NetIn)
		b.Add("network, out", "wire", n.NetOut)
	}
	for ep, name := range []string{"Arm", "host"} {
		if c := r.card.Memory.Cache(ep); c != nil {
			n := c.Counters()
			t := n.Sum()
			bookCache(b, name+" LLC", t.WriteHits*mem.LineBytes, t.ReadHits*mem.LineBytes, t.FillBytes(),
				t.WriteBackBytes())
		}
		if d := r.card.Memory.DRAM(ep); d != nil {
			n := d.Counters()
			b.Add(name+" DRAM", "reads", n.ReadBytes)
			b.Add(name+" DRAM", "writes", n.WrittenBytes)
		}
	}
	return b
}

func bookCache(b *study.Ledger, where string, writeHits, readHits, fills, writeBacks uint64) {
	b.Add(where, "write hits", writeHits)
	b.Add(where, "read hits", readHits)
	b.Add(where, "fills", fills)
	b.Add(where, "write-backs", writeBacks)
}

// arm and host return a location in the Arm's and in the host's memory, for transfers.
func arm(offset uint64) requester.Place {
	return requester.Memory(mem.Bus(nicspec.EndpointArm, offset))
}
func host(offset uint64) requester.Place {
	return requester.Memory(mem.Bus(nicspec.EndpointHost, offset))
}

// pattern fills bytes so that no two lines are equal.
func pattern(b []byte, seed uint64) {
	for i := range b {
		x := (uint64(i)/tlp.DWBytes + seed) * 0x9e3779b97f4a7c15
		b[i] = byte(x >> (56 - 8*(i%tlp.DWBytes)))
	}
}
