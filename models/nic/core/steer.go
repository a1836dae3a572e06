package core

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
)

// maxPorts is the most Ethernet ports of a build.
const maxPorts = 2

// NoDrop in a place for a drop counter says that the frame is not dropped.
const NoDrop nicspec.PortCounter = 0xff

// Config is what the receive side needs to know at one instant [R6]. It is a
// value: a copy stays what it was whatever is written later.
type Config struct {
	RxEnable      bool
	DropIPCsum    bool
	DropL4Csum    bool
	DropICRC      bool
	DropCRC32C    bool
	RocePort      uint16
	DefaultAction nicspec.Action // Queue, Rss, or anything else for Drop
	DefaultQueue  uint16
	DefaultLog    uint8    // of action Rss
	Rules         *RuleSet // nil: none

	Pause PauseSet

	CRC32C      bool // the part is there
	Rss         bool // the part is there
	RssKey      *RssKey
	Indirection *Indirection
}

// RxVerdict is what the steps before the queue make of a frame.
type RxVerdict struct {
	Drop    nicspec.PortCounter // NoDrop, or why
	Queue   uint16              // if not dropped
	Rule    uint16              // that matched, or nicspec.RuleNone
	Checked bool                // Headers and verdicts are filled in: not a drop of [R2]
	Group   RssGroup            // by which the queue was found
	Hash    uint32              // RSS hash, 0 without the part
	Account AccountUse          // it decides between Queue and another [A2]
	Headers
	IPCsum, L4Csum, ICRC nicspec.Verdict

	Crc        uint32 // of the payload, and the verdict, should the queue ask for them [X3]
	CrcVerdict nicspec.Verdict
	DropCrc    bool // it is bad, and RX_CTRL says drop [X5]
}

// Hit returns the rule whose RULE_HITS step, if any [R5].
func (v *RxVerdict) Hit() (rule int, ok bool) { return int(v.Rule), v.Rule != nicspec.RuleNone }

// Classify does [R2], [R4] and [R5]: it parses and checks a frame that came in
// on port, and finds its queue or the reason to drop it.
func (c *Config) Classify(port int, frame []byte, v *RxVerdict) {
	v.Queue, v.Rule, v.Checked = 0, nicspec.RuleNone, false
	v.Group, v.Hash, v.Account = RssGroup{}, 0, AccountUse{}
	v.Crc, v.CrcVerdict, v.DropCrc = 0, nicspec.VerdictNotChecked, false
	if v.Drop = c.Front(port, frame); v.Drop != NoDrop {
		return
	}
	Parse(frame, c.RocePort, &v.Headers)
	v.Checked = true
	v.IPCsum = CheckIPCsum(frame, &v.Headers)
	v.L4Csum = CheckL4Csum(frame, &v.Headers)
	v.ICRC = CheckICRC(frame, &v.Headers)
	if v.Drop = c.checks(v); v.Drop == NoDrop {
		c.steer(port, v)
	}
	if v.Drop == NoDrop && c.CRC32C {
		v.Crc, v.CrcVerdict = CheckCRC32C(frame, &v.Headers)
		v.DropCrc = c.DropCRC32C && v.CrcVerdict == nicspec.VerdictBad
	}
}

// Gate is [R2]: the drops that need no look into the frame.
func (c *Config) Gate(n int) nicspec.PortCounter {
	switch {
	case !c.RxEnable:
		return nicspec.CntRxDropDisabled
	case n < nicspec.FrameMin:
		return nicspec.CntRxDropRunt
	case n > nicspec.FrameMax:
		return nicspec.CntRxDropOversize
	}
	return NoDrop
}

// Front is Gate, and then [F2]: CntRxPause for a pause frame that is honoured,
// which is no drop but goes no further either.
func (c *Config) Front(port int, frame []byte) nicspec.PortCounter {
	if drop := c.Gate(len(frame)); drop != NoDrop || !c.Pause[port].honours(frame) {
		return drop
	}
	return nicspec.CntRxPause
}

// checks is [R4].
func (c *Config) checks(v *RxVerdict) nicspec.PortCounter {
	switch {
	case c.DropIPCsum && v.IPCsum == nicspec.VerdictBad:
		return nicspec.CntRxDropIpCsum
	case c.DropL4Csum && v.L4Csum == nicspec.VerdictBad:
		return nicspec.CntRxDropL4Csum
	case c.DropICRC && v.ICRC == nicspec.VerdictBad:
		return nicspec.CntRxDropIcrc
	}
	return NoDrop
}

// Steer is [R5] and [S3] for a frame that came in on port and whose headers are
// known: rule, queue or drop, hash and account of v.
func (c *Config) Steer(port int, h *Headers, v *RxVerdict) {
	*v = RxVerdict{Drop: NoDrop, Rule: nicspec.RuleNone, Headers: *h}
	c.steer(port, v)
}

// steer is [R5].
func (c *Config) steer(port int, v *RxVerdict) {
	var key [nicspec.SteerKeySize]byte
	v.SteerKey(port, &key)
	if c.Rss {
		var buf [nicspec.RssKeyBytes]byte
		v.Hash = c.RssKey.Hash(v.RssInput(&buf))
	}
	if r := c.Rules.match(&key); r != nil {
		v.Rule, v.Account = r.index, r.account
		if !c.direct(r.action, r.queue, r.rssLog, v) {
			v.Drop = nicspec.CntRxDropRule
		}
		return
	}
	if !c.direct(c.DefaultAction, c.DefaultQueue, c.DefaultLog, v) {
		v.Drop = nicspec.CntRxDropNoRule
	}
}

// direct finds the queue that an action names [S3]. It reports false if it
// names none.
func (c *Config) direct(a nicspec.Action, queue uint16, log uint8, v *RxVerdict) bool {
	switch {
	case a == nicspec.ActionQueue:
		v.Queue = queue
	case a == nicspec.ActionRss && c.Rss:
		v.Group = RssGroup{On: true, Base: queue, Log: log}
		v.Queue = c.Indirection.At(v.Group.Entry(v.Hash))
	default:
		return false
	}
	return true
}

const keyWords = nicspec.SteerKeySize / 8

// rule is a valid rule, ready for comparing.
type rule struct {
	value, mask [keyWords]uint64 // value has no bit outside mask
	index       uint16
	queue       uint16
	action      nicspec.Action
	rssLog      uint8
	account     AccountUse
}

// RuleSet is the steering table at one instant. It is never changed: With
// makes another. The zero value and nil have no valid rule.
type RuleSet struct {
	rules   []rule // the valid ones, lowest index first
	version uint64
}

// Version counts the changes that led to this set.
func (s *RuleSet) Version() uint64 {
	if s == nil {
		return 0
	}
	return s.version
}

// With returns the set in which entry i is e.
func (s *RuleSet) With(i int, e *nicspec.RuleEntryFields) *RuleSet {
	next := &RuleSet{version: s.Version() + 1}
	var old []rule
	if s != nil {
		old = s.rules
	}
	next.rules = make([]rule, 0, len(old)+1)
	for _, r := range old {
		if int(r.index) < i {
			next.rules = append(next.rules, r)
		}
	}
	if e.Valid == 1 {
		next.rules = append(next.rules, compileRule(i, e))
	}
	for _, r := range old {
		if int(r.index) > i {
			next.rules = append(next.rules, r)
		}
	}
	return next
}

func compileRule(i int, e *nicspec.RuleEntryFields) rule {
	r := rule{index: uint16(i), queue: e.Queue, action: e.Action, rssLog: e.RssLog}
	if e.AccountEn == 1 {
		r.account = AccountUse{On: true, ID: e.Account, Queue: e.SlowQueue}
	}
	for w := range keyWords {
		r.mask[w] = binary.LittleEndian.Uint64(e.Mask[8*w:])
		r.value[w] = binary.LittleEndian.Uint64(e.Value[8*w:]) & r.mask[w]
	}
	return r
}

// Match returns the lowest rule that matches a key.
func (s *RuleSet) Match(key *[nicspec.SteerKeySize]byte) (index int, ok bool) {
	if r := s.match(key); r != nil {
		return int(r.index), true
	}
	return 0, false
}

func (s *RuleSet) match(key *[nicspec.SteerKeySize]byte) *rule {
	if s == nil || len(s.rules) == 0 {
		return nil
	}
	var k [keyWords]uint64
	for w := range k {
		k[w] = binary.LittleEndian.Uint64(key[8*w:])
	}
	for i := range s.rules {
		// Ports and QP, then types, tell most rules apart.
		r := &s.rules[i]
		if k[6]&r.mask[6] != r.value[6] || k[0]&r.mask[0] != r.value[0] {
			continue
		}
		miss := (k[1]&r.mask[1] ^ r.value[1]) | (k[2]&r.mask[2] ^ r.value[2]) |
			(k[3]&r.mask[3] ^ r.value[3]) | (k[4]&r.mask[4] ^ r.value[4]) | (k[5]&r.mask[5] ^ r.value[5])
		if miss == 0 {
			return r
		}
	}
	return nil
}
