package order

import "nictwin/models/format/tlp"

// Passing is an entry of the ordering table: whether a TLP may pass an earlier one.
type Passing uint8

// The entries of the table. MayPass is the standard's "Y/N": passing is permitted, but nothing may
// depend on it. MustPass is its "Yes": the second TLP must be able to pass the first if the first
// is blocked, to avoid deadlock.
const (
	MustNotPass Passing = iota
	MayPass
	MustPass
)

func (p Passing) String() string { return [...]string{"No", "Y/N", "Yes"}[p] }

// Key holds the properties of a TLP that the table depends on.
type Key struct {
	Class   tlp.Class
	Relaxed bool   // relaxed ordering (RO)
	ID      uint32 // completions: requester ID and tag of the request
}

// KeyOf returns the key of a TLP.
func KeyOf(h *tlp.Header) Key {
	k := Key{Class: h.Kind.Class(), Relaxed: h.Attr&tlp.RelaxedOrder != 0}
	if k.Class == tlp.Completion {
		k.ID = uint32(h.RequesterID)<<8 | uint32(h.Tag)
	}
	return k
}

// Entry returns the table's entry for a TLP that follows another: whether second may pass first.
func Entry(second, first Key) Passing {
	switch second.Class {
	case tlp.Posted:
		if first.Class == tlp.Posted {
			return relaxed(second) // table 2-40, entry A2
		}
		if first.Class == tlp.NonPosted {
			return MustPass // entry A3
		}
		return MayPass // entry A5a; A5b is for bridges to PCI
	case tlp.NonPosted:
		if first.Class == tlp.Posted {
			return MustNotPass // entry B2a; RO changes nothing for a read
		}
		return MayPass // entries B3, B5
	}
	switch {
	case first.Class == tlp.Posted:
		return relaxed(second) // entry D2
	case first.Class == tlp.NonPosted:
		return MustPass // entry D3
	case first.ID == second.ID:
		return MustNotPass // entry D5b
	}
	return MayPass // entry D5a
}

// relaxed returns the entry for cells in which only the RO bit of the second TLP lets it pass.
func relaxed(second Key) Passing {
	if second.Relaxed {
		return MayPass
	}
	return MustNotPass
}
