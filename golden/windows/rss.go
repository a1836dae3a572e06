package windows

import (
	"nictwin/models/nic/core"
	"nictwin/models/nic/nicspec"
)

// rss holds the RSS key and the indirection table over time, word by word and entry by entry [S4].
type rss struct {
	key   [nicspec.RegRssKeyCount]history[uint32]
	table [nicspec.RssEntries]history[uint32]
	quiet int64 // last cycle in which an old value may be in force
	lost  uint64
}

// written records the configuration after a write accepted in a cycle.
func (s *rss) written(was, now *core.Config, cycle int64) {
	if was.RssKey != now.RssKey {
		for i := range s.key {
			s.quiet = max(s.quiet, s.key[i].record(now.RssKey.Word(i), cycle))
		}
	}
	if was.Indirection != now.Indirection {
		for i := range s.table {
			s.quiet = max(s.quiet, s.table[i].record(uint32(now.Indirection.At(i)), cycle))
		}
	}
}

// spread appends a verdict for each queue that action Rss can lead to, for a frame that came in
// during a change of the key or the table.
func (s *rss) spread(at Span, v *core.RxVerdict, out []core.RxVerdict) []core.RxVerdict {
	if v.Drop != core.NoDrop || !v.Group.On {
		return append(out, *v)
	}
	var queues [nicspec.RxqMax]bool
	hashes := s.lowHashes(at, v)
	for h, may := range hashes {
		if may {
			s.table[v.Group.Entry(uint32(h))].each(at, func(q uint32) { queues[q] = true })
		}
	}
	for q, may := range queues {
		if may {
			alt := *v
			alt.Queue = uint16(q)
			out = append(out, alt)
		}
	}
	return out
}

// lowHashes returns the set of values that the low bits of a frame's hash can have.
func (s *rss) lowHashes(at Span, v *core.RxVerdict) (set [nicspec.RssEntries]bool) {
	var buf [nicspec.RssKeyBytes]byte
	input := v.RssInput(&buf)
	set[0] = true
	for i := range s.key {
		var next [nicspec.RssEntries]bool
		s.key[i].each(at, func(word uint32) {
			add := core.RssWord(i, word, input)
			for h, may := range set {
				if may {
					next[uint8(uint32(h)^add)] = true
				}
			}
		})
		set = next
	}
	return set
}

// maxHashes is the largest number of combinations of old and new key words that canBe tries.
const maxHashes = 1 << 18

// canBe reports whether a frame can have a hash, with some combination of old and new key words.
func (s *rss) canBe(at Span, v *core.RxVerdict, hash uint32) bool {
	var buf [nicspec.RssKeyBytes]byte
	input := v.RssInput(&buf)
	sums := []uint32{0}
	for i := range s.key {
		var next []uint32
		s.key[i].each(at, func(word uint32) {
			add := core.RssWord(i, word, input)
			for _, h := range sums {
				next = append(next, h^add)
			}
		})
		if len(next) > maxHashes {
			s.lost++
			return true
		}
		sums = next
	}
	for _, h := range sums {
		if h == hash {
			return true
		}
	}
	return false
}

// settle implements Receive.SettleHash.
func (s *rss) settle(at Span, v *core.RxVerdict, hash uint32, queue int) bool {
	if !s.canBe(at, v, hash) {
		return false
	}
	found := !v.Group.On || v.Account.On && int(v.Account.Queue) == queue
	if !found {
		s.table[v.Group.Entry(hash)].each(at, func(q uint32) { found = found || int(q) == queue })
	}
	if found {
		v.Hash = hash
	}
	return found
}
