package wire

import "fmt"

// Opcode is the BTH's operation code: transport in bits 7..5, operation in
// bits 4..0 (IBTA 9.2).
type Opcode uint8

// The opcodes that this package knows (IBTA 9.2; A17 for the CNP).
const (
	RCSendFirst     Opcode = 0x00
	RCSendMiddle    Opcode = 0x01
	RCSendLast      Opcode = 0x02
	RCSendLastImm   Opcode = 0x03
	RCSendOnly      Opcode = 0x04
	RCSendOnlyImm   Opcode = 0x05
	RCWriteFirst    Opcode = 0x06
	RCWriteMiddle   Opcode = 0x07
	RCWriteLast     Opcode = 0x08
	RCWriteLastImm  Opcode = 0x09
	RCWriteOnly     Opcode = 0x0a
	RCWriteOnlyImm  Opcode = 0x0b
	RCReadRequest   Opcode = 0x0c
	RCReadRespFirst Opcode = 0x0d
	RCReadRespMid   Opcode = 0x0e
	RCReadRespLast  Opcode = 0x0f
	RCReadRespOnly  Opcode = 0x10
	RCAck           Opcode = 0x11
	RCAtomicAck     Opcode = 0x12
	RCCmpSwap       Opcode = 0x13
	RCFetchAdd      Opcode = 0x14
	RCSendLastInv   Opcode = 0x16
	RCSendOnlyInv   Opcode = 0x17

	UCSendFirst    Opcode = 0x20
	UCSendMiddle   Opcode = 0x21
	UCSendLast     Opcode = 0x22
	UCSendLastImm  Opcode = 0x23
	UCSendOnly     Opcode = 0x24
	UCSendOnlyImm  Opcode = 0x25
	UCWriteFirst   Opcode = 0x26
	UCWriteMiddle  Opcode = 0x27
	UCWriteLast    Opcode = 0x28
	UCWriteLastImm Opcode = 0x29
	UCWriteOnly    Opcode = 0x2a
	UCWriteOnlyImm Opcode = 0x2b

	UDSendOnly    Opcode = 0x64
	UDSendOnlyImm Opcode = 0x65

	CNPOpcode Opcode = 0x81
)

// Transport is the transport service of an opcode.
type Transport uint8

// Transports are numbered as in bits 7..5 of the opcode.
const (
	TransportRC  Transport = 0
	TransportUC  Transport = 1
	TransportRD  Transport = 2
	TransportUD  Transport = 3
	TransportCNP Transport = 4
	TransportXRC Transport = 5
)

func (t Transport) String() string {
	names := [...]string{"RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer 6", "manufacturer 7"}
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("Transport(%d)", uint8(t))
}

// Operation is the operation of an opcode, regardless of its transport and its position in the
// message.
type Operation uint8

// The operations of the known opcodes.
const (
	OpReserved Operation = iota
	OpSend
	OpWrite
	OpReadRequest
	OpReadResponse
	OpAck
	OpAtomicAck
	OpCmpSwap
	OpFetchAdd
	OpCNP
)

func (o Operation) String() string {
	names := [...]string{"reserved", "SEND", "WRITE", "READ_REQUEST", "READ_RESPONSE", "ACK",
		"ATOMIC_ACK", "CMP_SWAP", "FETCH_ADD", "CNP"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("Operation(%d)", uint8(o))
}

// Position is the position of a packet in its message.
type Position uint8

// The positions. Packets of operations that are never segmented have PosOnly.
const (
	PosNone Position = iota // position of reserved opcodes
	PosFirst
	PosMiddle
	PosLast
	PosOnly
)

func (p Position) String() string {
	names := [...]string{"none", "FIRST", "MIDDLE", "LAST", "ONLY"}
	if int(p) < len(names) {
		return names[p]
	}
	return fmt.Sprintf("Position(%d)", uint8(p))
}

// Starts reports whether the packet is the first of its message.
func (p Position) Starts() bool { return p == PosFirst || p == PosOnly }

// Ends reports whether the packet is the last of its message.
func (p Position) Ends() bool { return p == PosLast || p == PosOnly }

// Info returns the opcode's row of the table. For a reserved or unsupported opcode only Transport
// is set, and Known is false.
func (o Opcode) Info() OpInfo { return opTable[o] }

func (o Opcode) info() *OpInfo { return &opTable[o] }

// Transport returns bits 7..5, for reserved opcodes too.
func (o Opcode) Transport() Transport { return Transport(o >> 5) }

// String returns the opcode's name, as in "RC_WRITE_ONLY_IMM".
func (o Opcode) String() string {
	if i := o.info(); i.Known {
		return i.Name
	}
	return fmt.Sprintf("%s_0x%02x (not supported)", o.Transport(), uint8(o))
}

// ExtLen returns the total length in bytes of the extension headers that
// follow the BTH, 0 for opcodes that are not known.
func ExtLen(o Opcode) int { return int(opTable[o].ExtLen) }
