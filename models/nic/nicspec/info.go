package nicspec

// FieldInfo describes one field of a structure: Bit is its lowest bit counted from bit 0 of byte 0, Width its
// size in bits. A byte string (Bytes) has its first byte at the lowest address; everything else is a
// little-endian number, named by Enum when it is a code.
type FieldInfo struct {
	Name     string
	Bit      int
	Width    int
	Bytes    bool
	Enum     func(uint64) string // nil: plain number
	ReadOnly bool                // ignored on write
	Part     Cap1Reg             // optional part that the field belongs to; 0: the NIC without optional parts
	Doc      string
}

// StructInfo describes one structure; Fields are in ascending order of position.
type StructInfo struct {
	Name   string
	Bytes  int
	Doc    string
	Fields []FieldInfo
}

// RegFieldInfo describes one bit field of a 32-bit register.
type RegFieldInfo struct {
	Name  string
	Bit   int
	Width int
	Part  Cap1Reg // optional part that the field belongs to; 0: the NIC without optional parts
	Doc   string
}

// Access is the kind of access that a register allows.
type Access uint8

// The kinds of access.
const (
	ReadOnly Access = iota
	ReadWrite
	WriteOnly
)

// String returns ro, rw or wo.
func (a Access) String() string {
	return [...]string{"ro", "rw", "wo"}[a]
}

// RegInfo describes one register, or Count of them Stride bytes apart. Offset and Stride are in bytes from the
// start of BAR0, Width in bits. Count is 0 for a single register.
type RegInfo struct {
	Name   string
	Offset uint32
	Width  int
	Count  int
	Stride int
	Access Access
	Reset  uint64
	Part   Cap1Reg // optional part that the register belongs to; 0: the NIC without optional parts
	Doc    string
	Fields []RegFieldInfo
}

// Find returns which entry i of the register contains the byte offset `off`, 0 for a single register, and the byte
// inside the entry. ok is false if `off` lies outside or in the gap between two entries.
func (r *RegInfo) Find(off uint32) (i, at int, ok bool) {
	if off < r.Offset {
		return 0, 0, false
	}
	at = int(off - r.Offset)
	if r.Count > 0 {
		i, at = at/r.Stride, at%r.Stride
		if i >= r.Count {
			return 0, 0, false
		}
	}
	if at >= r.Width/8 {
		return 0, 0, false
	}
	return i, at, true
}

// RegisterAt returns the register that contains the byte at offset `off` of BAR0, the number i of the
// entry if the register is an array, and the byte inside the entry. It returns nil if no register
// contains the byte.
func RegisterAt(off uint32) (r *RegInfo, i, at int) {
	lo, hi := 0, len(Registers) // binary search for the last register that starts at or before off
	for lo < hi {
		if mid := (lo + hi) / 2; Registers[mid].Offset <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil, 0, 0
	}
	r = &Registers[lo-1]
	i, at, ok := r.Find(off)
	if !ok {
		return nil, 0, 0
	}
	return r, i, at
}
