package core

import (
	"encoding/binary"
	"math/bits"

	"nictwin/models/nic/nicspec"
)

// RssKey is the Toeplitz key [S1]. It is immutable: With returns a changed copy. Nil is the
// all-zero key.
type RssKey struct {
	words [nicspec.RegRssKeyCount]uint32
	adds  [rssInputMax][256]uint32 // adds[i][v] is XORed into the hash if byte i of the input is v
}

// rssInputMax is the longest input: two IPv6 addresses and two ports.
const rssInputMax = 36

// With returns the key in which register i of RSS_KEY is v.
func (k *RssKey) With(i int, v uint32) *RssKey {
	next := new(RssKey)
	if k != nil {
		next.words = k.words
	}
	next.words[i] = v
	var key [nicspec.RssKeyBytes]byte
	for w, v := range next.words {
		binary.LittleEndian.PutUint32(key[4*w:], v)
	}
	for at := range next.adds {
		window := uint64(binary.BigEndian.Uint32(key[at:]))<<8 | uint64(key[at+4])
		a := &next.adds[at]
		for bit := range 8 { // the first bit of a byte is its highest
			sum := uint32(window >> (bit + 1))
			for v := 1 << bit; v < 2<<bit; v++ {
				a[v] = a[v-1<<bit] ^ sum
			}
		}
	}
	return next
}

// Word returns register i of RSS_KEY.
func (k *RssKey) Word(i int) uint32 {
	if k == nil {
		return 0
	}
	return k.words[i]
}

// Hash returns the Toeplitz hash of an input of at most 36 bytes.
func (k *RssKey) Hash(input []byte) (sum uint32) {
	if k == nil {
		return 0
	}
	for i, b := range input {
		sum ^= k.adds[i][b]
	}
	return sum
}

// RssInput writes the hashed fields of a frame to buf and returns them [S1]; it returns nil without
// IP.
func (h *Headers) RssInput(buf *[nicspec.RssKeyBytes]byte) []byte {
	n := 0
	switch h.L3Type {
	case nicspec.L3TypeIpv4:
		n = 4
	case nicspec.L3TypeIpv6:
		n = 16
	default:
		return nil
	}
	copy(buf[:], h.Src[:n])
	copy(buf[n:], h.Dst[:n])
	n *= 2
	if h.L4Type != nicspec.L4TypeNone && !h.Frag {
		binary.BigEndian.PutUint16(buf[n:], h.SrcPort)
		binary.BigEndian.PutUint16(buf[n+2:], h.DstPort)
		n += 4
	}
	return buf[:n]
}

// Indirection is the RSS indirection table: the queue of each entry. It is immutable: With returns
// a changed copy. Nil has queue 0 in all entries.
type Indirection [nicspec.RssEntries]uint16

// With returns the table in which entry i names a queue.
func (t *Indirection) With(i int, queue uint16) *Indirection {
	next := new(Indirection)
	if t != nil {
		*next = *t
	}
	next[i] = queue
	return next
}

// At returns the queue of entry i.
func (t *Indirection) At(i int) uint16 {
	if t == nil {
		return 0
	}
	return t[i]
}

// RssGroup is the group of an action Rss: 2^Log entries of the indirection table from Base on.
type RssGroup struct {
	On   bool // the action is Rss
	Base uint16
	Log  uint8
}

// Entry returns the entry of the indirection table for a hash [S3].
func (g *RssGroup) Entry(hash uint32) int {
	return int(uint32(g.Base)+hash&(1<<min(g.Log, nicspec.RssLogMax)-1)) % nicspec.RssEntries
}

// RssWord returns the contribution of register i of RSS_KEY, with value v, to the hash of an input.
// The hash is the XOR of the contributions of all registers.
func RssWord(i int, v uint32, input []byte) (sum uint32) {
	const width = 32
	key := bits.ReverseBytes32(v) // the first bit of key is the highest
	for at := max(0, width*(i-1)+1); at < min(width*(i+1), 8*len(input)); at++ {
		if input[at/8]>>(7-at%8)&1 == 0 {
			continue
		}
		if ahead := width*i - at; ahead >= 0 {
			sum ^= key >> ahead
		} else {
			sum ^= key << -ahead
		}
	}
	return sum
}
