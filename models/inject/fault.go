package inject

import (
	"fmt"
	"slices"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// FaultKind names what is wrong with the answer to a read.
type FaultKind uint8

// NumFaults is the number of fault kinds, FaultNone included.
const NumFaults = int(numFaults)

// Kinds of fault. A fault that ends a read does so with the completion that it strikes: later completions are not
// sent.
const (
	FaultNone      FaultKind = iota // no fault: the answer may still be delayed
	FaultUR                         // the read ends with status UR
	FaultCA                         // the read ends with status CA
	FaultCRS                        // the read ends with status CRS
	FaultReserved                   // the read ends with a status that the standard does not define
	FaultPoison                     // the completion has EP set; later ones still follow
	FaultSilent                     // the completion and all later ones are missing
	FaultByteCount                  // byte count too large by one
	FaultLowerAddr                  // lower address too large by four
	FaultShort                      // the last DW of the completion's data is missing
	// one DW more than requested, or than MPS allows; a completion of 1,024 DWs is not changed
	FaultLong
	FaultNoData        // status SC, but without data
	FaultWrongData     // status UR, with data
	FaultTwice         // the completion is sent twice
	FaultTag           // the tag differs in its top bit; the changed tag may be in use or not
	FaultRequester     // the requester ID is wrong
	FaultPoisonedUR    // status UR, with data and EP set: the read must fail for the status [P6]
	FaultPoisonedCount // like FaultByteCount, with EP set: the read must fail for EP [P6]
	numFaults
)

var faultNames = [numFaults]string{
	"none", "UR", "CA", "CRS", "reserved status", "poison", "silent", "byte count", "lower address", "short", "long",
	"no data", "wrong data", "twice", "tag", "requester", "poisoned UR",
	"poisoned byte count",
}

func (k FaultKind) String() string {
	if k < numFaults {
		return faultNames[k]
	}
	return fmt.Sprintf("FaultKind(%d)", uint8(k))
}

// Fault selects reads, and says what is wrong with their answers.
type Fault struct {
	Kind     FaultKind
	From, To uint64     // range of bus addresses of the reads' first bytes; To is excluded
	Skip     int        // number of matching reads that are left alone first
	Count    int        // number of reads struck after the first Skip ones; 0: all
	Nth      int        // index of the struck completion of a read, from 0; the last if there are fewer
	Delay    simcore.Ps // delay of the read's request
	// delay of the completion with index Nth and of those after it; ignored if Nth is 0
	Gap simcore.Ps
}

// Range is a range of bus addresses; To is excluded.
type Range struct{ From, To uint64 }

// armed is a fault, with counts of the reads that it matched and of those that it struck.
type armed struct {
	Fault
	further  []Range
	met, hit int
}

// has reports whether an address is in a range of the fault.
func (a *armed) has(at uint64) bool {
	return at >= a.From && at < a.To ||
		slices.ContainsFunc(a.further, func(r Range) bool { return at >= r.From && at < r.To })
}

// Add adds a fault, of reads in its range or a further one; Skip and Count count those of all ranges. The first fault
// that matches a read applies to it. Add fails on an unknown kind or an empty range.
func (f *Faults) Add(x Fault, further ...Range) error {
	if x.Kind >= numFaults {
		return fmt.Errorf("inject: fault of kind %d: want 0 to %d", x.Kind, numFaults-1)
	}
	for _, r := range append([]Range{{x.From, x.To}}, further...) {
		if r.From >= r.To {
			return fmt.Errorf("inject: fault %v strikes addresses %#x to %#x: want a range that is not empty", x.Kind,
				r.From, r.To)
		}
	}
	f.list = append(f.list, &armed{Fault: x, further: further})
	return nil
}

// Clear removes all faults. Reads already struck keep their faults.
func (f *Faults) Clear() { f.list = nil }

// Hits returns the number of reads struck by the present faults.
func (f *Faults) Hits() int {
	n := 0
	for _, a := range f.list {
		n += a.hit
	}
	return n
}

// meet returns the fault that strikes a read, and counts it, or returns nil.
func (f *Faults) meet(h *tlp.Header) *armed {
	off, _ := h.Span()
	at := h.Address + uint64(off)
	for _, a := range f.list {
		if !a.has(at) {
			continue
		}
		a.met++
		if a.met > a.Skip && (a.Count == 0 || a.hit < a.Count) {
			a.hit++
			if f.Struck != nil {
				f.Struck(&a.Fault, h)
			}
			return a
		}
	}
	return nil
}

// strike applies a fault to a completion. It returns how many copies to send, and whether later completions of the
// read are dropped.
func (k FaultKind) strike(p *tlp.Packet) (copies int, last bool, err error) {
	h := tlp.Parse(&p.Hdr)
	copies = 1
	if h.Kind != tlp.CplD && k != FaultSilent && k != FaultTwice {
		return copies, false, nil // left unchanged
	}
	switch k {
	case FaultUR, FaultCA, FaultCRS, FaultReserved:
		h.Kind, h.Length, h.EP = tlp.Cpl, 0, false
		h.Status = failing[k]
		p.Data, last = nil, true
	case FaultPoison:
		h.EP = true
	case FaultSilent:
		return 0, true, nil
	case FaultByteCount, FaultPoisonedCount:
		h.ByteCount, h.EP = h.ByteCount%tlp.PageBytes+1, k == FaultPoisonedCount
	case FaultLowerAddr:
		h.LowerAddr = (h.LowerAddr + tlp.DWBytes) & 0x7f
	case FaultShort:
		p.Data = p.Data[:len(p.Data)-tlp.DWBytes]
		if h.Length--; h.Length == 0 {
			h.Kind, p.Data = tlp.Cpl, nil
		}
	case FaultLong:
		if h.Length == tlp.MaxLengthDW {
			return copies, false, nil
		}
		p.Data = append(p.Data, make([]byte, tlp.DWBytes)...)
		h.Length++
	case FaultNoData:
		h.Kind, h.Length, p.Data = tlp.Cpl, 0, nil
	case FaultWrongData, FaultPoisonedUR:
		h.Status, h.EP, last = tlp.StatusUR, k == FaultPoisonedUR, true
	case FaultTwice:
		copies = 2
	case FaultTag:
		h.Tag ^= 0x80
	case FaultRequester:
		h.RequesterID ^= 1
	}
	return copies, last, p.SetHeader(&h)
}

var failing = map[FaultKind]tlp.Status{
	FaultUR: tlp.StatusUR, FaultCA: tlp.StatusCA, FaultCRS: tlp.StatusCRS, FaultReserved: 5,
}

// ParseFault returns the kind with the given name, as printed by String.
func ParseFault(name string) (FaultKind, error) {
	for k, n := range faultNames {
		if n == name {
			return FaultKind(k), nil
		}
	}
	return 0, fmt.Errorf("inject: fault %q: want one of %q", name, faultNames)
}
