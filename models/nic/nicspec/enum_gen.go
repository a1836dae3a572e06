// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "strconv"

// TableOp is a code of 2 bits.
type TableOp uint8

// The values of TableOp.
const (
	TableOpNone  TableOp = 0 // no command; writing it is refused with status BadOp
	TableOpWrite TableOp = 1 // commit TBL_DATA to the entry, whole and at once
	TableOpRead  TableOp = 2 // load TBL_DATA from the entry
)

// String returns the value's name, or TableOp(n) for a code without a name.
func (v TableOp) String() string {
	switch v {
	case TableOpNone:
		return "None"
	case TableOpWrite:
		return "Write"
	case TableOpRead:
		return "Read"
	}
	return "TableOp(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v TableOp) Known() bool {
	switch v {
	case TableOpNone, TableOpWrite, TableOpRead:
		return true
	}
	return false
}

// TableStatus is a code of 3 bits.
type TableStatus uint8

// The values of TableStatus.
const (
	TableStatusOk       TableStatus = 0 // the last command was carried out
	TableStatusBadTable TableStatus = 1 // no such table
	TableStatusBadIndex TableStatus = 2 // index beyond the table
	TableStatusBadValue TableStatus = 3 // a field is out of its range; the entry is unchanged
	TableStatusEnabled  TableStatus = 4 // the queue is enabled: disable it first; the entry is unchanged
	TableStatusBadOp    TableStatus = 5 // operation is neither read nor write
	TableStatusNotBuilt TableStatus = 6 // the table or a field in use is of a part that this build does not have
)

// String returns the value's name, or TableStatus(n) for a code without a name.
func (v TableStatus) String() string {
	switch v {
	case TableStatusOk:
		return "Ok"
	case TableStatusBadTable:
		return "BadTable"
	case TableStatusBadIndex:
		return "BadIndex"
	case TableStatusBadValue:
		return "BadValue"
	case TableStatusEnabled:
		return "Enabled"
	case TableStatusBadOp:
		return "BadOp"
	case TableStatusNotBuilt:
		return "NotBuilt"
	}
	return "TableStatus(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v TableStatus) Known() bool {
	switch v {
	case TableStatusOk, TableStatusBadTable, TableStatusBadIndex, TableStatusBadValue, TableStatusEnabled, TableStatusBadOp, TableStatusNotBuilt:
		return true
	}
	return false
}

// Table is a code of 8 bits.
type Table uint8

// The values of Table.
const (
	TableRxq         Table = 0 // receive queue contexts
	TableTxq         Table = 1 // transmit queue contexts
	TableKey         Table = 2 // memory keys
	TableRule        Table = 3 // steering rules
	TableIndirection Table = 4 // RSS indirection (part rss)
	TableAccount     Table = 5 // credit accounts (part accounts)
	TablePortCfg     Table = 6 // pause thresholds and classes of a port (part pause)
)

// String returns the value's name, or Table(n) for a code without a name.
func (v Table) String() string {
	switch v {
	case TableRxq:
		return "Rxq"
	case TableTxq:
		return "Txq"
	case TableKey:
		return "Key"
	case TableRule:
		return "Rule"
	case TableIndirection:
		return "Indirection"
	case TableAccount:
		return "Account"
	case TablePortCfg:
		return "PortCfg"
	}
	return "Table(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v Table) Known() bool {
	switch v {
	case TableRxq, TableTxq, TableKey, TableRule, TableIndirection, TableAccount, TablePortCfg:
		return true
	}
	return false
}

// Part returns the optional part that the code belongs to, 0 for the core and for codes without a name.
func (v Table) Part() Cap1Reg {
	switch v {
	case TableIndirection:
		return PartRss
	case TableAccount:
		return PartAccounts
	case TablePortCfg:
		return PartPause
	}
	return 0
}

// Action is a code of 8 bits.
type Action uint8

// The values of Action.
const (
	ActionDrop  Action = 0 // count the frame and discard it
	ActionQueue Action = 1 // deliver to the queue that the rule or RX_DEFAULT names
	ActionRss   Action = 2 // deliver to a queue of the RSS group, by Toeplitz hash and table Indirection (part rss)
)

// String returns the value's name, or Action(n) for a code without a name.
func (v Action) String() string {
	switch v {
	case ActionDrop:
		return "Drop"
	case ActionQueue:
		return "Queue"
	case ActionRss:
		return "Rss"
	}
	return "Action(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v Action) Known() bool {
	switch v {
	case ActionDrop, ActionQueue, ActionRss:
		return true
	}
	return false
}

// Part returns the optional part that the code belongs to, 0 for the core and for codes without a name.
func (v Action) Part() Cap1Reg {
	switch v {
	case ActionRss:
		return PartRss
	}
	return 0
}

// SplitMode is a code of 8 bits.
type SplitMode uint8

// The values of SplitMode.
const (
	SplitModeNone    SplitMode = 0 // the whole frame goes to the payload buffer
	SplitModeFixed   SplitMode = 1 // the first split_len bytes go to the header buffer
	SplitModeHeaders SplitMode = 2 // the headers that were parsed go to the header buffer
)

// String returns the value's name, or SplitMode(n) for a code without a name.
func (v SplitMode) String() string {
	switch v {
	case SplitModeNone:
		return "None"
	case SplitModeFixed:
		return "Fixed"
	case SplitModeHeaders:
		return "Headers"
	}
	return "SplitMode(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v SplitMode) Known() bool {
	switch v {
	case SplitModeNone, SplitModeFixed, SplitModeHeaders:
		return true
	}
	return false
}

// QueueState is a code of 8 bits.
type QueueState uint8

// The values of QueueState.
const (
	QueueStateOff   QueueState = 0 // disabled
	QueueStateRun   QueueState = 1 // enabled
	QueueStateError QueueState = 2 // stopped by an error; disable and enable again
)

// String returns the value's name, or QueueState(n) for a code without a name.
func (v QueueState) String() string {
	switch v {
	case QueueStateOff:
		return "Off"
	case QueueStateRun:
		return "Run"
	case QueueStateError:
		return "Error"
	}
	return "QueueState(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v QueueState) Known() bool {
	switch v {
	case QueueStateOff, QueueStateRun, QueueStateError:
		return true
	}
	return false
}

// Opcode is a code of 8 bits.
type Opcode uint8

// The values of Opcode.
const (
	OpcodeNop            Opcode = 0 // does nothing; may ask for a completion
	OpcodeSend           Opcode = 1 // gather and transmit one frame
	OpcodeCopy           Opcode = 2 // copy between two memory keys (part copy)
	OpcodeInvalidate     Opcode = 3 // invalidate a range of the Arm cache (part copy)
	OpcodeCopyInvalidate Opcode = 4 // copy, then invalidate the source (part copy)
)

// String returns the value's name, or Opcode(n) for a code without a name.
func (v Opcode) String() string {
	switch v {
	case OpcodeNop:
		return "Nop"
	case OpcodeSend:
		return "Send"
	case OpcodeCopy:
		return "Copy"
	case OpcodeInvalidate:
		return "Invalidate"
	case OpcodeCopyInvalidate:
		return "CopyInvalidate"
	}
	return "Opcode(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v Opcode) Known() bool {
	switch v {
	case OpcodeNop, OpcodeSend, OpcodeCopy, OpcodeInvalidate, OpcodeCopyInvalidate:
		return true
	}
	return false
}

// Part returns the optional part that the code belongs to, 0 for the core and for codes without a name.
func (v Opcode) Part() Cap1Reg {
	switch v {
	case OpcodeCopy:
		return PartCopy
	case OpcodeInvalidate:
		return PartCopy
	case OpcodeCopyInvalidate:
		return PartCopy
	}
	return 0
}

// CqeType is a code of 8 bits.
type CqeType uint8

// The values of CqeType.
const (
	CqeTypeRx    CqeType = 1 // a frame was received
	CqeTypeTx    CqeType = 2 // a work entry ended
	CqeTypeEvent CqeType = 3 // the queue entered the error state
)

// String returns the value's name, or CqeType(n) for a code without a name.
func (v CqeType) String() string {
	switch v {
	case CqeTypeRx:
		return "Rx"
	case CqeTypeTx:
		return "Tx"
	case CqeTypeEvent:
		return "Event"
	}
	return "CqeType(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v CqeType) Known() bool {
	switch v {
	case CqeTypeRx, CqeTypeTx, CqeTypeEvent:
		return true
	}
	return false
}

// Status is a code of 8 bits.
type Status uint8

// The values of Status.
const (
	StatusOk             Status = 0  // success
	StatusBadOpcode      Status = 1  // opcode unknown or not built
	StatusBadFormat      Status = 2  // reserved bits set, too many slots, no such port, or a piece of zero bytes
	StatusBadLength      Status = 3  // frame of 0 bytes, over 9,216, or under 60 without f_pad
	StatusBadKey         Status = 4  // key not valid, wrong variant or index beyond the table
	StatusKeyRights      Status = 5  // the key does not allow this access
	StatusKeyBounds      Status = 6  // the range is not inside the key's range
	StatusBadOffload     Status = 7  // the frame's headers do not allow an offload that was requested
	StatusCplUnsupported Status = 8  // a read was answered with Unsupported Request
	StatusCplAbort       Status = 9  // a read was answered with Completer Abort or another failing status
	StatusCplPoison      Status = 10 // the data of a read was poisoned
	StatusCplTimeout     Status = 11 // a read was not answered in time
	StatusCplMalformed   Status = 12 // a completion did not fit its request
	StatusBadRange       Status = 13 // a range to be invalidated is not whole 64 B lines of Arm memory
	StatusFlushed        Status = 14 // a copy was cut short by a function-level reset
)

// String returns the value's name, or Status(n) for a code without a name.
func (v Status) String() string {
	switch v {
	case StatusOk:
		return "Ok"
	case StatusBadOpcode:
		return "BadOpcode"
	case StatusBadFormat:
		return "BadFormat"
	case StatusBadLength:
		return "BadLength"
	case StatusBadKey:
		return "BadKey"
	case StatusKeyRights:
		return "KeyRights"
	case StatusKeyBounds:
		return "KeyBounds"
	case StatusBadOffload:
		return "BadOffload"
	case StatusCplUnsupported:
		return "CplUnsupported"
	case StatusCplAbort:
		return "CplAbort"
	case StatusCplPoison:
		return "CplPoison"
	case StatusCplTimeout:
		return "CplTimeout"
	case StatusCplMalformed:
		return "CplMalformed"
	case StatusBadRange:
		return "BadRange"
	case StatusFlushed:
		return "Flushed"
	}
	return "Status(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v Status) Known() bool {
	switch v {
	case StatusOk, StatusBadOpcode, StatusBadFormat, StatusBadLength, StatusBadKey, StatusKeyRights, StatusKeyBounds, StatusBadOffload, StatusCplUnsupported, StatusCplAbort, StatusCplPoison, StatusCplTimeout, StatusCplMalformed, StatusBadRange, StatusFlushed:
		return true
	}
	return false
}

// CrcMode is a code of 8 bits.
type CrcMode uint8

// The values of CrcMode.
const (
	CrcModeOff    CrcMode = 0 // no payload CRC-32C
	CrcModeReport CrcMode = 1 // the CRC-32C of the payload is reported
	CrcModeCheck  CrcMode = 2 // the payload's last four bytes are checked as its CRC-32C
)

// String returns the value's name, or CrcMode(n) for a code without a name.
func (v CrcMode) String() string {
	switch v {
	case CrcModeOff:
		return "Off"
	case CrcModeReport:
		return "Report"
	case CrcModeCheck:
		return "Check"
	}
	return "CrcMode(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v CrcMode) Known() bool {
	switch v {
	case CrcModeOff, CrcModeReport, CrcModeCheck:
		return true
	}
	return false
}

// PauseMode is a code of 8 bits.
type PauseMode uint8

// The values of PauseMode.
const (
	PauseModeNone     PauseMode = 0 // no pause frames are sent
	PauseModePause    PauseMode = 1 // 802.3x
	PauseModePriority PauseMode = 2 // priority-based flow control, 802.1Qbb
)

// String returns the value's name, or PauseMode(n) for a code without a name.
func (v PauseMode) String() string {
	switch v {
	case PauseModeNone:
		return "None"
	case PauseModePause:
		return "Pause"
	case PauseModePriority:
		return "Priority"
	}
	return "PauseMode(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v PauseMode) Known() bool {
	switch v {
	case PauseModeNone, PauseModePause, PauseModePriority:
		return true
	}
	return false
}

// Verdict is a code of 2 bits.
type Verdict uint8

// The values of Verdict.
const (
	VerdictNotChecked Verdict = 0 // the check does not apply to the frame, or the frame is too short
	VerdictOk         Verdict = 1 // checked and right
	VerdictBad        Verdict = 2 // checked and wrong
)

// String returns the value's name, or Verdict(n) for a code without a name.
func (v Verdict) String() string {
	switch v {
	case VerdictNotChecked:
		return "NotChecked"
	case VerdictOk:
		return "Ok"
	case VerdictBad:
		return "Bad"
	}
	return "Verdict(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v Verdict) Known() bool {
	switch v {
	case VerdictNotChecked, VerdictOk, VerdictBad:
		return true
	}
	return false
}

// L3Type is a code of 2 bits.
type L3Type uint8

// The values of L3Type.
const (
	L3TypeNone L3Type = 0 // neither IPv4 nor IPv6
	L3TypeIpv4 L3Type = 1 // IPv4
	L3TypeIpv6 L3Type = 2 // IPv6
)

// String returns the value's name, or L3Type(n) for a code without a name.
func (v L3Type) String() string {
	switch v {
	case L3TypeNone:
		return "None"
	case L3TypeIpv4:
		return "Ipv4"
	case L3TypeIpv6:
		return "Ipv6"
	}
	return "L3Type(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v L3Type) Known() bool {
	switch v {
	case L3TypeNone, L3TypeIpv4, L3TypeIpv6:
		return true
	}
	return false
}

// L4Type is a code of 2 bits.
type L4Type uint8

// The values of L4Type.
const (
	L4TypeNone L4Type = 0 // neither UDP nor TCP, or not parsed
	L4TypeUdp  L4Type = 1 // UDP
	L4TypeTcp  L4Type = 2 // TCP
)

// String returns the value's name, or L4Type(n) for a code without a name.
func (v L4Type) String() string {
	switch v {
	case L4TypeNone:
		return "None"
	case L4TypeUdp:
		return "Udp"
	case L4TypeTcp:
		return "Tcp"
	}
	return "L4Type(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// Known reports whether the code has a name.
func (v L4Type) Known() bool {
	switch v {
	case L4TypeNone, L4TypeUdp, L4TypeTcp:
		return true
	}
	return false
}
