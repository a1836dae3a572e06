package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/format/tlp"
	"nictwin/models/nic/nicspec"
)

const (
	nic = iota
	arm
	host
	gpu
)

func card() []Port {
	return []Port{
		nic:  {Memory: []Range{{nicspec.BarBase, nicspec.BarBytes}}, IDs: []IDRange{{0x200, 0x2ff}}},
		arm:  {Memory: []Range{{0, 1 << 56}}, IDs: []IDRange{{0, 0xff}}, Root: true},
		host: {Memory: []Range{{1 << 56, 1 << 40}}, IDs: []IDRange{{0x100, 0x100}, {0x110, 0x11f}}},
		gpu:  {Memory: []Range{{1<<56 + 1<<40, 1 << 36}}, IDs: []IDRange{{0x101, 0x101}}},
	}
}

func TestRoutes(t *testing.T) {
	table, err := NewTable(card())
	require.NoError(t, err)
	mem := func(addr uint64) tlp.Header { return tlp.Header{Kind: tlp.MWr, Address: addr} }
	rd := func(addr uint64) tlp.Header { return tlp.Header{Kind: tlp.MRd, Address: addr} }
	cpl := func(id uint16) tlp.Header { return tlp.Header{Kind: tlp.CplD, RequesterID: id, CompleterID: 0x200} }
	msg := func(r tlp.Routing, id uint16, code uint8) tlp.Header {
		return tlp.Header{Kind: tlp.Msg, Routing: r, TargetID: id, Code: code}
	}
	const v0, v1 = tlp.CodeVendor0, tlp.CodeVendor1
	for _, x := range []struct {
		name string
		in   int
		h    tlp.Header
		out  int
		want Verdict
	}{
		{"Arm memory", nic, mem(0x1000), arm, Forward},
		{"Arm memory, last byte", nic, rd(1<<56 - 4), arm, Forward},
		{"host memory", nic, rd(1 << 56), host, Forward},
		{"host memory from Arm", arm, mem(1<<56 + 64), host, Forward},
		{"GPU memory", nic, mem(1<<56 + 1<<40), gpu, Forward},
		{"BAR of the NIC", host, rd(nicspec.BarBase), nic, Forward},
		{"after the BAR", host, rd(nicspec.BarBase + nicspec.BarBytes), -1, Unsupported},
		{"back to where it came from", arm, mem(0x1000), -1, Unsupported},
		{"completion to the NIC", host, cpl(0x200), nic, Forward},
		{"completion to a function of the NIC", arm, cpl(0x2ff), nic, Forward},
		{"completion to the host's second range", nic, cpl(0x115), host, Forward},
		{"completion to nobody", nic, cpl(0x300), -1, Unexpected},
		{"completion to where it came from", nic, cpl(0x201), -1, Unexpected},
		{"message by ID", nic, msg(tlp.RouteByID, 0, v1), arm, Forward},
		{"message by ID to nobody, type 0", nic, msg(tlp.RouteByID, 0x300, v0), -1, Unsupported},
		{"message by ID to nobody, type 1", nic, msg(tlp.RouteByID, 0x300, v1), -1, Discard},
		{"message to the root", nic, msg(tlp.RouteToRoot, 0, v0), arm, Forward},
		{"message to the root from the root", arm, msg(tlp.RouteToRoot, 0, v0), -1, Unsupported},
		{"broadcast by the root", arm, msg(tlp.RouteBroadcast, 0, v1), -1, Broadcast},
		{"broadcast by another", nic, msg(tlp.RouteBroadcast, 0, v0), -1, Unsupported},
		{"local message", nic, msg(tlp.RouteLocal, 0, v0), -1, Consume},
		{"gathered message", nic, msg(tlp.RouteGathered, 0, v0), -1, Unsupported},
		{"message by address", nic, msg(tlp.RouteByAddress, 0, v0), -1, Unsupported},
	} {
		out, v := table.Route(x.in, &x.h)
		require.Equal(t, x.want, v, "%s: %v", x.name, v)
		require.Equal(t, x.out, out, x.name)
	}
}

func TestWithoutARoot(t *testing.T) {
	table, err := NewTable([]Port{{}, {}})
	require.NoError(t, err)
	_, v := table.Route(0, &tlp.Header{Kind: tlp.Msg, Routing: tlp.RouteToRoot, Code: tlp.CodeVendor0})
	require.Equal(t, Unsupported, v)
}

func TestTablesNameWhatIsWrong(t *testing.T) {
	ports := card()
	ports[arm].Memory = append(ports[arm].Memory, Range{nicspec.BarBase + 8, 4}, Range{1, 0}, Range{1 << 63, 1 << 63},
		Range{1 << 63, 1<<63 + 1})
	ports[host].Root = true
	ports[host].IDs = append(ports[host].IDs, IDRange{0x210, 0x220}, IDRange{5, 4})
	_, err := NewTable(ports)
	for _, want := range []string{
		"ports[1].memory[1] 0x200000000000008..0x20000000000000b overlaps 0x200000000000000..0x2000000000fffff of " +
			"ports[0]",
		"ports[1].memory[2] 0 bytes from 0x1: want 1 or more",
		"ports[1].memory[4] 9223372036854775809 bytes from 0x8000000000000000: want",
		"ports[2].root: ports[1] is the root already", "ports[2].ids[2] 0x210..0x220 overlaps 0x200..0x2ff of ports[0]",
		"ports[2].ids[3] 0x5 to 0x4: want the lower one first",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "memory[3]")
}
