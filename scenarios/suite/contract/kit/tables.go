package kit

import (
	"nictwin/models/nic/nicspec"
)

const (
	TableOk  = nicspec.TableStatusOk
	TableBad = nicspec.TableStatusBadValue
)

// ValueCase is a change to a valid table entry, and the expected status of writing the changed entry.
type ValueCase[F any] struct {
	Name string
	Mod  func(*F)
	Want nicspec.TableStatus
}

// Built returns an entry as this build reads it back: fields of parts that it lacks are 0.
func (r *Rig) Built(info *nicspec.StructInfo, entry []byte) []byte {
	b := append([]byte(nil), entry...)
	for _, f := range info.Fields {
		if !r.Sizes.Has(f.Part) {
			for bit := f.Bit; bit < f.Bit+f.Width; bit++ {
				b[bit/8] &^= 1 << (bit % 8)
			}
		}
	}
	return b
}

// IfBuilt returns the expected status of an entry that uses a part of the NIC: `want` if the build has the part, else
// NotBuilt.
func (r *Rig) IfBuilt(part nicspec.Cap1Reg, want nicspec.TableStatus) nicspec.TableStatus {
	if r.Sizes.Has(part) {
		return want
	}
	return nicspec.TableStatusNotBuilt
}
