package rdma

import (
	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/pcielink"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/papers/study"
)

// ledger returns the bytes on each link of a card per byte of payload, work and completion entries included.
func (b *bed) ledger(design string, payload uint64) *study.Ledger {
	all := func(c [3]pcielink.Count) pcielink.Count { return c[0].Plus(c[1]).Plus(c[2]) }
	card, l := b.target.card, study.NewLedger(design, payload)
	s := card.Switch
	nicOut, in := all(s.In(nicswitch.PortNIC)), pcielink.Count{}
	for _, from := range []string{nicswitch.PortArm, nicswitch.PortHost} {
		in = in.Plus(all(s.Out(from, nicswitch.PortNIC)))
	}
	for _, x := range []struct {
		where string
		c     pcielink.Count
	}{
		{"PCIe1, NIC to switch", nicOut}, {"PCIe1, switch to NIC", in},
		{"PCIe0, switch to host", all(s.Out(nicswitch.PortNIC, nicswitch.PortHost))},
		{"PCIe0, host to switch", all(s.In(nicswitch.PortHost))},
		{"Arm, switch to Arm", all(s.Out(nicswitch.PortNIC, nicswitch.PortArm))},
		{"Arm, Arm to switch", all(s.In(nicswitch.PortArm))},
	} {
		l.Add(x.where, "payload", x.c.Payload)
		l.Add(x.where, "wire", x.c.Wire)
	}
	for ep, name := range []string{nicspec.EndpointArm: "Arm", nicspec.EndpointHost: "host"} {
		if d := card.Memory.DRAM(ep); d != nil {
			n := d.Counters()
			l.Add(name+" DRAM", "reads", n.ReadBytes)
			l.Add(name+" DRAM", "writes", n.WrittenBytes)
		}
	}
	return l
}
