package verdict

import (
	"fmt"

	"nictwin/models/format/wire"
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// layout names the bytes of a header: each field begins where the previous one ends.
type layout []struct {
	name  string
	bytes int
}

func (l layout) at(off int) (string, bool) {
	for _, f := range l {
		if off < f.bytes {
			return f.name, true
		}
		off -= f.bytes
	}
	return "", false
}

var (
	etherLayout = layout{{"eth.dst", 6}, {"eth.src", 6}}
	ipv4Layout  = layout{{"ipv4.version_ihl", 1}, {"ipv4.tos", 1}, {"ipv4.length", 2}, {"ipv4.id", 2}, {"ipv4.frag", 2},
		{"ipv4.ttl", 1}, {"ipv4.proto", 1}, {"ipv4.csum", 2}, {"ipv4.src", 4}, {"ipv4.dst", 4}, {"ipv4.options", 40}}
	ipv6Layout = layout{{"ipv6.version_class_flow", 4}, {"ipv6.length", 2}, {"ipv6.next", 1}, {"ipv6.hops", 1},
		{"ipv6.src", 16}, {"ipv6.dst", 16}}
	udpLayout = layout{{"udp.src_port", 2}, {"udp.dst_port", 2}, {"udp.length", 2}, {"udp.csum", 2}}
	tcpLayout = layout{{"tcp.src_port", 2}, {"tcp.dst_port", 2}, {"tcp.seq", 4}, {"tcp.ack", 4}, {"tcp.flags", 2},
		{"tcp.window", 2}, {"tcp.csum", 2}, {"tcp.urgent", 2}, {"tcp.options", 40}}
	bthLayout = layout{{"bth.opcode", 1}, {"bth.flags", 1}, {"bth.pkey", 2}, {"bth.fecn_becn", 1}, {"bth.dest_qp", 3},
		{"bth.ack_req", 1}, {"bth.psn", 3}}
	extLayouts = map[wire.Header]layout{
		wire.HeaderRETH:  {{"reth.va", 8}, {"reth.rkey", 4}, {"reth.length", 4}},
		wire.HeaderAETH:  {{"aeth.syndrome", 1}, {"aeth.msn", 3}},
		wire.HeaderDETH:  {{"deth.qkey", 4}, {"deth.src_qp", 4}},
		wire.HeaderImmDt: {{"immdt", 4}},
		wire.HeaderIETH:  {{"ieth.rkey", 4}},
		wire.HeaderAtomicETH: {{"atomiceth.va", 8}, {"atomiceth.rkey", 4}, {"atomiceth.swap", 8},
			{"atomiceth.compare", 8}},
		wire.HeaderAtomicAckETH: {{"atomicacketh.original", 8}},
		wire.HeaderCNP:          {{"cnp.reserved", 16}},
	}
)

// FieldAt names a byte of a frame: by the field of a parsed header, "icrc", "payload+n" from the
// end of the headers, or "pad+n" after the end of the IP packet.
func FieldAt(frame []byte, h *core.Headers, off int) string {
	l3 := int(h.L3Off)
	switch {
	case len(frame) < nicspec.FrameMin:
		return fmt.Sprintf("byte %d", off)
	case off < 12:
		name, _ := etherLayout.at(off)
		return name
	case off >= l3-2 && off < l3:
		return "eth.type"
	case off < l3:
		tag, at := (off-12)/4, (off-12)%4
		return fmt.Sprintf("vlan[%d].%s", tag, [...]string{"tpid", "tci"}[at/2])
	}
	if off < int(h.PayloadOff) {
		if name, ok := headerField(frame, h, off); ok {
			return name
		}
	}
	if h.Roce && !h.L4LenBad && h.UDPLen >= 24 {
		end := int(h.L4Off) + int(h.UDPLen)
		switch {
		case off >= end:
			return fmt.Sprintf("pad+%d", off-end)
		case off >= end-4:
			return "icrc"
		}
	}
	return fmt.Sprintf("payload+%d", off-int(h.PayloadOff))
}

// headerField names a byte of the network or transport header.
func headerField(frame []byte, h *core.Headers, off int) (string, bool) {
	at := off - int(h.L3Off)
	if at < int(h.IPHdrLen) {
		if h.L3Type == nicspec.L3TypeIpv4 {
			return ipv4Layout.at(at)
		}
		return ipv6Layout.at(at)
	}
	if h.L4Off == 0 {
		return "", false
	}
	at = off - int(h.L4Off)
	if h.L4Type == nicspec.L4TypeTcp {
		return tcpLayout.at(at)
	}
	const udp, bth = 8, 12
	if at < udp {
		return udpLayout.at(at)
	}
	if at -= udp; !h.Roce {
		return "", false
	}
	if at < bth {
		return bthLayout.at(at)
	}
	return extField(h.BTHOpcode, at-bth)
}

func extField(opcode uint8, at int) (string, bool) {
	info := wire.Opcode(opcode).Info()
	for _, e := range info.Ext {
		if at < e.Size() {
			return extLayouts[e].at(at)
		}
		at -= e.Size()
	}
	return "", false
}
