package driver

import (
	"slices"
	"sort"
)

// Use names the use of a range of memory for observers of the bus. The driver itself ignores it.
type Use uint8

// Uses of memory. Ranges that nobody marked have UseNone.
const (
	UseNone        Use = iota
	UseSendRing        // ring of a transmit queue
	UseRecvRing        // ring of a receive queue
	UseElements        // pipe or ring that carries requests between host and card, and where its elements are staged
	UseCompletions     // completion entries
	UseHeaders         // packet headers
	UsePayload         // payload
	UseDoorbells       // counters and doorbell records
	UseMessages        // destinations of MSI-X messages
	UseContexts        // contexts of a NIC
)

// Uses maps bus addresses to their uses. The zero value has no marks.
type Uses struct{ list []usedRange } // by address, without overlaps

type usedRange struct {
	from, to uint64
	use      Use
}

// Mark sets the use of n bytes at a bus address, whatever it was before.
func (u *Uses) Mark(addr, n uint64, use Use) {
	to := addr + n
	from := u.find(addr)
	end := from
	parts := []usedRange{{addr, to, use}}
	for ; end < len(u.list) && u.list[end].from < to; end++ {
		r := u.list[end]
		if r.from < addr {
			parts = slices.Insert(parts, 0, usedRange{r.from, addr, r.use})
		}
		if r.to > to {
			parts = append(parts, usedRange{to, r.to, r.use})
		}
	}
	u.list = slices.Replace(u.list, from, end, parts...)
}

// find returns the index of the first range that ends behind an address.
func (u *Uses) find(addr uint64) int {
	return sort.Search(len(u.list), func(i int) bool { return u.list[i].to > addr })
}

// Range returns the marked range that holds a bus address: its first address and the one behind it; ok is false if the
// address has no mark.
func (u *Uses) Range(addr uint64) (from, to uint64, ok bool) {
	i := u.find(addr)
	if ok = i < len(u.list) && u.list[i].from <= addr; ok {
		from, to = u.list[i].from, u.list[i].to
	}
	return from, to, ok
}

// Of returns the use of the byte at a bus address.
func (u *Uses) Of(addr uint64) Use {
	if i := u.find(addr); i < len(u.list) && u.list[i].from <= addr {
		return u.list[i].use
	}
	return UseNone
}
