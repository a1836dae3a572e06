package replay

import (
	"errors"
	"fmt"

	"nictwin/models/nicspec"
	"nictwin/scenarios/driver"
)

// Shape is the queues of a replay and how frames lie in memory.
type Shape struct {
	// Rx are the receive queues, without number and callbacks.
	Rx []driver.RxConfig

	// Spread steers RoCE to all receive queues by the low bits of its destination QP; there must be a power of two of
	// them. Otherwise the queues are those of the rules by protocol.
	Spread bool

	TxQueues int
	TxLog    int // log2 of the entries of a transmit ring

	// Header is the length of the first piece of a transmitted frame; it lies in Arm memory, the rest in host memory.
	// 0 cuts frames by seed.
	Header int
}

// everyKind is the shape of a replay unless another is asked for: every way of splitting, both memories, odd alignments.
func everyKind() *Shape {
	s := &Shape{
		Rx: []driver.RxConfig{
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

// protocolQueues is the number of queues that the rules by protocol name.
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
	if s.Header < 0 || s.Header > nicspec.FrameMax {
		bad("header pieces of %d B: want 0 to %d", s.Header, nicspec.FrameMax)
	}
	return errors.Join(errs...)
}

// rule is a steering rule in the making.
type rule struct{ value, mask, entry []byte }

func newRule(action nicspec.Action, queue int) rule {
	entry := make([]byte, nicspec.RuleEntrySize)
	v := nicspec.RuleEntry(entry)
	v.SetValid(1)
	v.SetAction(action)
	v.SetQueue(uint16(queue))
	return rule{v.Value(), v.Mask(), entry}
}

// match adds a condition: the same setter on value and mask.
func (r rule) match(value, mask func(k nicspec.SteerKey)) rule {
	value(nicspec.SteerKey(r.value))
	mask(nicspec.SteerKey(r.mask))
	return r
}

func flag(set func(nicspec.SteerKey, bool)) func(nicspec.SteerKey) {
	return func(k nicspec.SteerKey) { set(k, true) }
}

// roceRules spread RoCE over n queues, a power of two, by queue pair.
func roceRules(n int) []rule {
	var rules []rule
	for q := range n {
		r := newRule(nicspec.ActionQueue, q).match(flag(nicspec.SteerKey.SetIsRoce), flag(nicspec.SteerKey.SetIsRoce))
		rules = append(rules, r.match(
			func(k nicspec.SteerKey) { k.SetDestQp(uint32(q)) }, func(k nicspec.SteerKey) { k.SetDestQp(uint32(n - 1)) }))
	}
	return rules
}

const typeLLDP = 0x88cc

// rules are the steering rules of the shape; what matches none goes to the last queue.
func (s *Shape) rules() []rule {
	if s.Spread {
		return roceRules(len(s.Rx))
	}
	lldp := newRule(nicspec.ActionDrop, 0).match(
		func(k nicspec.SteerKey) { k.SetEthertype(typeLLDP) }, func(k nicspec.SteerKey) { k.SetEthertype(0xffff) })
	return append(roceRules(4), lldp,
		newRule(nicspec.ActionQueue, 4).match(flag(nicspec.SteerKey.SetIsUdp), flag(nicspec.SteerKey.SetIsUdp)),
		newRule(nicspec.ActionQueue, 5).match(flag(nicspec.SteerKey.SetIsTcp), flag(nicspec.SteerKey.SetIsTcp)),
		newRule(nicspec.ActionQueue, 6).match(flag(nicspec.SteerKey.SetIsIpv6), flag(nicspec.SteerKey.SetIsIpv6)),
	)
}
