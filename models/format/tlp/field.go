package tlp

import "fmt"

// Field identifies a field of a Header. Diff compares fields in this order.
type Field uint8

// The header fields.
const (
	FieldKind Field = iota
	FieldAddr64
	FieldTC
	FieldAttr
	FieldTD
	FieldEP
	FieldLength
	FieldRequesterID
	FieldTag
	FieldFirstBE
	FieldLastBE
	FieldAddress
	FieldCompleterID
	FieldStatus
	FieldBCM
	FieldByteCount
	FieldLowerAddr
	FieldCode
	FieldRouting
	FieldTargetID
	FieldVendorID
	FieldVendorDW
	NumFields
)

var fieldNames = [NumFields]string{
	"Kind", "Addr64", "TC", "Attr", "TD", "EP", "Length", "RequesterID", "Tag",
	"FirstBE", "LastBE", "Address", "CompleterID", "Status", "BCM", "ByteCount",
	"LowerAddr", "Code", "Routing", "TargetID", "VendorID", "VendorDW",
}

func (f Field) String() string {
	if f < NumFields {
		return fieldNames[f]
	}
	return fmt.Sprintf("Field(%d)", uint8(f))
}

// FieldSet is a set of header fields.
type FieldSet uint32

// Fields returns the set of the given fields.
func Fields(fs ...Field) FieldSet {
	var s FieldSet
	for _, f := range fs {
		s |= 1 << f
	}
	return s
}

// Has reports whether f is in the set.
func (s FieldSet) Has(f Field) bool { return s>>f&1 != 0 }

var (
	commonFields = Fields(FieldKind, FieldTC, FieldAttr, FieldTD, FieldEP, FieldLength, FieldRequesterID, FieldTag)
	memoryFields = commonFields | Fields(FieldAddr64, FieldFirstBE, FieldLastBE, FieldAddress)
	cplFields    = commonFields | Fields(FieldCompleterID, FieldStatus, FieldBCM, FieldByteCount, FieldLowerAddr)
	msgFields    = commonFields | Fields(FieldCode, FieldRouting, FieldTargetID, FieldVendorID, FieldVendorDW)
)

// Fields returns the fields that apply to a TLP of kind k.
func (k Kind) Fields() FieldSet {
	switch {
	case k.IsMemory():
		return memoryFields
	case k.IsCompletion():
		return cplFields
	case k.IsMessage():
		return msgFields
	}
	return Fields(FieldKind)
}

// Has reports whether field f applies to h.
func (h *Header) Has(f Field) bool { return h.Kind.Fields().Has(f) }

// Value returns field f as a number (flags as 0 or 1).
func (h *Header) Value(f Field) uint64 {
	switch f {
	case FieldKind:
		return uint64(h.Kind)
	case FieldAddr64:
		return bit(h.Addr64)
	case FieldTC:
		return uint64(h.TC)
	case FieldAttr:
		return uint64(h.Attr)
	case FieldTD:
		return bit(h.TD)
	case FieldEP:
		return bit(h.EP)
	case FieldLength:
		return uint64(h.Length)
	case FieldRequesterID:
		return uint64(h.RequesterID)
	case FieldTag:
		return uint64(h.Tag)
	case FieldFirstBE:
		return uint64(h.FirstBE)
	case FieldLastBE:
		return uint64(h.LastBE)
	case FieldAddress:
		return h.Address
	}
	return h.otherValue(f)
}

func (h *Header) otherValue(f Field) uint64 {
	switch f {
	case FieldCompleterID:
		return uint64(h.CompleterID)
	case FieldStatus:
		return uint64(h.Status)
	case FieldBCM:
		return bit(h.BCM)
	case FieldByteCount:
		return uint64(h.ByteCount)
	case FieldLowerAddr:
		return uint64(h.LowerAddr)
	case FieldCode:
		return uint64(h.Code)
	case FieldRouting:
		return uint64(h.Routing)
	case FieldTargetID:
		return uint64(h.TargetID)
	case FieldVendorID:
		return uint64(h.VendorID)
	case FieldVendorDW:
		return uint64(h.VendorDW)
	}
	panic("tlp: no such header field: " + f.String())
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Difference is one header field in which two headers differ.
type Difference struct {
	Field Field
	A, B  uint64
}

func (d Difference) String() string {
	var buf [64]byte
	b := append(buf[:0], d.Field.String()...)
	b = append(b, ": "...)
	b = appendValue(b, d.Field, d.A)
	b = append(b, " against "...)
	return string(appendValue(b, d.Field, d.B))
}

// Diff returns the first field in which a and b differ; ok is false if they are equal. Headers of
// different kinds differ in Kind. Fields that do not apply to the kind are not compared.
func Diff(a, b *Header) (d Difference, ok bool) { return DiffExcept(a, b, 0) }

// DiffExcept is Diff without the fields in set `ignore`: for example tags, which a requester may choose freely.
func DiffExcept(a, b *Header, ignore FieldSet) (d Difference, ok bool) {
	look := (a.Kind.Fields() | Fields(FieldKind)) &^ ignore
	if a.Kind != b.Kind {
		look &= b.Kind.Fields()
	}
	for f := range NumFields {
		if !look.Has(f) {
			continue
		}
		if va, vb := a.Value(f), b.Value(f); va != vb {
			return Difference{f, va, vb}, true
		}
	}
	return Difference{}, false
}
