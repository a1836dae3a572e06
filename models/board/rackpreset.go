package board

import (
	"fmt"
	"slices"
	"strings"

	"nictwin/models/fabric/etherlink"
	"nictwin/models/sim/field"
	"nictwin/models/sim/simcore"
)

// Suffixes of rack presets, appended to a card's preset name.
const (
	pairSuffix  = "-pair"  // two servers with the card, back to back
	fleetSuffix = "-fleet" // a server with the card, and the client machines of the off-path study, on a switch
	rackSuffix  = "-rack"  // eight servers with the card, on a switch
)

// fleets maps the cards that the off-path study measures from client machines to their rnic models:
// BlueField-2 and the plain NIC that it is compared with. Both are of kind rnic, because their
// transport runs on the NIC.
var fleets = map[string]string{"bf2": "bluefield2", "connectx6": "connectx6"}

// RackPresetNames lists the names that RackPreset takes: a server with each card, with or without cores; two such
// servers back to back; eight with cores on a switch; and the testbeds of the off-path study (fleets) and of CEIO.
var RackPresetNames = rackPresetNames()

func rackPresetNames() []string {
	var names []string
	for _, n := range CardPresetNames {
		names = append(names, n, n+pairSuffix)
	}
	for _, n := range CardPresetNames {
		if machines[n] != "" {
			names = append(names, n+coresSuffix, n+coresSuffix+pairSuffix, n+coresSuffix+rackSuffix)
		}
	}
	for _, n := range CardPresetNames {
		if fleets[n] != "" {
			names = append(names, n+fleetSuffix)
		}
	}
	return append(names, ceFleet, cePair)
}

// RackPreset returns a server of ServerPreset with open ports; two of them back to back by cables
// of 5 m (25 ns: assumption); one with the client machines of the off-path study on a switch; eight on a switch, as a
// fleet, so that a file that names the preset may change their number; or the testbed of CEIO, whole or with one
// client.
func RackPreset(name string) (RackSpec, error) {
	if !slices.Contains(RackPresetNames, name) {
		return RackSpec{}, field.Errorf("preset", "%q: want one of %q", name, RackPresetNames)
	}
	switch name {
	case ceFleet:
		return ceioFleet()
	case cePair:
		return ceioPair()
	}
	pair, isPair := strings.CutSuffix(name, pairSuffix)
	rack, isRack := strings.CutSuffix(pair, rackSuffix)
	card, isFleet := strings.CutSuffix(rack, fleetSuffix)
	s, err := ServerPreset(card)
	if err != nil {
		return RackSpec{}, err
	}
	r := RackSpec{Name: "Rack", Servers: []ServerSpec{s}, Network: NetworkSpec{Kind: NetworkOpen}}
	switch {
	case isPair:
		err = r.pair(card)
	case isRack:
		err = r.rack()
	case isFleet:
		err = r.fleet(card)
	}
	return r, err
}

// pair adds a second server, back to back with the first.
func (s *RackSpec) pair(card string) error {
	second, err := ServerPreset(card) // a second call, as the two specs must share no part
	if err != nil {
		return err
	}
	s.Servers = append(s.Servers, second)
	for i := range s.Servers {
		s.Servers[i].Name = fmt.Sprintf("Server[%d]", i)
	}
	s.Network = NetworkSpec{Kind: NetworkBackToBack, Latency: 25 * simcore.Nanosecond}
	return nil
}

// fleet adds eleven client machines with ConnectX-4 (bf2.cli) to the server, all on a switch.
func (s *RackSpec) fleet(card string) error {
	client, err := CardPreset("connectx4")
	if err != nil {
		return err
	}
	c := &s.Servers[0].Cards[0]
	c.Device = DeviceSpec{Kind: DeviceRNIC, Model: fleets[card]}
	c.EthBits, c.Period = 0, 0 // an rnic's streams and clock cannot be set
	if c.Switch != nil {
		// An rnic has limits for each endpoint: MPS 128 to the Arm and 512 to the host (offpath.hw.mtu).
		limits := c.Switch.Host.PCIe.Ends[1] // MPS, MRRS and RCB at the root's end of the link
		c.Switch.Host.Limits = &limits
	}
	const requesters = 11 // the most in the experiments
	s.Fleet = &FleetSpec{Name: "Client", Machines: requesters, Card: client}
	return s.onSwitch()
}

// rack makes the server one of eight on a switch.
func (s *RackSpec) rack() error {
	const servers = 8
	s.Fleet = &FleetSpec{Name: s.Servers[0].Name, Machines: servers, Card: s.Servers[0].Cards[0]}
	s.Servers = nil
	return s.onSwitch()
}

// onSwitch connects all servers to a switch by cables of 2 m (10 ns): two of them and the switch's 90 ns make up
// 0.11 us one way (assumption).
func (s *RackSpec) onSwitch() error {
	sw, err := etherlink.Preset(string(etherlink.CutThrough))
	s.Network = NetworkSpec{Kind: NetworkSwitch, Latency: 10 * simcore.Nanosecond, Switch: &sw}
	return err
}
