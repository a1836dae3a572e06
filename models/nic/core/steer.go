package core

import (
	"encoding/binary"

	"nictwin/models/nic/nicspec"
)

// maxPorts is the largest number of Ethernet ports.
const maxPorts = 2

// NoDrop, in place of a drop counter, means that the frame is not dropped.
const NoDrop nicspec.PortCounter = 0xff

// Config is the receive configuration, the state of registers and tables at one moment [R6]. It is
// a value: later writes do not change a copy.
type Config struct {
	RxEnable      bool
	DropIPCsum    bool
	DropL4Csum    bool
	DropICRC      bool
	DropCRC32C    bool
	RocePort      uint16
	DefaultAction nicspec.Action // Queue, Rss, or anything else for Drop
	DefaultQueue  uint16
	DefaultLog    uint8    // log2 of the RSS group's size, for action Rss
	Rules         *RuleSet // nil: no rules

	Pause PauseSet

	CRC32C      bool // the build has the part
	Rss         bool // the build has the part
	RssKey      *RssKey
	Indirection *Indirection
}

// RxVerdict is the result of the receive steps before the queue.
type RxVerdict struct {
	Drop    nicspec.PortCounter // NoDrop, or the cause
	Queue   uint16              // if not dropped
	Rule    uint16              // the matching rule, or nicspec.RuleNone
	Checked bool                // Headers and verdicts are valid: Front let the frame pass
	Group   RssGroup            // RSS group that Queue was chosen from
	Hash    uint32              // RSS hash, 0 without the part
	Account AccountUse          // account that decides between Queue and its slow queue [A2]
	Headers
	IPCsum, L4Csum, ICRC nicspec.Verdict

	Crc        uint32 // CRC-32C of the payload, for queues whose crc_mode uses it [X3]
	CrcVerdict nicspec.Verdict
	DropCrc    bool // CrcVerdict is Bad and RX_CTRL says to drop such frames [X5]
}

// Hit returns the rule whose counter in RULE_HITS counts the frame, if any [R5].
func (v *RxVerdict) Hit() (rule int, ok bool) { return int(v.Rule), v.Rule != nicspec.RuleNone }

// Classify applies [R2], [R4] and [R5]: it parses and checks a frame received on port, and finds
// its queue or the reason to drop it.
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

// Gate returns the drop counter for a frame of n bytes if receive is off or the length is not legal
// [R2], or NoDrop.
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

// Front applies Gate and then [F2]. For a pause frame that is honoured it returns CntRxPause, which
// counts no drop, but the frame goes no further.
func (c *Config) Front(port int, frame []byte) nicspec.PortCounter {
	if drop := c.Gate(len(frame)); drop != NoDrop || !c.Pause[port].honours(frame) {
		return drop
	}
	return nicspec.CntRxPause
}

// checks returns the drop counter of a frame with a bad checksum that RX_CTRL says to drop, or
// NoDrop [R4].
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

// Steer applies [R5] and [S3] to a frame with known headers that came by `port`: it sets rule, queue or drop, hash and
// account in `v`.
func (c *Config) Steer(port int, h *Headers, v *RxVerdict) {
	*v = RxVerdict{Drop: NoDrop, Rule: nicspec.RuleNone, Headers: *h}
	c.steer(port, v)
}

// steer applies [R5] to the headers in v.
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

// direct sets the queue that an action names [S3]. It reports false if the action names none.
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

// rule is a valid rule, prepared for matching.
type rule struct {
	value, mask [keyWords]uint64 // value has no bit outside mask
	index       uint16
	queue       uint16
	action      nicspec.Action
	rssLog      uint8
	account     AccountUse
}

// RuleSet is the steering table. It is immutable: With returns a changed copy. The zero value and
// nil have no valid rule.
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
		// Words 0 and 6 hold the port and the destination QP, in which most rules differ: compare
		// them first.
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
