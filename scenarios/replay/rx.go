package replay

import (
	"bytes"

	"nictwin/models/nicspec"
	"nictwin/scenarios/board"
	"nictwin/scenarios/driver"
)

// receive is the receive side of a replay: rules, queues, and the check of
// what was delivered.
type receive struct {
	faults
	play     *board.Player
	seen     []bool // by ordinal
	queues   []*driver.RxQueue
	lastSeq  []int64 // per queue, the ordinal delivered last
	perQueue []int
	got      int
	bytes    int64
	verdicts func(ordinal int, cqe nicspec.RxCqe)
}

// rxQueues are the queues in use: every way of splitting, both memories, odd
// alignments.
var rxQueues = []driver.RxConfig{
	{Split: nicspec.SplitModeHeaders, HdrBytes: 128, PayHost: true},
	{Split: nicspec.SplitModeHeaders, HdrBytes: 64, PayHost: true, HdrSkew: 2, PaySkew: 7},
	{Split: nicspec.SplitModeFixed, SplitLen: 54, HdrBytes: 256, PayHost: true, HdrSkew: 1, PaySkew: 33},
	{Split: nicspec.SplitModeNone, PaySkew: 2},
	{Split: nicspec.SplitModeFixed, SplitLen: 42, HdrBytes: 42, PayHost: true, PaySkew: 3},
	{Split: nicspec.SplitModeHeaders, HdrBytes: 96, HdrSkew: 61, PaySkew: 63},
	{Split: nicspec.SplitModeNone, PayHost: true, PaySkew: 5},
	{Split: nicspec.SplitModeFixed, SplitLen: 1000, HdrBytes: 600, PayHost: true},
}

const (
	rxLog    = 10
	typeLLDP = 0x88cc
)

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

// rxRules spread RoCE by queue pair, everything else by protocol.
func rxRules() []rule {
	flag := func(set func(nicspec.SteerKey, bool)) func(nicspec.SteerKey) {
		return func(k nicspec.SteerKey) { set(k, true) }
	}
	var rules []rule
	for q := range 4 {
		r := newRule(nicspec.ActionQueue, q).match(flag(nicspec.SteerKey.SetIsRoce), flag(nicspec.SteerKey.SetIsRoce))
		rules = append(rules, r.match(
			func(k nicspec.SteerKey) { k.SetDestQp(uint32(q)) }, func(k nicspec.SteerKey) { k.SetDestQp(3) }))
	}
	lldp := newRule(nicspec.ActionDrop, 0).match(
		func(k nicspec.SteerKey) { k.SetEthertype(typeLLDP) }, func(k nicspec.SteerKey) { k.SetEthertype(0xffff) })
	return append(rules, lldp,
		newRule(nicspec.ActionQueue, 4).match(flag(nicspec.SteerKey.SetIsUdp), flag(nicspec.SteerKey.SetIsUdp)),
		newRule(nicspec.ActionQueue, 5).match(flag(nicspec.SteerKey.SetIsTcp), flag(nicspec.SteerKey.SetIsTcp)),
		newRule(nicspec.ActionQueue, 6).match(flag(nicspec.SteerKey.SetIsIpv6), flag(nicspec.SteerKey.SetIsIpv6)),
	)
}

// setup asks the driver for rules and queues.
func (r *receive) setup(d *driver.Driver) error {
	r.seen = make([]bool, r.play.Total())
	for i, rule := range rxRules() {
		d.WriteTable(nicspec.TableRule, i, rule.entry)
	}
	var def nicspec.RxDefaultReg
	def.SetAction(uint32(nicspec.ActionQueue))
	def.SetQueue(uint32(len(rxQueues) - 1))
	d.WriteReg(nicspec.RegRxDefault, uint32(def))
	for i, c := range rxQueues {
		c.Queue, c.LogSize, c.PayBytes, c.OnFrame = i, rxLog, nicspec.FrameMax, r.frame
		q, err := d.NewRxQueue(c)
		if err != nil {
			return err
		}
		r.queues = append(r.queues, q)
		r.lastSeq = append(r.lastSeq, -1)
		r.perQueue = append(r.perQueue, 0)
	}
	return nil
}

// frame checks one delivered frame against the capture.
func (r *receive) frame(q *driver.RxQueue, cqe nicspec.RxCqe, hdr, pay []byte) {
	n := int(cqe.PortSeq())
	if n >= len(r.seen) {
		r.add("receive queue %d delivered frame %d, but only %d were sent", q.Queue(), n, r.play.Sent())
		return
	}
	if r.seen[n] {
		r.add("frame %d was delivered twice", n)
		return
	}
	r.seen[n] = true
	if last := r.lastSeq[q.Queue()]; int64(n) <= last {
		r.add("receive queue %d delivered frame %d after frame %d", q.Queue(), n, last)
	}
	r.lastSeq[q.Queue()] = int64(n)
	r.perQueue[q.Queue()]++
	r.got++
	r.bytes += int64(len(hdr) + len(pay))
	want := r.play.At(n)
	if len(hdr)+len(pay) != len(want) || !bytes.Equal(hdr, want[:len(hdr)]) || !bytes.Equal(pay, want[len(hdr):]) {
		r.add("frame %d in receive queue %d: %s", n, q.Queue(), firstDiff(want, append(append([]byte(nil), hdr...), pay...)))
	}
	if r.verdicts != nil {
		r.verdicts(n, cqe)
	}
}
