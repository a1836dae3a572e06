package inject

import (
	"fmt"

	"nictwin/models/format/tlp"
	"nictwin/models/sim/simcore"
)

// FaultKind is what goes wrong with the answer to a read.
type FaultKind uint8

// NumFaults is how many kinds there are.
const NumFaults = int(numFaults)

// The kinds of fault. Those that end a read do so with the completion they
// strike: what would have followed is not sent.
const (
	FaultNone      FaultKind = iota // nothing; for a fault that only delays
	FaultUR                         // ends with status UR
	FaultCA                         // ends with status CA
	FaultCRS                        // ends with status CRS
	FaultReserved                   // ends with a status that the standard does not define
	FaultPoison                     // the completion has EP set; those after it follow
	FaultSilent                     // the completion, and all after it, are missing
	FaultByteCount                  // one byte more to come than there is
	FaultLowerAddr                  // starts four bytes further
	FaultShort                      // the last DW of its data is missing
	// brings one DW more than it should, or than MPS allows; one of 1,024 DWs stays as it is
	FaultLong
	FaultNoData        // successful, without data
	FaultWrongData     // status UR, with data
	FaultTwice         // sent twice
	FaultTag           // another tag, whether it is in use or not
	FaultRequester     // the ID of another requester
	FaultPoisonedUR    // status UR, with data and EP set: the status counts
	FaultPoisonedCount // as FaultByteCount, with EP set: that counts
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

// Fault says which reads go wrong, and how.
type Fault struct {
	Kind     FaultKind
	From, To uint64     // reads whose first byte lies at these bus addresses, To not included
	Skip     int        // the first so many of them are spared
	Count    int        // so many are struck; 0: all
	Nth      int        // the completion that is struck, from 0; the last if there are fewer
	Delay    simcore.Ps // the answer begins so much later
	// the completion that is struck, unless it is the first, comes so much later, with those after it
	Gap simcore.Ps
}

// armed is a fault and how often it was met.
type armed struct {
	Fault
	met, hit int
}

// Add puts a fault into force; of several, the first that fits a read applies.
// It fails on a kind that there is not, or an empty range.
func (f *Faults) Add(x Fault) error {
	if x.Kind >= numFaults {
		return fmt.Errorf("inject: fault of kind %d: want 0 to %d", x.Kind, numFaults-1)
	}
	if x.From >= x.To {
		return fmt.Errorf("inject: fault %v strikes addresses %#x to %#x: want a range that is not empty", x.Kind,
			x.From, x.To)
	}
	f.list = append(f.list, &armed{Fault: x})
	return nil
}

// Clear takes all faults out of force. Reads that were struck go on as they
// were to.
func (f *Faults) Clear() { f.list = nil }

// Hits is how many reads were struck by faults that are in force.
func (f *Faults) Hits() int {
	n := 0
	for _, a := range f.list {
		n += a.hit
	}
	return n
}

// meet returns the fault that strikes a read, or nil.
func (f *Faults) meet(h *tlp.Header) *armed {
	off, _ := h.Span()
	at := h.Address + uint64(off)
	for _, a := range f.list {
		if at < a.From || at >= a.To {
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

// strike changes a completion. copies is how often it is to be sent, last that
// nothing of the answer follows.
func (k FaultKind) strike(p *tlp.Packet) (copies int, last bool, err error) {
	h := tlp.Parse(&p.Hdr)
	copies = 1
	if h.Kind != tlp.CplD && k != FaultSilent && k != FaultTwice {
		return copies, false, nil // it fails as it is
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

// ParseFault returns the kind of a name, as String gives it.
func ParseFault(name string) (FaultKind, error) {
	for k, n := range faultNames {
		if n == name {
			return FaultKind(k), nil
		}
	}
	return 0, fmt.Errorf("inject: fault %q: want one of %q", name, faultNames)
}
