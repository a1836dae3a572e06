package rnicspec

import "fmt"

func name(names []string, i int, typ string) string {
	if i >= 0 && i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", typ, i)
}

// QPType is the transport service of a queue pair.
type QPType uint8

// Values of QPType.
const (
	RC  QPType = iota // reliable connection
	UC                // unreliable connection
	UD                // unreliable datagram
	Raw               // whole Ethernet frames
	NumQPTypes
)

func (t QPType) String() string { return name([]string{"RC", "UC", "UD", "raw"}, int(t), "QPType") }

// Opcode is the operation of a work entry. Its completion entry repeats it.
type Opcode uint8

// Values of Opcode. Those from Recv on occur in completion entries only.
const (
	Send Opcode = iota
	SendImm
	Write
	WriteImm
	Read
	CmpSwap
	FetchAdd
	Recv
	RecvWrite // a WRITE with immediate data consumed a receive entry

	// Events, which are not the outcome of an entry. ID is the number of the object.
	EventSRQLimit // a shared receive queue has fewer entries than its limit
	EventLastWQE  // queue pair QPN has failed, and takes no more entries from its shared receive queue

	// Events of accounts; ID is the number of the account, Bytes the number of slow packets that wait.
	EventSlow    // the account ran out of credits or, with HasImm, a message is whole but for slow packets
	EventBlocked // a READ, an atomic, or a packet without a free slot waits for slow packets
	EventDrained // the copies that AccountDrain requested have ended; Imm is their number
	NumOpcodes
)

func (o Opcode) String() string {
	return name([]string{"SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ", "CMP_SWAP", "FETCH_ADD", "RECV",
		"RECV_WRITE_IMM", "SRQ_LIMIT", "LAST_WQE",
		"SLOW", "BLOCKED", "DRAINED"}, int(o), "Opcode")
}

// IsAtomic reports whether the operation is an atomic on 8 bytes of the peer's memory.
func (o Opcode) IsAtomic() bool { return o == CmpSwap || o == FetchAdd }

// Responds reports whether the operation returns data.
func (o Opcode) Responds() bool { return o == Read || o.IsAtomic() }

// HasImm reports whether the message carries immediate data.
func (o Opcode) HasImm() bool { return o == SendImm || o == WriteImm }

// Allows reports whether queue pairs of type t support an operation (IBTA 9.2, table 35).
func (t QPType) Allows(o Opcode) bool {
	switch t {
	case RC:
		return o <= FetchAdd
	case UC:
		return o <= WriteImm
	case UD:
		return o == Send || o == SendImm
	}
	return t == Raw && o == Send
}

// Status is the outcome of a work or receive entry (IBTA 11.6.2).
type Status uint8

// Values of Status.
const (
	OK Status = iota
	LocalLength
	LocalQP
	LocalProtection
	Flushed
	RemoteInvalid
	RemoteAccess
	RemoteOperation
	RetryExceeded
	RNRExceeded
	NumStatuses
)

func (s Status) String() string {
	return name([]string{"success", "local length error", "local QP operation error", "local protection error",
		"flushed", "remote invalid request", "remote access error", "remote operation error",
		"transport retry counter exceeded", "RNR retry counter exceeded"}, int(s), "Status")
}

// QPState is the state of a queue pair (IBTA 10.3.1).
type QPState uint8

// Values of QPState. Work entries may be posted in RTS; packets are received in RTR and RTS.
const (
	Reset QPState = iota
	Init
	RTR
	RTS
	Failed
	NumQPStates
)

func (s QPState) String() string {
	return name([]string{"RESET", "INIT", "RTR", "RTS", "ERROR"}, int(s), "QPState")
}

// Access is a set of rights: those to a memory region, or those that a queue pair gives its peer.
type Access uint8

// Bits of Access.
const (
	LocalWrite Access = 1 << iota
	RemoteWrite
	RemoteRead
	RemoteAtomic

	AllAccess = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic
)
