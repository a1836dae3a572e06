package driver

import (
	"fmt"
	"slices"
	"sort"
)

// Arena allocates a range of bus addresses. It takes the lowest place that fits, so the same calls give the same
// addresses.
type Arena struct {
	free []extent          // by address, never adjacent
	used map[uint64]uint64 // lengths of allocations, by address
	uses *Uses             // what the memory is for
}

// extent is the address range [from, to).
type extent struct{ from, to uint64 }

// NewArena returns an arena of n bytes at a bus address.
func NewArena(from, n uint64) *Arena {
	a := &Arena{used: map[uint64]uint64{}, uses: new(Uses)}
	if n > 0 {
		a.free = []extent{{from, from + n}}
	}
	return a
}

// Within returns an arena of n bytes at a bus address, which this arena has allocated. Both arenas share the marks of
// uses.
func (a *Arena) Within(from, n uint64) *Arena {
	b := NewArena(from, n)
	b.uses = a.uses
	return b
}

// Mark sets the use of n bytes at a bus address.
func (a *Arena) Mark(addr, n uint64, use Use) { a.uses.Mark(addr, n, use) }

// Uses returns the marks.
func (a *Arena) Uses() *Uses { return a.uses }

// Left returns the number of free bytes, which may be fragmented.
func (a *Arena) Left() uint64 {
	n := uint64(0)
	for _, e := range a.free {
		n += e.to - e.from
	}
	return n
}

// Largest returns the length of the longest free piece in bytes.
func (a *Arena) Largest() uint64 {
	n := uint64(0)
	for _, e := range a.free {
		n = max(n, e.to-e.from)
	}
	return n
}

// Alloc allocates n bytes at a multiple of align, a power of two.
func (a *Arena) Alloc(n, align uint64) (uint64, error) {
	if n == 0 || align == 0 || align&(align-1) != 0 {
		return 0, fmt.Errorf("driver: allocating %d B at a multiple of %d: want 1 B or more, and a power of two", n,
			align)
	}
	for i, e := range a.free {
		at := (e.from + align - 1) &^ (align - 1)
		if at < e.from || at >= e.to || n > e.to-at {
			continue
		}
		var left []extent
		if e.from < at {
			left = append(left, extent{e.from, at})
		}
		if at+n < e.to {
			left = append(left, extent{at + n, e.to})
		}
		a.free = slices.Replace(a.free, i, i+1, left...)
		a.used[at] = n
		return at, nil
	}
	return 0, &RoomError{Endpoint: partOfMemory, Bytes: n, Align: align, Left: a.Left(), Largest: a.Largest()}
}

// Free frees memory that Alloc returned.
func (a *Arena) Free(addr uint64) error {
	n, ok := a.used[addr]
	if !ok {
		return fmt.Errorf("driver: freeing %#x: want an address that Alloc returned and that was not freed since", addr)
	}
	delete(a.used, addr)
	e := extent{addr, addr + n}
	from := sort.Search(len(a.free), func(i int) bool { return a.free[i].to >= e.from })
	to := from
	for to < len(a.free) && a.free[to].from <= e.to { // merge with free neighbours
		e.from, e.to = min(e.from, a.free[to].from), max(e.to, a.free[to].to)
		to++
	}
	a.free = slices.Replace(a.free, from, to, e)
	return nil
}
