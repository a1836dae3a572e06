package golden

import (
	"math"

	"nictwin/models/nic/core"
	"nictwin/models/nicspec"
)

// rssVersions is the RSS key and the indirection table over time, word by word
// and entry by entry [S4].
type rssVersions struct {
	key   [nicspec.RegRssKeyCount]wordVersions
	table [nicspec.RssEntries]wordVersions
	quiet int64 // last cycle in which an older value may be in force
	lost  uint64
}

// wordVersions is what one word was, oldest first; the last is in force. One
// that was never written is empty, and 0.
type wordVersions []wordVersion

type wordVersion struct {
	value       uint32
	from, until int64 // as those of a version
}

const maxWordVersions = 64 // kept of a word

func (s *rssVersions) init() { s.quiet = math.MinInt64 }

// add notes what is configured after a write accepted in a cycle.
func (s *rssVersions) add(was, now *core.Config, cycle int64) {
	if was.RssKey != now.RssKey {
		for i := range s.key {
			s.write(&s.key[i], was.RssKey.Word(i), now.RssKey.Word(i), cycle)
		}
	}
	if was.Indirection != now.Indirection {
		for i := range s.table {
			s.write(&s.table[i], uint32(was.Indirection.At(i)), uint32(now.Indirection.At(i)), cycle)
		}
	}
}

func (s *rssVersions) write(w *wordVersions, was, now uint32, cycle int64) {
	if was == now {
		return
	}
	if len(*w) == 0 {
		*w = append(*w, wordVersion{value: was, from: math.MinInt64})
	}
	if n := len(*w); n > maxWordVersions {
		*w = append((*w)[:0], (*w)[n-maxWordVersions/2:]...)
	}
	s.quiet = cycle + nicspec.VisibleCycles
	(*w)[len(*w)-1].until = s.quiet
	*w = append(*w, wordVersion{value: now, from: cycle, until: math.MaxInt64})
}

// met calls f with every value that a frame can meet.
func (w wordVersions) met(f *rxFrame, visit func(v uint32)) {
	if len(w) == 0 {
		visit(0)
	}
	for _, o := range w {
		if o.until >= f.first && o.from <= f.last+nicspec.VisibleCycles {
			visit(o.value)
		}
	}
}

// spread gives a frame caught in a change of the key or the table a verdict for
// each queue that action Rss can lead to.
func (s *rssVersions) spread(f *rxFrame, v *core.RxVerdict, out []core.RxVerdict) []core.RxVerdict {
	if v.Drop != core.NoDrop || !v.Group.On {
		return append(out, *v)
	}
	var queues [nicspec.RxqMax]bool
	hashes := s.lowHashes(f, v)
	for h, may := range hashes {
		if may {
			s.table[v.Group.Entry(uint32(h))].met(f, func(q uint32) { queues[q] = true })
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

// lowHashes is what the hash of a frame can end in.
func (s *rssVersions) lowHashes(f *rxFrame, v *core.RxVerdict) (set [nicspec.RssEntries]bool) {
	var buf [nicspec.RssKeyBytes]byte
	input := v.RssInput(&buf)
	set[0] = true
	for i := range s.key {
		var next [nicspec.RssEntries]bool
		s.key[i].met(f, func(word uint32) {
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

// maxHashes is how many combinations of old and new words of the key are tried.
const maxHashes = 1 << 18

// canBe reports whether a frame can have a hash.
func (s *rssVersions) canBe(f *rxFrame, v *core.RxVerdict, hash uint32) bool {
	var buf [nicspec.RssKeyBytes]byte
	input := v.RssInput(&buf)
	sums := []uint32{0}
	for i := range s.key {
		var next []uint32
		s.key[i].met(f, func(word uint32) {
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

// settleHash gives a frame caught in a change of the key or the table the hash
// that its completion entry names, if it can have it and the queue is one that
// goes with it.
func (s *rssVersions) settleHash(f *rxFrame, v *core.RxVerdict, hash uint32, queue int) bool {
	if !s.canBe(f, v, hash) {
		return false
	}
	found := !v.Group.On || v.Account.On && int(v.Account.Queue) == queue
	if !found {
		s.table[v.Group.Entry(hash)].met(f, func(q uint32) { found = found || int(q) == queue })
	}
	if found {
		v.Hash = hash
	}
	return found
}
