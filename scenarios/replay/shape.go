package replay

import (
	"errors"
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/stack/driver"
)

// Shape describes the queues of a replay and how frames are laid out in memory.
type Shape struct {
	Rx []RxShape // shapes of the receive queues

	// Spread steers RoCE frames to all receive queues by the low bits of the destination QP; the number of queues must
	// be a power of two. If it is not set, rules steer frames to protocolQueues queues by their protocol.
	Spread bool

	TxQueues int
	TxLog    int // log2 of the entries of a transmit ring

	// Header is the number of a sent frame's bytes in its first piece, in Arm memory; the others are in host memory. 0:
	// the cuts are drawn from the seed.
	Header int

	// Inline is the number of a sent frame's bytes in the work entry itself, which gets as many blocks as that takes;
	// the others are one piece in host memory. 0: frames are cut as Header says.
	Inline int

	// Trailer selects the source of the last bytes of frames with inline bytes. Any value except TrailerInPayload
	// requires Recompute.ICRC and RoCE frames that end with their ICRC.
	Trailer Trailer
}

// Trailer selects the source of pad bytes and ICRC of a sent RoCE frame.
type Trailer int

// Sources of trailers.
const (
	TrailerInPayload Trailer = iota // at the end of the piece with the payload
	TrailerPiece                    // a separate piece in Arm memory
	TrailerAppended                 // not in the entry: the NIC appends pad and ICRC [T15]
)

// RxShape describes a receive queue and the layout of its buffers.
type RxShape struct {
	LogSize  int // log2 of the entries of the ring
	Split    nicspec.SplitMode
	SplitLen int  // split mode Fixed: bytes in the header buffer
	HdrBytes int  // size of a header buffer, in Arm memory; 0 with split mode None
	PayBytes int  // size of a payload buffer
	PayHost  bool // payload buffers lie in host memory; false: in Arm memory
	HdrSkew  int  // bytes by which header buffers begin after a 64 B boundary
	PaySkew  int  // bytes by which payload buffers begin after a 64 B boundary
}

func (s *RxShape) config(queue int) driver.RxConfig {
	return driver.RxConfig{
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: s.LogSize},
		Split:       s.Split, SplitLen: s.SplitLen, HdrBytes: s.HdrBytes, PayBytes: s.PayBytes,
	}
}

// buffers allocates n buffers. With split mode None, the header buffers get addresses that the NIC must not touch,
// since they belong to something else.
func (s *RxShape) buffers(d *driver.Driver, n int) ([]driver.Buffer, error) {
	const line = nicspec.LineBytes
	up := func(n int) uint64 { return uint64(n+line-1) &^ (line - 1) }
	hdrStep, payStep := up(s.HdrBytes+s.HdrSkew), up(s.PayBytes+s.PaySkew)
	hdr, err := d.Alloc(nicspec.EndpointArm, max(uint64(n)*hdrStep, line), line)
	if err == nil && hdrStep == 0 {
		err = d.Free(hdr)
	}
	if err != nil {
		return nil, err
	}
	ep := nicspec.EndpointArm
	if s.PayHost {
		ep = nicspec.EndpointHost
	}
	pay, err := d.Alloc(ep, uint64(n)*payStep, line)
	list := make([]driver.Buffer, n)
	for i := range list {
		list[i] = driver.Buffer{Hdr: hdr + uint64(i)*hdrStep + uint64(s.HdrSkew), Pay: pay + uint64(i)*payStep +
			uint64(s.PaySkew)}
	}
	return list, err
}

// everyKind returns the default shape of a replay, with every split mode, both memories and odd alignments.
func everyKind() *Shape {
	s := &Shape{
		Rx: []RxShape{
			{Split: nicspec.SplitModeHeaders, HdrBytes: 128, PayHost: true},
			{Split: nicspec.SplitModeHeaders, HdrBytes: 64, PayHost: true, HdrSkew: 2, PaySkew: 7},
			{Split: nicspec.SplitModeFixed, SplitLen: 54, HdrBytes: 256, PayHost: true, HdrSkew: 1, PaySkew: 33},
			{Split: nicspec.SplitModeNone, PaySkew: 2},
			{Split: nicspec.SplitModeFixed, SplitLen: 42, HdrBytes: 42, PayHost: true, PaySkew: 3},
			{Split: nicspec.SplitModeHeaders, HdrBytes: 96, HdrSkew: 61, PaySkew: 63},
			{Split: nicspec.SplitModeNone, PayHost: true, PaySkew: 5},
			{Split: nicspec.SplitModeFixed, SplitLen: 1000, HdrBytes: 600, PayHost: true},
		},
		TxQueues: 4, TxLog: 7,
	}
	for i := range s.Rx {
		s.Rx[i].LogSize, s.Rx[i].PayBytes = 10, nicspec.FrameMax
	}
	return s
}

// protocolQueues is the number of queues to which the rules by protocol steer.
const protocolQueues = 8

func (s *Shape) validate() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("shape: "+format, a...)) }
	n, build := len(s.Rx), nicspec.DefaultBuild()
	switch {
	case s.Spread && (n == 0 || n&(n-1) != 0 || n > build.NumRules):
		bad("%d receive queues to spread over: want a power of two up to %d", n, build.NumRules)
	case !s.Spread && n != protocolQueues:
		bad("%d receive queues: the rules by protocol want %d", n, protocolQueues)
	}
	if s.TxQueues < 1 || s.TxQueues > build.NumTxq {
		bad("%d transmit queues: want 1 to %d", s.TxQueues, build.NumTxq)
	}
	if s.TxLog < 3 || s.TxLog > 12 {
		bad("transmit rings of 2^%d entries: want 2^3 to 2^12", s.TxLog)
	}
	errs = append(errs, s.validateInline())
	if s.Header < 0 || s.Header > nicspec.FrameMax {
		bad("header pieces of %d B: want 0 to %d", s.Header, nicspec.FrameMax)
	}
	return errors.Join(errs...)
}

// validateInline returns every error about frames with inline bytes.
func (s *Shape) validateInline() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("shape: "+format, a...)) }
	const room = 4 // log2 of the smallest ring in which an entry can always request a completion
	if s.Inline < 0 || s.Inline > nicspec.InlineMaxLong {
		bad("%d B inline: want 0 to %d", s.Inline, nicspec.InlineMaxLong)
	}
	if s.Inline > 0 && s.Header > 0 {
		bad("%d B inline and header pieces of %d B: want one of them", s.Inline, s.Header)
	}
	if s.Inline > 0 && s.TxLog < room {
		bad("%d B inline in transmit rings of 2^%d blocks: want 2^%d or more", s.Inline, s.TxLog, room)
	}
	if s.Trailer < TrailerInPayload || s.Trailer > TrailerAppended {
		bad("trailer %d: want %d to %d", s.Trailer, TrailerInPayload, TrailerAppended)
	}
	if s.Trailer != TrailerInPayload && s.Inline == 0 {
		bad("trailers apart from the payload: want bytes inline")
	}
	return errors.Join(errs...)
}

// blocks returns the maximum number of blocks of an entry.
func (s *Shape) blocks() int {
	most := driver.Send{Inline: make([]byte, s.Inline), Pieces: make([]driver.Span, maxPieces)}
	if s.Inline == 0 {
		return 1 // frames are cut to fit into one block
	}
	return most.Blocks()
}

// maxPieces is the maximum number of pieces of a frame with inline bytes: payload and trailer.
const maxPieces = 2

// roceRules returns rules that spread RoCE over n queues, a power of two, by queue pair.
func roceRules(n int) []driver.Rule {
	var rules []driver.Rule
	for q := range n {
		rules = append(rules, driver.Rule{
			Value: nicspec.SteerKeyFields{IsRoce: true, DestQp: uint32(q)},
			Mask:  nicspec.SteerKeyFields{IsRoce: true, DestQp: uint32(n - 1)},
			To:    driver.ToQueue(q),
		})
	}
	return rules
}

const typeLLDP = 0x88cc

// rules returns the steering rules of the shape; frames that match none go to the last queue.
func (s *Shape) rules() []driver.Rule {
	if s.Spread {
		return roceRules(len(s.Rx))
	}
	kind := func(k nicspec.SteerKeyFields, queue int) driver.Rule {
		return driver.Rule{Value: k, Mask: k, To: driver.ToQueue(queue)}
	}
	lldp := driver.Rule{Value: nicspec.SteerKeyFields{Ethertype: typeLLDP},
		Mask: nicspec.SteerKeyFields{Ethertype: 0xffff}}
	return append(roceRules(4), lldp,
		kind(nicspec.SteerKeyFields{IsUdp: true}, 4),
		kind(nicspec.SteerKeyFields{IsTcp: true}, 5),
		kind(nicspec.SteerKeyFields{IsIpv6: true}, 6),
	)
}
