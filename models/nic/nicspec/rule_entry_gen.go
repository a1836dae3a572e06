// Code generated from nic.yaml by go generate ./models/nic/nicspec; DO NOT EDIT.

package nicspec

import "encoding/binary"

// RuleEntrySize is the size of a RuleEntry in bytes.
const RuleEntrySize = 128

// RuleEntry is a view of 128 bytes of memory: table Rule.
// Accessors read and write the bytes in place and panic when there are fewer.
type RuleEntry []byte

// Value returns value, bytes 0..55: SteerKey to compare with.
func (b RuleEntry) Value() []byte { return b[0:56:56] }

// SetValue copies v to value and fills up with zeros; it panics when v is longer than 56 bytes.
func (b RuleEntry) SetValue(v []byte) { putBytes(b[0:56], v) }

// Mask returns mask, bytes 56..111: bits to compare: 1 for bits that must equal value.
func (b RuleEntry) Mask() []byte { return b[56:112:112] }

// SetMask copies v to mask and fills up with zeros; it panics when v is longer than 56 bytes.
func (b RuleEntry) SetMask(v []byte) { putBytes(b[56:112], v) }

// Valid returns valid, byte 112: 1 valid, 0 not; other values BadValue.
func (b RuleEntry) Valid() uint8 { return b[112] }

// SetValid sets valid.
func (b RuleEntry) SetValid(v uint8) { b[112] = v }

// Action returns action, byte 113: Drop, Queue or Rss; other values BadValue.
func (b RuleEntry) Action() Action { return Action(b[113]) }

// SetAction sets action.
func (b RuleEntry) SetAction(v Action) { b[113] = uint8(v) }

// Queue returns queue, bytes 114..115: receive queue, or first entry of the RSS group; beyond the queues of this build BadValue.
func (b RuleEntry) Queue() uint16 { return binary.LittleEndian.Uint16(b[114:]) }

// SetQueue sets queue.
func (b RuleEntry) SetQueue(v uint16) { binary.LittleEndian.PutUint16(b[114:], v) }

// AccountEn returns account_en, byte 116: 1: matching frames draw on the account; above 1 BadValue; must be zero without the part, else NotBuilt (part accounts).
func (b RuleEntry) AccountEn() uint8 { return b[116] }

// SetAccountEn sets account_en.
func (b RuleEntry) SetAccountEn(v uint8) { b[116] = v }

// Account returns account, byte 117: account that matching frames draw on; ignored without the part (part accounts).
func (b RuleEntry) Account() uint8 { return b[117] }

// SetAccount sets account.
func (b RuleEntry) SetAccount(v uint8) { b[117] = v }

// SlowQueue returns slow_queue, bytes 118..119: receive queue of the slow path; ignored without the part (part accounts).
func (b RuleEntry) SlowQueue() uint16 { return binary.LittleEndian.Uint16(b[118:]) }

// SetSlowQueue sets slow_queue.
func (b RuleEntry) SetSlowQueue(v uint16) { binary.LittleEndian.PutUint16(b[118:], v) }

// RssLog returns rss_log, byte 120: action Rss: log2 of the entries of the group; ignored without the part (part rss).
func (b RuleEntry) RssLog() uint8 { return b[120] }

// SetRssLog sets rss_log.
func (b RuleEntry) SetRssLog(v uint8) { b[120] = v }

// RuleEntryFields holds the fields of RuleEntry as plain values.
type RuleEntryFields struct {
	Value     [56]byte // SteerKey to compare with
	Mask      [56]byte // bits to compare: 1 for bits that must equal value
	Valid     uint8    // 1 valid, 0 not; other values BadValue
	Action    Action   // Drop, Queue or Rss; other values BadValue
	Queue     uint16   // receive queue, or first entry of the RSS group; beyond the queues of this build BadValue
	AccountEn uint8    // 1: matching frames draw on the account; above 1 BadValue; must be zero without the part, else NotBuilt (part accounts)
	Account   uint8    // account that matching frames draw on; ignored without the part (part accounts)
	SlowQueue uint16   // receive queue of the slow path; ignored without the part (part accounts)
	RssLog    uint8    // action Rss: log2 of the entries of the group; ignored without the part (part rss)
}

// DecodeRuleEntry reads all fields; it panics when b is shorter than 128 bytes.
func DecodeRuleEntry(b []byte) (f RuleEntryFields) {
	v := RuleEntry(b[:128])
	copy(f.Value[:], v.Value())
	copy(f.Mask[:], v.Mask())
	f.Valid = v.Valid()
	f.Action = v.Action()
	f.Queue = v.Queue()
	f.AccountEn = v.AccountEn()
	f.Account = v.Account()
	f.SlowQueue = v.SlowQueue()
	f.RssLog = v.RssLog()
	return f
}

// Encode writes all fields and zeros the reserved bits of dst's first 128 bytes; it panics when
// there are fewer.
func (f *RuleEntryFields) Encode(dst []byte) {
	v := RuleEntry(dst[:128])
	clear(v)
	v.SetValue(f.Value[:])
	v.SetMask(f.Mask[:])
	v.SetValid(f.Valid)
	v.SetAction(f.Action)
	v.SetQueue(f.Queue)
	v.SetAccountEn(f.AccountEn)
	v.SetAccount(f.Account)
	v.SetSlowQueue(f.SlowQueue)
	v.SetRssLog(f.RssLog)
}

// DiffRuleEntry compares two structures: it returns ok if they are equal, else the first field that differs
// and both values, as StructInfo.Diff does.
func DiffRuleEntry(exp, got []byte) (field, e, g string, ok bool) {
	return RuleEntryInfo.Diff(exp, got)
}

// String lists the fields that are not zero.
func (b RuleEntry) String() string { return RuleEntryInfo.Format(b) }
