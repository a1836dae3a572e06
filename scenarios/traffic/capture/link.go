package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Link types that contain a whole Ethernet frame (tcpdump.org/linktypes.html).
const (
	linkEthernet    = 1
	linkPPI         = 192
	linkNetanalyzer = 240
	linkTransparent = 241 // netANALYZER with the preamble
	linkMPacket     = 274

	netanalyzerHeader = 4
	fcsBytes          = 4
	frameStart        = 0xd5 // start frame delimiter: the byte between preamble and frame
	preamble          = "\x55"
	preambleMost      = 15 // maximum length in bytes; a standard preamble has 7
	ppiHeader         = 8
)

// ethernet returns the Ethernet frame in a packet and its length on the wire. It refuses a packet whose encapsulating
// header is incomplete.
func ethernet(link int, data []byte, wire int) ([]byte, int, error) {
	switch link {
	case linkEthernet:
		return data, wire, nil
	case linkPPI:
		return unPPI(data, wire)
	case linkNetanalyzer, linkTransparent:
		if len(data) < netanalyzerHeader {
			return nil, 0, fmt.Errorf("link type %d (netANALYZER): %d bytes where its header takes %d", link, len(data),
				netanalyzerHeader)
		}
		data, wire = data[netanalyzerHeader:], wire-netanalyzerHeader
		if link == linkNetanalyzer {
			return unFCS(data, wire)
		}
		return unPreamble(link, data, wire)
	case linkMPacket:
		return unPreamble(link, data, wire)
	}
	return nil, 0, refusal(link)
}

// unPPI removes the PPI header, which names the link type of the rest.
func unPPI(data []byte, wire int) ([]byte, int, error) {
	if len(data) < ppiHeader {
		return nil, 0, fmt.Errorf("link type %d (PPI): %d bytes where its header takes %d", linkPPI, len(data),
			ppiHeader)
	}
	n, inner := int(binary.LittleEndian.Uint16(data[2:])), binary.LittleEndian.Uint32(data[4:])
	if n < ppiHeader || n > len(data) {
		return nil, 0, fmt.Errorf("link type %d (PPI): a header of %d bytes in a packet of %d", linkPPI, n, len(data))
	}
	if inner != linkEthernet {
		return nil, 0, fmt.Errorf("link type %d (PPI) with %d within: only Ethernet (1) can be replayed", linkPPI,
			inner)
	}
	return data[n:], wire - n, nil
}

// unFCS removes the part of the frame check sequence that was captured.
func unFCS(data []byte, wire int) ([]byte, int, error) {
	wire = max(0, wire-fcsBytes)
	return data[:min(len(data), wire)], wire, nil
}

// unPreamble removes preamble and frame check sequence. It refuses the fragments of a preempted frame, which begin with
// other delimiters.
func unPreamble(link int, data []byte, wire int) ([]byte, int, error) {
	n := len(data) - len(bytes.TrimLeft(data, preamble))
	if n > preambleMost || n == len(data) {
		return nil, 0, fmt.Errorf("link type %d (Ethernet with preamble): no frame begins in its first %d bytes", link,
			min(len(data), preambleMost+1))
	}
	if data[n] != frameStart {
		return nil, 0, fmt.Errorf("link type %d (Ethernet with preamble): the byte behind the preamble is %#02x: "+
			"only whole frames (%#02x) can be replayed, not fragments",
			link, data[n], frameStart)
	}
	return unFCS(data[n+1:], wire-n-1)
}

// other describes a link type that cannot be replayed.
type other struct {
	name string
	lack string // what the packets of this link type lack of an Ethernet frame
	dlt  bool   // tcprewrite can convert the link type
}

const (
	noDestination = "its header has no destination address"
	noHeader      = "there is no Ethernet header in it"
)

var others = map[int]other{
	0: {"BSD loopback", noHeader, true}, 9: {"PPP", noHeader, false}, 50: {"PPP in HDLC framing", noHeader, true},
	51: {"PPPoE", noHeader, false}, 101: {"raw IP", noHeader, true}, 104: {"Cisco HDLC", noHeader, true},
	105: {"IEEE 802.11", "its header is another", true}, 108: {"OpenBSD loopback", noHeader, true},
	113: {"Linux cooked, SLL", noDestination, true}, 127: {"IEEE 802.11 with radiotap", "its header is another", true},
	178: {"Juniper Ethernet", "its header is another", true},
	197: {"Endace ERF", "its records may hold anything", false},
	228: {"raw IPv4", noHeader, false}, 229: {"raw IPv6", noHeader, false}, 239: {"Linux NFLOG", noHeader, false},
	247: {"InfiniBand", noHeader, false}, 276: {"Linux cooked, SLL2", noDestination, true},
}

// refusal explains why a link type cannot be replayed, and names a tool that converts it.
func refusal(link int) error {
	o, known := others[link]
	if !known {
		return fmt.Errorf("link type %d: only Ethernet (1) can be replayed; capture on the Ethernet interface itself",
			link)
	}
	help := "capture on the Ethernet interface itself"
	if o.dlt {
		help = "tcprewrite (of tcpreplay) makes Ethernet of it with addresses of your choice: " +
			"tcprewrite --dlt=enet --enet-dmac=MAC --enet-smac=MAC -i IN -o OUT"
	}
	return fmt.Errorf("link type %d (%s): only Ethernet (1) can be replayed, and %s; %s", link, o.name, o.lack, help)
}
