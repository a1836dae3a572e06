package transport

import "net/netip"

func testPath(side int) Path { return path(side, false) }

func path(side int, v6 bool) Path {
	ip := [2]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, 2})}
	if v6 {
		ip = [2]netip.Addr{netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")}
	}
	mac := [2][6]byte{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}
	return Path{Local: Address{MAC: mac[side], IP: ip[side]}, Peer: Address{MAC: mac[1-side], IP: ip[1-side]},
		TrafficClass: 2, HopLimit: 64, SourcePort: 0xc000}
}
