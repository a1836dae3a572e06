package schema

import "strings"

// Layout of the 64-bit counter block: each port has a block of counters, followed by those of the
// device.
const (
	PortStride = 32  // counter indices per port
	PortsMax   = 4   // ports with a block of counters each
	DeviceBase = 128 // first index of the device's own counters, PortStride*PortsMax
)

// Contract is the content of nic.yaml.
type Contract struct {
	Version   int        `yaml:"version"`
	Constants []Constant `yaml:"constants"`
	Enums     []Enum     `yaml:"enums"`
	Registers []Register `yaml:"registers"`
	Structs   []Struct   `yaml:"structs"`
	Counters  []Counter  `yaml:"counters"`
}

// Constant is a named number.
type Constant struct {
	Name  string `yaml:"name"`
	Value uint64 `yaml:"value"`
	Doc   string `yaml:"doc"`
	Line  int    `yaml:"-"`
}

// Enum is a list of named codes of Width bits.
type Enum struct {
	Name   string      `yaml:"name"`
	Width  int         `yaml:"width"`
	Doc    string      `yaml:"doc"`
	Values []EnumValue `yaml:"values"`
	Line   int         `yaml:"-"`
}

// EnumValue is one code of an Enum.
type EnumValue struct {
	Name  string `yaml:"name"`
	Value uint64 `yaml:"value"`
	Part  Part   `yaml:"part"`
	Doc   string `yaml:"doc"`
	Line  int    `yaml:"-"`
}

// Register is one register, or Count of them Stride bytes apart. Offset and Stride are in bytes, Width in bits.
type Register struct {
	Name   string     `yaml:"name"`
	Offset uint64     `yaml:"offset"`
	Width  int        `yaml:"width"` // 32 when absent
	Count  int        `yaml:"count"` // 0: not an array
	Stride int        `yaml:"stride"`
	Access Access     `yaml:"access"`
	Reset  *uint64    `yaml:"reset"` // nil: no fixed reset value
	Part   Part       `yaml:"part"`
	Doc    string     `yaml:"doc"`
	Fields []RegField `yaml:"fields"`
	Line   int        `yaml:"-"`
}

// IsArray reports whether the register is indexed.
func (r *Register) IsArray() bool { return r.Count > 0 }

// ResetValue returns the reset value, 0 if none is given.
func (r *Register) ResetValue() uint64 {
	if r.Reset == nil {
		return 0
	}
	return *r.Reset
}

// End returns the first byte after the register, or after the last one of an array.
func (r *Register) End() uint64 {
	end := r.Offset + uint64(r.Width)/8
	if r.Count > 1 {
		end += uint64(r.Count-1) * uint64(r.Stride)
	}
	return end
}

// RegField is a bit field of a 32-bit register.
type RegField struct {
	Name  string `yaml:"name"`
	Bit   int    `yaml:"bit"`
	Width int    `yaml:"width"`
	Enum  string `yaml:"enum"`
	Part  Part   `yaml:"part"`
	Doc   string `yaml:"doc"`
	Line  int    `yaml:"-"`
}

// Struct is a structure in memory or in a table.
type Struct struct {
	Name   string  `yaml:"name"`
	Bytes  int     `yaml:"bytes"`
	Doc    string  `yaml:"doc"`
	Fields []Field `yaml:"fields"`
	Line   int     `yaml:"-"`
}

// Field is a field of a Struct. Byte is the offset of its first byte, BitInByte its first bit
// inside that byte, Width its size in bits.
type Field struct {
	Name      string `yaml:"name"`
	Byte      int    `yaml:"byte"`
	BitInByte int    `yaml:"bit"`
	Width     int    `yaml:"width"`
	Kind      string `yaml:"kind"` // "" number, "bytes" byte string in frame order
	Enum      string `yaml:"enum"`
	Access    Access `yaml:"access"` // "" rw
	Part      Part   `yaml:"part"`
	Doc       string `yaml:"doc"`
	Line      int    `yaml:"-"`
}

// Bit returns the position of the field's lowest bit, counted from bit 0 of byte 0.
func (f *Field) Bit() int { return 8*f.Byte + f.BitInByte }

// IsBytes reports whether the field is a byte string.
func (f *Field) IsBytes() bool { return f.Kind == "bytes" }

// Counter is a 64-bit counter: Index is relative to the port's block for scope port, absolute for scope device.
type Counter struct {
	Name  string `yaml:"name"`
	Index int    `yaml:"index"`
	Scope string `yaml:"scope"`
	Drop  bool   `yaml:"drop"`
	Part  Part   `yaml:"part"`
	Doc   string `yaml:"doc"`
	Line  int    `yaml:"-"`
}

// PerPort reports whether every port has this counter.
func (c *Counter) PerPort() bool { return c.Scope == "port" }

// Part names the part of the device that an item belongs to: an optional part, which is a field of
// register CAP1, or "" for the core, which every build has.
type Part string

// partsRegister is the register whose fields are the optional parts.
const partsRegister = "CAP1"

// Parts lists the optional parts: the fields of register CAP1.
func (c *Contract) Parts() []RegField {
	for i := range c.Registers {
		if c.Registers[i].Name == partsRegister {
			return c.Registers[i].Fields
		}
	}
	return nil
}

// Access is ro, rw, wo, or "" where a default applies.
type Access string

// Enum returns the enum of that name, or nil.
func (c *Contract) Enum(name string) *Enum {
	for i := range c.Enums {
		if c.Enums[i].Name == name {
			return &c.Enums[i]
		}
	}
	return nil
}

// Camel turns snake_case or UPPER_SNAKE into UpperCamel: tbl_cmd, TBL_CMD → TblCmd.
func Camel(s string) string {
	var b strings.Builder
	for _, part := range strings.Split(strings.ToLower(s), "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// Snake turns UpperCamel into snake_case: RxCqe → rx_cqe, L3Type → l3_type.
func Snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
