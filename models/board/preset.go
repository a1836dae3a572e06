package board

import (
	"nictwin/models/ether"
	"nictwin/models/simcore"
)

// CardPreset is a card of the papers by name, "bf2" or "bf3".
//
// BlueField-3 (bf3.link, bf3.ports, and reading 2 of the card's design): two ports, limited to 200 Gbps each by the link,
// streams of 256 bits, clock 1.1 GHz. BlueField-2 (bf2.nic): 200 Gbps; two ports of 100 Gbps, streams of 256 bits at
// 400 MHz. Ethernet latency: 150 ns, the card's share with MAC, PHY and FEC (assumption). MPS is what the Arm takes, 256
// and 128 (bf2.mtu_soc): the NIC has one for all destinations, and its reset value is 256, so that software of bf2 writes
// DEVCTL first.
func CardPreset(name string) (CardSpec, error) {
	sw, err := SwitchPreset(name)
	if err != nil {
		return CardSpec{}, err
	}
	const ethLatency, ethCredits = 150 * simcore.Nanosecond, 4096
	c := CardSpec{
		Name: "Card", Ports: 2, EthBits: 256, Period: 909, PCIe: NICLinkSpec(), Switch: sw, Endpoint: DefaultEndpoint(),
		Eth: simcore.LinkSpec{
			Latency: ethLatency, Rate: simcore.Gbps(200), Credits: ethCredits, CreditLatency: ethLatency, OverheadBytes: ether.WireOverhead,
		},
	}
	if name == "bf2" {
		c.Period, c.Eth.Rate, c.Endpoint.Limits.MPS = simcore.DefaultPeriodPs, simcore.Gbps(100), 128
	}
	return c, nil
}
