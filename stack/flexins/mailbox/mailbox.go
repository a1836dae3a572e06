// Package mailbox defines the messages between a host and a card's control core, as elements of two pipes: requests one
// way, replies and events the other.
//
// It defines formats only. A message is a fixed number of lines; numbers are little-endian, in the order of the fields;
// the last byte of each line is the pipe's.
package mailbox

import (
	"encoding/binary"
	"fmt"

	"nictwin/stack/pipe"
	"nictwin/stack/verbs"
)

// Verb is a control verb.
type Verb uint8

// Verbs that reach the card. Protection domains concern the host only.
const (
	RegMR Verb = 1 + iota
	DeregMR
	CloseCQ
	CreateQP
	ModifyQP
	QueryQP
	DestroyQP
	CreateAH
	DestroyAH
	CreateSRQ
	ModifySRQ
	DestroySRQ
)

// CQ is a completion queue of a queue pair. If it is new to the core, the addresses of its pipe in host memory follow.
type CQ struct {
	Number        uint32
	New           bool
	Ring, Counter uint64
}

// Request is a control verb. The fields used depend on the verb.
type Request struct {
	ID      uint32 // chosen by the host; never 0
	Verb    Verb
	Context uint32
	Object  uint32 // what the verb acts on: key, queue pair, address handle, completion queue or shared receive queue
	PD      verbs.PD

	Addr, Bytes uint64 // RegMR: the region; CreateQP: Bytes is the longest message of a low-latency queue pair, else 0
	Access      verbs.Access

	Type verbs.QPType // CreateQP: service
	// CreateQP: its completion queues; if CQ.New is set, data core `Core` must open the pipe. CloseCQ: `Send` is the
	// queue to close
	Send, Recv CQ
	SRQ        uint32
	HasSRQ     bool
	SignalAll  bool
	// MaxSendWR, MaxRecvWR, MaxSendSGE, MaxRecvSGE, MaxInline; CreateSRQ: MaxWR, MaxSGE; ModifySRQ: limit
	Cap  [5]uint32
	Core uint32

	Sends, Recvs uint64 // ModifyQP, DestroyQP, DestroySRQ: requests posted to the queue's core before the verb

	To   verbs.State  // ModifyQP: new state
	Attr verbs.QPAttr // ModifyQP: all new attributes; CreateAH: AH and Port
}

// Reply is the result of a request, or, with ID 0, an event.
type Reply struct {
	ID     uint32
	Errno  verbs.Errno // 0: success
	Object uint32      // RegMR: the key; event: number of the object concerned
	Addr   uint64      // RegMR: the region's address on the Arm
	State  verbs.State // QueryQP: the state
	Event  verbs.AsyncEventType
	Length uint16
	Text   [150]byte // text of an error, zero-padded
}

// fill is the number of message bytes in a line.
const fill = pipe.LineBytes - 1

// Encode returns the element of a Request or Reply.
func Encode(m any) ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, m)
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	lines := (len(b) + fill - 1) / fill
	e := make([]byte, lines*pipe.LineBytes)
	for i := range lines {
		copy(e[i*pipe.LineBytes:(i+1)*pipe.LineBytes-1], b[i*fill:])
	}
	return e, nil
}

// Decode reads an element into m, a *Request or *Reply.
func Decode(e []byte, m any) error {
	n := binary.Size(m)
	lines := (n + fill - 1) / fill
	if len(e) != lines*pipe.LineBytes {
		return fmt.Errorf("mailbox: a message of %d B: want %d lines", len(e), lines)
	}
	var b []byte
	for i := range lines {
		b = append(b, e[i*pipe.LineBytes:(i+1)*pipe.LineBytes-1]...)
	}
	if _, err := binary.Decode(b[:n], binary.LittleEndian, m); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	return nil
}

// Fail sets the error of the reply.
func (r *Reply) Fail(n verbs.Errno, err error) {
	r.Errno = n
	r.Length = uint16(copy(r.Text[:], err.Error()))
}

// Err returns the error of the reply, or nil.
func (r *Reply) Err(verb string) error {
	if r.Errno == 0 {
		return nil
	}
	return verbs.Errorf(verb, r.Errno, "%s", r.Text[:min(int(r.Length), len(r.Text))])
}
