package tlp

import "fmt"

// DWBytes is the size of a double word, the unit of a TLP's length.
const DWBytes = 4

// HeaderBytes is the size of the storage for a header: four DWs. Three-DW headers leave the last
// four bytes zero.
const HeaderBytes = 16

// MaxLengthDW is the longest payload or read that a header can name, in DWs
// (4 KB; PCIe 2.2.2).
const MaxLengthDW = 1024

// PageBytes is the boundary that no request may cross (PCIe 2.2.7).
const PageBytes = 4096

// Kind is the type of a TLP, as encoded in Fmt and Type. It does not tell the address width of a
// memory request, which is in Header.Addr64.
type Kind uint8

// The kinds of TLP this package knows. The zero Kind is not a TLP.
const (
	KindInvalid Kind = iota
	MRd              // memory read request
	MWr              // memory write request
	Cpl              // completion without data
	CplD             // completion with data
	Msg              // message without data
	MsgD             // message with data
	numKinds
)

var kindNames = [numKinds]string{"invalid", "MRd", "MWr", "Cpl", "CplD", "Msg", "MsgD"}

func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// HasData reports whether a TLP of this kind carries a payload.
func (k Kind) HasData() bool {
	const those = 1<<MWr | 1<<CplD | 1<<MsgD
	return those>>k&1 != 0
}

// IsMemory reports whether k is a memory request.
func (k Kind) IsMemory() bool { return k == MRd || k == MWr }

// IsCompletion reports whether k is a completion.
func (k Kind) IsCompletion() bool { return k == Cpl || k == CplD }

// IsMessage reports whether k is a message.
func (k Kind) IsMessage() bool { return k == Msg || k == MsgD }

// IsPosted reports whether k is a request that gets no completion.
func (k Kind) IsPosted() bool { return k == MWr || k.IsMessage() }

// Class is the flow-control class of a TLP (PCIe 2.6.1).
type Class uint8

// The flow-control classes.
const (
	Posted Class = iota
	NonPosted
	Completion
)

var classNames = [...]string{"posted", "non-posted", "completion"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// Class returns the flow-control class of a TLP of kind k.
func (k Kind) Class() Class {
	const few = len(classes) - 1
	return classes[k&Kind(few)]
}

// classes maps kinds to flow-control classes; its length is a power of two.
var classes = [8]Class{MRd: NonPosted, Cpl: Completion, CplD: Completion}

// Attr holds the three attribute bits, in the standard's numbering
// (PCIe 2.2.6.3): Attr[2] IDO, Attr[1] relaxed ordering, Attr[0] no snoop.
type Attr uint8

// The attribute bits.
const (
	NoSnoop      Attr = 1 << 0
	RelaxedOrder Attr = 1 << 1
	IDBasedOrder Attr = 1 << 2
)

const (
	attrMask    = NoSnoop | RelaxedOrder | IDBasedOrder
	attrLowMask = NoSnoop | RelaxedOrder // Attr[2] is in another byte of the header
	attrLowBits = 2
)

const (
	maxTC          = 7
	maxByteEnables = 0xf
	lowerAddrMask  = 0x7f
)

// Status is a completion's status (PCIe 2.2.9).
type Status uint8

// The completion statuses; the other codes are reserved.
const (
	StatusSC  Status = 0 // successful completion
	StatusUR  Status = 1 // unsupported request
	StatusCRS Status = 2 // configuration request retry, for configuration requests only
	StatusCA  Status = 4 // completer abort
)

func (s Status) String() string {
	switch s {
	case StatusSC:
		return "SC"
	case StatusUR:
		return "UR"
	case StatusCRS:
		return "CRS"
	case StatusCA:
		return "CA"
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Routing selects how a message finds its receiver (PCIe 2.2.8).
type Routing uint8

// The message routings; 6 and 7 are reserved.
const (
	RouteToRoot    Routing = 0
	RouteByAddress Routing = 1
	RouteByID      Routing = 2
	RouteBroadcast Routing = 3
	RouteLocal     Routing = 4
	RouteGathered  Routing = 5
	maxRouting             = 7
)

var routingNames = [...]string{"root", "address", "id", "broadcast", "local", "gathered"}

func (r Routing) String() string {
	if int(r) < len(routingNames) {
		return routingNames[r]
	}
	return fmt.Sprintf("Routing(%d)", uint8(r))
}

// The message codes of vendor-defined messages (PCIe 2.2.8.6). A receiver that does not know the
// vendor reports a Type 0 message as unsupported and drops a Type 1 message silently.
const (
	CodeVendor0 uint8 = 0x7e
	CodeVendor1 uint8 = 0x7f
)

// Header is a decoded TLP header. Which fields apply depends on Kind (see
// Header.Has); those that do not are zero when decoded and ignored when
// encoded.
type Header struct {
	Kind   Kind
	Addr64 bool // memory requests: the address takes two DWs, the header four

	TC   uint8 // traffic class, 0..7
	Attr Attr
	TD   bool // a digest follows the payload
	EP   bool // the payload is poisoned

	Length uint16 // DWs of payload, or requested by a read: 1..1024; 0 for Cpl and Msg

	RequesterID uint16 // bus 15:8, device 7:3, function 2:0
	Tag         uint8

	FirstBE uint8 // memory requests: enables of the first DW's bytes, bit 0 = lowest address
	LastBE  uint8 // memory requests: enables of the last DW's bytes, 0 if there is one DW

	VendorID uint16 // messages: header bytes 10-11, vendor of a vendor-defined message

	Address uint64 // memory requests: byte address of the first DW, a multiple of 4

	CompleterID uint16 // completions
	Status      Status // completions
	BCM         bool   // completions: byte count modified, for PCI-X bridges only
	ByteCount   uint16 // completions: bytes of the request not completed before, including this TLP's, 1..4096
	LowerAddr   uint8  // completions: bits 6:0 of the first enabled byte's address

	Code     uint8   // messages: message code
	Routing  Routing // messages
	TargetID uint16  // messages: header bytes 8-9, ID of the receiver if routed by ID
	VendorDW uint32  // messages: header bytes 12-15, defined by that vendor
}

// PayloadBytes returns the size of the payload that the header announces.
func (h *Header) PayloadBytes() int {
	if !h.Kind.HasData() {
		return 0
	}
	return int(h.Length) * DWBytes
}

// SizeDW returns the size of the encoded header: 3 or 4 DWs.
func (h *Header) SizeDW() int {
	if h.Kind.IsMessage() || h.Kind.IsMemory() && h.Addr64 {
		return 4
	}
	return 3
}

// DataCredits returns the number of flow-control data units, of 16 bytes each, that the payload
// takes (PCIe 2.6.1). The header always takes one header unit.
func (h *Header) DataCredits() int {
	const unitDW = 4
	if !h.Kind.HasData() {
		return 0
	}
	return int((uint(h.Length) + unitDW - 1) / unitDW)
}
