// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

// Constants of the contract.
const (
	ContractVersion  = 0x20000           // VERSION: bits 31:16 major, 15:0 minor
	DeviceMagic      = 0x5443494e        // register ID, reads as the bytes N I C T
	BarBase          = 0x200000000000000 // bus address of BAR0
	BarBytes         = 0x100000          // size of BAR0
	EndpointShift    = 56                // bus address bits 63:56 name the endpoint
	EndpointArm      = 0                 // endpoint of Arm memory
	EndpointHost     = 1                 // endpoint of host memory
	EndpointNic      = 2                 // endpoint of the NIC's registers
	RequesterArm     = 0x0               // requester ID of the Arm root
	RequesterHost    = 0x100             // requester ID of the host root
	RequesterNic     = 0x200             // requester and completer ID of the NIC
	FrameMin         = 60                // shortest legal frame, bytes without FCS
	FrameMax         = 9216              // longest legal frame, bytes without FCS
	ParseBytes       = 128               // number of bytes at the start of a frame in which headers are parsed
	RxBufBytes       = 0x10000           // bytes of a port's receive buffer; a frame occupies its length rounded up to 64
	RxDescBytes      = 16                // bytes of a receive descriptor
	WqeBytes         = 64                // bytes of a block of a transmit work entry
	CqeBytes         = 64                // bytes of a completion entry
	WqeBlocksMax     = 4                 // most 64 B blocks of a work entry
	WqeSlots         = 3                 // 16 B slots of a work entry's first block, shared by inline bytes and pieces
	WqeMoreSlots     = 4                 // 16 B slots of each further block
	WqeSlotBytes     = 16                // bytes per slot
	InlineMax        = 48                // most inline bytes of a work entry of one block
	InlineMaxLong    = 176               // most inline bytes of any work entry
	SegMax           = 8                 // most pieces of a work entry
	AppendMax        = 7                 // most bytes that f_append appends: three of pad, four of ICRC
	FairFrames       = 64                // most frames of other ports taken out of the receive buffer while a whole frame of a port waits [R13]
	LogSizeMin       = 2                 // smallest ring: 4 entries
	LogSizeMax       = 15                // largest ring: 32,768 entries
	TableWords       = 32                // 32-bit words of the staging window TBL_DATA
	RuleNone         = 0xffff            // rule index in a completion entry when the default action applied
	RxqMax           = 256               // register space is laid out for this many receive queues
	TxqMax           = 256               // register space is laid out for this many transmit queues
	RulesMax         = 256               // register space is laid out for this many rules
	VisibleCycles    = 64                // a register write has taken effect this many cycles after its TLP was accepted
	PartsAll         = 16383             // every part that CAP1 knows
	PartsDefault     = 16383             // parts of the default build
	RssEntries       = 256               // entries of table Indirection
	RssKeyBytes      = 40                // bytes of the Toeplitz key
	RssLogMax        = 8                 // largest rss_log
	NumAccounts      = 64                // number of credit accounts
	CreditMax        = 0xffffff          // largest balance of an account
	Crc32cResidue    = 0x48674bc7        // CRC-32C of any bytes followed by their CRC-32C
	CopyMax          = 0x1000000         // longest copy, bytes
	CopyChannels     = 4                 // number of copy channels; the copies of transmit queue q use channel q mod CopyChannels
	LineBytes        = 64                // bytes of a line of the Arm cache
	InvalidateVendor = 20052             // vendor ID in invalidate messages
	InvalidateCode   = 127               // message code of invalidate messages (vendor defined, type 1)
	PauseQueue       = 65535             // m_axis_eth_tuser of the device's own pause frames
	PauseTimeMin     = 64                // smallest pause_time of PortCfg, quanta
	MacControlType   = 34824             // EtherType of MAC control frames
	PauseOpcode      = 1                 // MAC control opcode: pause
	PfcOpcode        = 257               // MAC control opcode: priority-based flow control
	FlrCycles        = 8192              // most cycles from the end of the work to the end of a function-level reset
)
