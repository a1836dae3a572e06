package rnicspec

import (
	"encoding/binary"
	"fmt"
)

// Cmd is the number of a command, its first byte.
type Cmd uint8

// Values of Cmd; the type with the command's name holds its fields.
const (
	CmdSetPort Cmd = 1 + iota // SetPort
	CmdSetContext
	CmdCreateCQ
	CmdCreateMR
	CmdDestroyMR
	CmdCreateAH
	CmdCreateQP
	CmdModifyQP
	CmdDestroyQP
	CmdQueryQP // Result.Value is the QPState
	CmdCreateSRQ
	CmdModifySRQ
	CmdDestroySRQ
	CmdSetAccount
)

// Command is a command that can be written to RegCommand.
type Command interface {
	Cmd() Cmd
	fields(c *coder)
}

// coder visits the fields of a command one after the other, to encode or to decode them.
type coder struct {
	b    []byte
	at   int
	read bool
}

func (c *coder) u(n int, v uint64, set func(uint64)) {
	var word [8]byte
	if c.read {
		copy(word[:n], c.b[c.at:])
		set(binary.LittleEndian.Uint64(word[:]))
	} else {
		binary.LittleEndian.PutUint64(word[:], v)
		copy(c.b[c.at:], word[:n])
	}
	c.at += n
}

func num[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *coder, n int, p *T) {
	c.u(n, uint64(*p), func(v uint64) { *p = T(v) })
}

func (c *coder) flag(p *bool) { c.u(1, uint64(bit(*p)), func(v uint64) { *p = v&1 != 0 }) }

func (c *coder) bytes(p []byte) {
	if c.read {
		copy(p, c.b[c.at:])
	} else {
		copy(c.b[c.at:], p)
	}
	c.at += len(p)
}

// cmdHead is the offset of a command's fields, behind Cmd and sequence number.
const cmdHead = 4

// EncodeCommand writes a command to the first CmdBytes of b. Its Result will have the sequence
// number seq.
func EncodeCommand(cmd Command, seq uint16, b []byte) {
	b = b[:CmdBytes]
	clear(b)
	b[0] = byte(cmd.Cmd())
	binary.LittleEndian.PutUint16(b[2:], seq)
	cmd.fields(&coder{b: b, at: cmdHead})
}

// DecodeCommand reads a command from the first CmdBytes of b, with its sequence number. It fails if
// the command number is unknown.
func DecodeCommand(b []byte) (Command, uint16, error) {
	b = b[:CmdBytes]
	seq := binary.LittleEndian.Uint16(b[2:])
	var cmd Command
	switch Cmd(b[0]) {
	case CmdSetPort:
		cmd = new(SetPort)
	case CmdSetContext:
		cmd = new(SetContext)
	case CmdCreateCQ:
		cmd = new(CreateCQ)
	case CmdCreateMR:
		cmd = new(CreateMR)
	case CmdDestroyMR:
		cmd = new(DestroyMR)
	case CmdCreateAH:
		cmd = new(CreateAH)
	case CmdCreateQP:
		cmd = new(CreateQP)
	case CmdModifyQP:
		cmd = new(ModifyQP)
	case CmdDestroyQP:
		cmd = new(DestroyQP)
	case CmdQueryQP:
		cmd = new(QueryQP)
	case CmdCreateSRQ:
		cmd = new(CreateSRQ)
	case CmdModifySRQ:
		cmd = new(ModifySRQ)
	case CmdDestroySRQ:
		cmd = new(DestroySRQ)
	case CmdSetAccount:
		cmd = new(SetAccount)
	default:
		return nil, seq, fmt.Errorf("rnicspec: command is %d: want %d to %d", b[0], CmdSetPort, CmdSetAccount)
	}
	cmd.fields(&coder{b: b, at: cmdHead, read: true})
	return cmd, seq, nil
}

// Result is the value of RegResult: the outcome of the last command.
type Result struct {
	Seq   uint16
	Code  uint16 // 0: done; else a Refusal
	Value uint32
}

// Refusal is the reason why a command was not carried out.
type Refusal uint16

// Values of Refusal.
const (
	Done           Refusal = iota
	RefusedCommand         // no such command
	RefusedNumber          // number, key or handle that is out of range, in use, or not made
	RefusedValue           // a parameter out of range
	RefusedState           // not allowed in this state
)

func (r Refusal) String() string {
	return name([]string{"done", "no such command", "number out of range, in use or not made", "value out of range",
		"wrong state"}, int(r), "Refusal")
}

// Word encodes the register's value.
func (r Result) Word() uint64 { return uint64(r.Seq) | uint64(r.Code)<<16 | uint64(r.Value)<<32 }

// ResultOf decodes the register's value.
func ResultOf(v uint64) Result { return Result{uint16(v), uint16(v >> 16), uint32(v >> 32)} }

// SetPort sets the addresses of an Ethernet port. V6 means that IP is an IPv6 address.
type SetPort struct {
	Port uint8
	V6   bool
	MAC  [6]byte
	IP   [16]byte // IPv4 uses the first four bytes
}

// SetContext sets the range of context memory, which the NIC reads on cache misses.
type SetContext struct {
	Addr  uint64 // bus address, multiple of 64
	Bytes uint64
}

// CreateCQ makes a completion queue of 2^Log entries. Software must have set them to zero.
type CreateCQ struct {
	CQN  uint32
	Log  uint8
	Addr uint64
}

// CreateMR makes a memory region that maps Bytes from address VA on to bus addresses from Bus on.
type CreateMR struct {
	Key     uint32
	Access  Access
	PageLog uint8 // page size is 2^PageLog bytes, 12 to 30
	VA, Bus uint64
	Bytes   uint64
}

// DestroyMR removes a memory region. While slow packets are still to be copied into it, the NIC refuses that by
// RefusedState, copies them, and lets no request use the region any more: software repeats the command.
type DestroyMR struct{ Key uint32 }

// CreateAH makes an address handle.
type CreateAH struct {
	Handle  uint32
	Port    uint8
	V6      bool
	MAC     [6]byte
	IP      [16]byte
	UDPPort uint16 // source port of packets sent with the handle
	TOS     uint8
	TTL     uint8
}

// CreateQP makes a queue pair in state Init. A ring has 2^Log entries.
type CreateQP struct {
	QPN              uint32
	Type             QPType
	SendLog, RecvLog uint8
	SendCQ, RecvCQ   uint32
	SendAddr         uint64
	RecvAddr         uint64
	QKey             uint32 // UD: Q_Key
	Port             uint8  // raw and UD: Ethernet port
	SRQ              uint32 // shared receive queue, instead of a receive ring; 0: none. Not for raw
}

// ModifyQP moves a queue pair to RTR or RTS, and sets all attributes. From RTR to RTS, only
// SendPSN, Access, MaxRead (as requester), MinRNR, Retries, RNRRetry and Timeout are used.
type ModifyQP struct {
	QPN      uint32
	State    QPState
	DestQP   uint32
	SendPSN  uint32
	RecvPSN  uint32
	Handle   uint32 // address handle of the peer
	PMTU     uint16 // bytes: 256, 512, 1024, 2048 or 4096
	Access   Access
	MaxRead  uint8 // most READs and atomics in flight, as requester and as responder: 1 to 16
	MinRNR   uint8 // timer code of the RNR NAKs sent
	Retries  uint8 // 0 to 7
	RNRRetry uint8 // 0 to 7; 7: unlimited
	Timeout  uint8 // 4.096 µs × 2^Timeout; 0: never
}

// DestroyQP removes a queue pair.
type DestroyQP struct{ QPN uint32 }

// QueryQP returns the state of a queue pair in Result.Value.
type QueryQP struct{ QPN uint32 }

// CreateSRQ makes a shared receive queue: a ring of 2^Log receive entries, with a doorbell at SRQDoorbell. Its events,
// EventSRQLimit and EventLastWQE, are entries of completion queue Events.
type CreateSRQ struct {
	SRQN   uint32 // 1 to MaxSRQs-1
	Log    uint8
	Addr   uint64
	Events uint32
}

// ModifySRQ requests one EventSRQLimit when fewer than Limit receive entries are left, at once if that is so already;
// 0: none.
type ModifySRQ struct{ SRQN, Limit uint32 }

// DestroySRQ removes a shared receive queue that no queue pair uses.
type DestroySRQ struct{ SRQN uint32 }

// SetAccount gives a connected RC queue pair a credit account, whose state is Fast. Every packet of a SEND or WRITE
// with payload takes a credit. One that finds none goes to a slot in the memory for slow packets; with Latch, so do all
// that follow until the account is resumed. Slow packets stay there until AccountDrain copies them, and completion
// entries, READs and atomics wait for those before them. Destroying the queue pair ends the account.
type SetAccount struct {
	Account   uint8
	QPN       uint32
	Credits   uint32
	Latch     bool
	Slow      uint64 // bus address of the slots
	Log       uint8  // there are 2^Log slots; while all are in use, packets wait in the receive buffer
	SlotBytes uint32 // the path MTU or more
	Events    uint32 // completion queue for EventSlow, EventBlocked and EventDrained
	Mark      uint32 // a slow packet that finds so many waiting counts as marked by the network; 0: none does
}

// Cmd implements Command.
func (*SetPort) Cmd() Cmd { return CmdSetPort }
func (x *SetPort) fields(c *coder) {
	num(c, 1, &x.Port)
	c.flag(&x.V6)
	c.bytes(x.MAC[:])
	c.bytes(x.IP[:])
}

// Cmd implements Command.
func (*SetContext) Cmd() Cmd { return CmdSetContext }
func (x *SetContext) fields(c *coder) {
	num(c, 8, &x.Addr)
	num(c, 8, &x.Bytes)
}

// Cmd implements Command.
func (*CreateCQ) Cmd() Cmd { return CmdCreateCQ }
func (x *CreateCQ) fields(c *coder) {
	num(c, 4, &x.CQN)
	num(c, 1, &x.Log)
	num(c, 8, &x.Addr)
}

// Cmd implements Command.
func (*CreateMR) Cmd() Cmd { return CmdCreateMR }
func (x *CreateMR) fields(c *coder) {
	num(c, 4, &x.Key)
	num(c, 1, &x.Access)
	num(c, 1, &x.PageLog)
	num(c, 8, &x.VA)
	num(c, 8, &x.Bus)
	num(c, 8, &x.Bytes)
}

// Cmd implements Command.
func (*DestroyMR) Cmd() Cmd          { return CmdDestroyMR }
func (x *DestroyMR) fields(c *coder) { num(c, 4, &x.Key) }

// Cmd implements Command.
func (*CreateAH) Cmd() Cmd { return CmdCreateAH }
func (x *CreateAH) fields(c *coder) {
	num(c, 4, &x.Handle)
	num(c, 1, &x.Port)
	c.flag(&x.V6)
	c.bytes(x.MAC[:])
	c.bytes(x.IP[:])
	num(c, 2, &x.UDPPort)
	num(c, 1, &x.TOS)
	num(c, 1, &x.TTL)
}

// Cmd implements Command.
func (*CreateQP) Cmd() Cmd { return CmdCreateQP }
func (x *CreateQP) fields(c *coder) {
	num(c, 4, &x.QPN)
	num(c, 1, &x.Type)
	num(c, 1, &x.SendLog)
	num(c, 1, &x.RecvLog)
	num(c, 1, &x.Port)
	num(c, 4, &x.SendCQ)
	num(c, 4, &x.RecvCQ)
	num(c, 8, &x.SendAddr)
	num(c, 8, &x.RecvAddr)
	num(c, 4, &x.QKey)
	num(c, 4, &x.SRQ)
}

// Cmd implements Command.
func (*ModifyQP) Cmd() Cmd { return CmdModifyQP }
func (x *ModifyQP) fields(c *coder) {
	num(c, 4, &x.QPN)
	num(c, 1, &x.State)
	num(c, 4, &x.DestQP)
	num(c, 4, &x.SendPSN)
	num(c, 4, &x.RecvPSN)
	num(c, 4, &x.Handle)
	num(c, 2, &x.PMTU)
	num(c, 1, &x.Access)
	num(c, 1, &x.MaxRead)
	num(c, 1, &x.MinRNR)
	num(c, 1, &x.Retries)
	num(c, 1, &x.RNRRetry)
	num(c, 1, &x.Timeout)
}

// Cmd implements Command.
func (*DestroyQP) Cmd() Cmd          { return CmdDestroyQP }
func (x *DestroyQP) fields(c *coder) { num(c, 4, &x.QPN) }

// Cmd implements Command.
func (*QueryQP) Cmd() Cmd          { return CmdQueryQP }
func (x *QueryQP) fields(c *coder) { num(c, 4, &x.QPN) }

// Cmd implements Command.
func (*CreateSRQ) Cmd() Cmd { return CmdCreateSRQ }
func (x *CreateSRQ) fields(c *coder) {
	num(c, 4, &x.SRQN)
	num(c, 1, &x.Log)
	num(c, 8, &x.Addr)
	num(c, 4, &x.Events)
}

// Cmd implements Command.
func (*ModifySRQ) Cmd() Cmd { return CmdModifySRQ }
func (x *ModifySRQ) fields(c *coder) {
	num(c, 4, &x.SRQN)
	num(c, 4, &x.Limit)
}

// Cmd implements Command.
func (*DestroySRQ) Cmd() Cmd          { return CmdDestroySRQ }
func (x *DestroySRQ) fields(c *coder) { num(c, 4, &x.SRQN) }

// Cmd implements Command.
func (*SetAccount) Cmd() Cmd { return CmdSetAccount }
func (x *SetAccount) fields(c *coder) {
	num(c, 1, &x.Account)
	num(c, 4, &x.QPN)
	num(c, 4, &x.Credits)
	c.flag(&x.Latch)
	num(c, 8, &x.Slow)
	num(c, 1, &x.Log)
	num(c, 4, &x.SlotBytes)
	num(c, 4, &x.Events)
	num(c, 4, &x.Mark)
}
