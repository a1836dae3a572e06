package board

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Every preset must be valid, equal its golden file, and be read back from that file unchanged.
func TestPresetsAreFiles(t *testing.T) {
	for _, name := range RackPresetNames {
		t.Run(name, func(t *testing.T) {
			s, err := RackPreset(name)
			require.NoError(t, err)
			require.NoError(t, s.Validate())
			text, err := specfile.Marshal(s)
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				require.NoError(t, os.WriteFile(golden, text, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(text), "go test -update writes it anew")
			back, err := ParseRack(golden, want)
			require.NoError(t, err)
			require.Equal(t, s, back)
			short, err := ParseRack("short", []byte("preset: "+name))
			require.NoError(t, err)
			require.Equal(t, s, short)
		})
	}
}

// A board file overrides single fields of a preset, at any depth, and keeps the others.
func TestFilesOverPresets(t *testing.T) {
	s, err := ParseRack("rack.yaml", []byte(`
name: Lab
servers:
- preset: bf3
  name: A
  cards:
  - preset: bf3
    device: {kind: rtl, dut: nic}
    switch:
      preset: bf3
      arm: {cache: null, dram: {preset: bf3-440, banks: 32}}
- {preset: connectx6, name: B}
fleet: {machines: 3, card: {preset: connectx4}}
`))
	require.NoError(t, err)
	card := s.Servers[0].Cards[0]
	require.Equal(t, DeviceSpec{Kind: DeviceRTL, DUT: "nic"}, card.Device)
	require.Nil(t, card.Switch.Arm.Cache)
	require.Equal(t, 32, card.Switch.Arm.DRAM.Banks)
	require.EqualValues(t, 440_000, card.Switch.Arm.DRAM.Mixed)
	require.NotNil(t, card.Switch.Arm.PCIe, "as the preset has it")
	require.Len(t, s.All(), 5)
	require.Equal(t, "Client[2]", s.All()[4].Name)
	require.Equal(t, NetworkOpen, s.Network.Kind)
}

func TestFilesThatAreWrong(t *testing.T) {
	for _, x := range [][2]string{
		{"name: Lab", "f.yaml:1: servers: none: want one or more"},
		{"preset: bf4", `f.yaml:1: preset "bf4": want one of ["bf2" "bf2-pair" "bf3"`},
		{"servers:\n- {preset: bf9}", `f.yaml:2: servers[0].preset "bf9": want one of`},
		{"servers:\n- {cards: [{}]}", "f.yaml:2: servers[0].cards[0].endpoint.arm_bytes 0: want"},
		{"preset: bf3\nname: lab", `f.yaml:2: name "lab": want a capital letter`},
		{"preset: bf3\nnetwork: {kind: ring}", `f.yaml:2: network.kind "ring": want open, back_to_back or switch`},
		{"preset: bf3\nnetwork: {kind: back_to_back}",
			"f.yaml:2: network.kind back_to_back: there are 1 cards: want 2"},
		{"preset: bf3\nnetwork: {kind: switch}", "network.switch: want one for kind switch, and else none"},
		{"preset: bf3\nnetwork: {switch: {preset: cut-through}}",
			"network.switch: want one for kind switch, and else none"},
		{"preset: bf3\nnetwork: {kind: switch, switch: {preset: ring}}",
			`f.yaml:2: network.switch.preset: etherlink: preset is "ring": want one of ["cut-through" ` +
				`"store-and-forward"]`},
		{"preset: bf2-fleet\nnetwork: {switch: {ports: 12}}",
			"f.yaml:2: network.switch.ports 12: the cards have 13: want as many or more, or 0 for as many"},
		{"preset: bf2-fleet\nnetwork: {switch: {alpha: -1}}",
			"f.yaml:2: network.switch.alpha -1: want more than 0, up to 1024"},
		{"preset: bf2-fleet\nfleet: {card: {eth: {rate: {bytes: 0, ps: 0}}}}",
			"f.yaml:1: network.kind switch: card Card has no eth.rate: want one"},
		{"preset: bf3\nservers:\n- preset: bf3\n  cards: [{preset: bf3, switch: {preset: bf3, host: {limits: " +
			"{mps: 1024, mrrs: 1024, rcb: 64}}}}]",
			"switch.host.pcie.ends: MPS 512 is less than the 1024 of the root (limits.mps)"},
		{"preset: bf3-cores\nservers: [{preset: bf3, cards: [{preset: bf3-cores, endpoint: {arm_bytes: 4096}}]}]",
			"switch.arm.host.socket_bytes 1073741824 in 1 sockets: want the 4096 of the endpoint in all"},
		{"preset: bf3\nservers: [{preset: bf3, cards: [{preset: bf3, switch: {host: {cache: null, dram: null, " +
			"host: {preset: bf3}}}}]}]",
			"switch.host.host.base 0x0: want 0x100000000000000, where the memory of this endpoint is"},
		{"preset: bf3\nservers: [{preset: bf3, cards: [{preset: bf3, switch: {host: {host: {preset: " +
			"host-fn}}}}]}]",
			"switch.host.host: it has cache and DRAM of its own: want null for " +
				"servers[0].cards[0].switch.host.cache and"},
		{"servers:\n- {preset: connectx4, cards: [{preset: connectx4, direct: {loads: [{}]}}]}",
			"f.yaml:2: servers[0].cards[0].direct.loads[0]: memory answers at once: want " +
				"servers[0].cards[0].direct.dram or servers[0].cards[0].direct.host to load, or no load"},
		{"servers:\n- {preset: connectx7, cards: [{preset: connectx7, device: {kind: model, model: ''}}]}",
			`f.yaml:2: servers[0].cards[0].direct.pcie: a NIC of kind "model" cannot be at the end of a link with ` +
				"credits by class: want servers[0].cards[0].direct.fabric in its place"},
		{"servers:\n- preset: bf2\n  memory: {bytes: 0x40000000}\n  cards: [{preset: bf2, switch: {host: " +
			"{cache: null, dram: null, loads: [{}]}}}]",
			"f.yaml:4: servers[0].cards[0].switch.host.loads: want none: the server has a memory that its cards share"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3-cores, switch: {arm: {host: {dsa: {preset: host-fn}}}}}]}",
			"f.yaml:2: servers[0].cards[0].switch.arm.host.dsa: want none: only servers have a copy engine"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3-cores, switch: {host: {host: {dsa: {preset: host-op}}}}}]}",
			`f.yaml:2: servers[0].cards[0].switch.host.host.dsa.preset: dsa: preset is "host-op": want host-fn`},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3-cores, switch: {host: {host: {dsa: {queue: 0}}}}}]}",
			"f.yaml:2: servers[0].cards[0].switch.host.host.dsa.engines 0: want 1 to 64"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, bond: {cables: 2}}]}",
			"f.yaml:2: servers[0].cards[0].bond: want none: a network of kind open has no cables"},
		{"servers:\n- {preset: bf3, name: A, cards: [{preset: bf3, bond: {cables: 9}}]}\n- {preset: bf3, name: B}\n" +
			"network: {kind: back_to_back}", "f.yaml:2: servers[0].cards[0].bond.cables 9: want 2 to 8"},
		{"servers:\n- {preset: bf3, name: A, cards: [{preset: bf3, bond: {cables: 2}}]}\n- {preset: bf3, name: B}\n" +
			"network: {kind: back_to_back}",
			"f.yaml:4: network.kind back_to_back: the cards have 4 and 2 cables: want as many"},
		{"preset: bf2-fleet\nfleet: {card: {bond: {cables: 2}}}\nnetwork: {switch: {ports: 13}}",
			"f.yaml:3: network.switch.ports 13: the cards have 24: want as many or more"},
		{"preset: bf2-fleet\nfleet: {card: {bond: {cables: 2}}}\nnetwork: {switch: {lags: [[4, 5]]}}",
			"network.switch.lags[2] port 4: want one of its ports, from 0, in one LAG only"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, second: {device: {kind: rnic, model: connectx7}, " +
			"ports: two}}]}",
			`f.yaml:2: servers[0].cards[0].second.ports "two": want none: a second device has only loopback`},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, second: {device: {kind: model}}}]}",
			`f.yaml:2: servers[0].cards[0].second.device.kind "model": want rnic: the contract gives its NIC one`},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, second: {ports: none}}]}",
			`f.yaml:2: servers[0].cards[0].second.device.kind "": want rnic: the contract gives`},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, second: {device: {kind: rnic}}}]}",
			`f.yaml:2: servers[0].cards[0].second.device.model "": want one for kind rnic`},
		{"servers:\n- {preset: connectx7, cards: [{preset: connectx7, second: {device: {kind: rnic, model: " +
			"connectx7}}}]}",
			"f.yaml:2: servers[0].cards[0].second: want none, or a card with a PCIe switch (servers[0].cards[0].sw"},
		{"servers: [{preset: connectx4-cores}]",
			`servers[0].preset "connectx4-cores": no paper measures cores of its server`},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, period_ps: 1}]}",
			"f.yaml:2: servers[0].cards[0].period_ps 1: want 2 to 1000000000, or 0 for the NIC's own"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, period_ps: 1000001}]}",
			"f.yaml:2: servers[0].cards[0].period_ps 1000001: want the 1000 cycles in which a NIC answers " +
				"within servers[0].cards[0].endpoint.reg_timeout_ps 1000000000"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, endpoint: {reg_timeout_ps: 9}}]}",
			"f.yaml:2: servers[0].cards[0].endpoint.reg_timeout_ps: conflicts with a value that the file does " +
				"not set: servers[0].cards[0].period_ps 909: want the 1000 cycles"},
		{"servers:\n- {preset: bf3, cards: [{preset: bf3, period_ps: 0, endpoint: {reg_timeout_ps: 9}}]}",
			"cards[0].endpoint.reg_timeout_ps 9: want 2500000 or more, the 1000 cycles in which a NIC answers"},
		{"preset: bf3\nnetwork: {latency_ps: -1}", "f.yaml:2: network.latency_ps -1: want 0 to 100 ms"},
		{"preset: bf3\nfleet: {machines: 17, card: {preset: connectx4}}", "f.yaml:2: fleet.machines 17: want 1 to 16"},
		{"preset: bf3-cores-rack\nfleet: {name: 2nd}", `f.yaml:2: fleet.name "2nd": want ` + wantName},
		{"preset: bf3-cores-rack\nfleet: null", "f.yaml:1: servers: none: want one or more"},
		{"servers:\n- preset: bf3\n  name: A\n- preset: bf3\n  name: A",
			`f.yaml:5: servers[1].name "A": servers[0] has that name already`},
		{"servers:\n- preset: bf3\n  cards:\n  - preset: bf3\n    device: {kind: fpga}",
			`f.yaml:5: servers[0].cards[0].device.kind "fpga": want model, rtl, address or rnic`},
		{"servers:\n- cards:\n  - preset: bf3\n    device: {kind: rnic}",
			`f.yaml:4: servers[0].cards[0].device.model "": want one for kind rnic`},
		{"servers:\n- cards:\n  - preset: bf3\n    device: {kind: address}",
			`servers[0].cards[0].device.address "": want one for kind address`},
		{"servers:\n- cards:\n  - preset: bf3\n    device: {kind: model, dut: x}",
			`device.dut "x": a device of kind "model" has none`},
		{"servers:\n- cards:\n  - preset: bf3\n    direct: {}",
			"servers[0].cards[0].direct: want either it or servers[0].cards[0].switch"},
		{"servers:\n- cards:\n  - preset: bf3\n    switch:\n      host:\n        cache: {preset: bf2}",
			"f.yaml:6: servers[0].cards[0].switch.host.cache.preset: armcache: BlueField-2 has no cache"},
		{"servers:\n- cards:\n  - preset: bf3\n    switch:\n      host:\n        cache: {ways: 0}",
			"f.yaml:6: servers[0].cards[0].switch.host.cache.ways 0: want"},
	} {
		text, want := x[0], x[1]
		_, err := ParseRack("f.yaml", []byte(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

// A file of random bytes must either parse and be the same after a round trip through YAML, or be refused with an error
// that begins with the file's name.
func FuzzParseRack(f *testing.F) {
	for _, name := range RackPresetNames {
		text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		require.NoError(f, err)
		f.Add(text)
		f.Add([]byte("preset: " + name))
	}
	f.Add([]byte("servers: [{preset: bf3, cards: [{preset: bf2, switch: {arm: {fabric: null}}}]}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseRack("f.yaml", text)
		if err != nil {
			require.Regexp(t, `^f\.yaml(:\d+)?: `, err.Error())
			return
		}
		again, err := specfile.Marshal(s)
		require.NoError(t, err)
		back, err := ParseRack("again", again)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}

// BlueField-3's streams, links and read tags must carry the full rate of its Ethernet ports, and its reads must fit
// the latency budget of docs/board.md.
func TestBF3CarriesItsPorts(t *testing.T) {
	c, err := CardPreset("bf3")
	require.NoError(t, err)
	require.Equal(t, []int{2, 256}, []int{c.Ports, c.EthBits})
	require.LessOrEqual(t, c.Period, simcore.Ps(909), "1.1 GHz or more")
	require.Equal(t, simcore.Gbps(200), c.Eth.Rate)
	require.GreaterOrEqual(t, c.Endpoint.Limits.MRRS, 512)
	require.Equal(t, []int{256, 512}, []int{c.Switch.Arm.PCIe.Ends[1].MPS, c.Switch.Host.PCIe.Ends[1].MPS})
	read := func(d *Downlink) simcore.Ps { // a read, both ways: NIC-side link, switch, link; root, cache, DRAM
		return 2*(c.PCIe.Latency+c.Switch.Latency+d.PCIe.Latency) + d.ReadLatency + d.Cache.HitLatency + d.DRAM.Latency
	}
	const tags, gbps = 256, 400 // read tags are 8 bits
	trip := max(read(&c.Switch.Arm), read(&c.Switch.Host))
	require.GreaterOrEqual(t, int64(tags*c.Endpoint.Limits.MRRS), int64(trip)*gbps/8000,
		"tags times MRRS cover bandwidth times round trip")
	for _, end := range []struct {
		name     string
		d        *Downlink
		low, top simcore.Ps // budget of a read behind the NIC's link, both ways, in ns (docs/board.md)
	}{{"Arm", &c.Switch.Arm, 120, 250}, {"host", &c.Switch.Host, 80, 150}} {
		after := end.d.Cache.HitLatency + end.d.DRAM.Latency
		if end.name == "Arm" {
			after += end.d.PCIe.Latency + end.d.ReadLatency
		}
		require.True(t, after >= end.low*simcore.Nanosecond && after <= end.top*simcore.Nanosecond, "%s: %v", end.name,
			after)
	}
}
