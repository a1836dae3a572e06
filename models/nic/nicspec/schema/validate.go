package schema

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
)

var (
	camelName = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	snakeName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	upperName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
)

// checker collects all errors of a contract.
type checker struct {
	file string
	c    *Contract
	errs []error
}

func validate(file string, c *Contract) error {
	k := &checker{file: file, c: c}
	if c.Version != 1 {
		k.errs = append(k.errs, fmt.Errorf("%s: version %d is not known; this reader takes version 1", file, c.Version))
	}
	k.constants()
	k.enums()
	k.registers()
	k.structs()
	k.counters()
	return errors.Join(k.errs...)
}

func (k *checker) errorf(line int, format string, args ...any) {
	k.errs = append(k.errs, fmt.Errorf("%s:%d: %s", k.file, line, fmt.Sprintf(format, args...)))
}

// names checks spelling, presence and uniqueness of the names of one scope.
type names struct {
	k     *checker
	what  string
	want  *regexp.Regexp
	style string
	seen  map[string]int
}

func (k *checker) names(what string, want *regexp.Regexp) *names {
	style := map[*regexp.Regexp]string{
		camelName: "UpperCamel", snakeName: "lower_snake", upperName: "UPPER_SNAKE"}[want]
	return &names{k: k, what: what, want: want, style: style, seen: map[string]int{}}
}

func (n *names) add(line int, name, doc string) {
	switch first, dup := n.seen[name]; {
	case name == "":
		n.k.errorf(line, "%s has no name", n.what)
	case !n.want.MatchString(name):
		n.k.errorf(line, "%s %q: the name must be %s", n.what, name, n.style)
	case dup:
		n.k.errorf(line, "%s %s: the name is already used on line %d", n.what, name, first)
	default:
		n.seen[name] = line
	}
	if doc == "" {
		n.k.errorf(line, "%s %s: doc is missing", n.what, name)
	}
}

func (k *checker) part(line int, what string, p Part) {
	if p == "" {
		return
	}
	for _, f := range k.c.Parts() {
		if f.Name == string(p) {
			return
		}
	}
	k.errorf(line, "%s: part %q is unknown; write a field of register %s", what, p, partsRegister)
}

func (k *checker) constants() {
	n := k.names("constant", camelName)
	for i := range k.c.Constants {
		n.add(k.c.Constants[i].Line, k.c.Constants[i].Name, k.c.Constants[i].Doc)
	}
}

func (k *checker) enums() {
	n := k.names("enum", camelName)
	for i := range k.c.Enums {
		e := &k.c.Enums[i]
		n.add(e.Line, e.Name, "-")
		if e.Width < 1 || e.Width > 32 {
			k.errorf(e.Line, "enum %s: width %d is out of range; write 1..32 bits", e.Name, e.Width)
			continue
		}
		if len(e.Values) == 0 {
			k.errorf(e.Line, "enum %s: it has no values", e.Name)
		}
		k.enumValues(e)
	}
}

func (k *checker) enumValues(e *Enum) {
	n := k.names("enum "+e.Name+": value", camelName)
	codes := map[uint64]string{}
	for i := range e.Values {
		v := &e.Values[i]
		n.add(v.Line, v.Name, v.Doc)
		k.part(v.Line, "enum "+e.Name+": value "+v.Name, v.Part)
		if v.Value>>e.Width != 0 {
			k.errorf(v.Line, "enum %s: value %s = %d does not fit %d bits", e.Name, v.Name, v.Value, e.Width)
		}
		if first, dup := codes[v.Value]; dup {
			k.errorf(v.Line, "enum %s: value %s = %d is already %s", e.Name, v.Name, v.Value, first)
		}
		codes[v.Value] = v.Name
	}
}

func (k *checker) barBytes() uint64 {
	for i := range k.c.Constants {
		if k.c.Constants[i].Name == "BarBytes" {
			return k.c.Constants[i].Value
		}
	}
	return 1 << 32
}

func (k *checker) registers() {
	n := k.names("register", upperName)
	bar := k.barBytes()
	good := make([]*Register, 0, len(k.c.Registers))
	for i := range k.c.Registers {
		r := &k.c.Registers[i]
		n.add(r.Line, r.Name, r.Doc)
		before := len(k.errs)
		k.register(r, bar)
		if len(k.errs) == before {
			good = append(good, r)
		}
		k.regFields(r)
	}
	sort.SliceStable(good, func(i, j int) bool { return good[i].Offset < good[j].Offset })
	for i := 1; i < len(good); i++ {
		a, b := good[i-1], good[i]
		if b.Offset < a.End() {
			k.errorf(b.Line, "register %s at 0x%x overlaps register %s, which ends at 0x%x (line %d)",
				b.Name, b.Offset, a.Name, a.End(), a.Line)
		}
	}
}

func (k *checker) register(r *Register, bar uint64) {
	k.part(r.Line, "register "+r.Name, r.Part)
	if r.Access != "ro" && r.Access != "rw" && r.Access != "wo" {
		k.errorf(r.Line, "register %s: access %q is unknown; write ro, rw or wo", r.Name, r.Access)
	}
	if r.Width < 32 || r.Width%32 != 0 || r.Width > 4096 {
		k.errorf(r.Line, "register %s: width %d; write a multiple of 32 bits up to 4096", r.Name, r.Width)
		return
	}
	if r.Offset%4 != 0 {
		k.errorf(r.Line, "register %s: offset 0x%x is not a multiple of 4", r.Name, r.Offset)
	}
	if r.Reset != nil && r.Width == 32 && *r.Reset>>32 != 0 {
		k.errorf(r.Line, "register %s: reset value 0x%x does not fit 32 bits", r.Name, *r.Reset)
	}
	switch {
	case r.Count < 0 || r.Stride < 0 || r.Count > 1<<20 || r.Stride > 1<<20:
		k.errorf(r.Line, "register %s: count %d, stride %d out of range", r.Name, r.Count, r.Stride)
		return
	case (r.Count == 0) != (r.Stride == 0):
		k.errorf(r.Line, "register %s: count and stride belong together", r.Name)
	case r.Count > 0 && (r.Stride < r.Width/8 || r.Stride%4 != 0):
		k.errorf(r.Line, "register %s: stride %d; write a multiple of 4, at least the %d bytes of one register",
			r.Name, r.Stride, r.Width/8)
	}
	if r.Offset >= bar || r.End() > bar {
		k.errorf(r.Line, "register %s ends at 0x%x, beyond the 0x%x bytes of BAR0", r.Name, r.End(), bar)
	}
}

func (k *checker) regFields(r *Register) {
	if len(r.Fields) > 0 && (r.Width != 32 || r.IsArray()) {
		k.errorf(r.Line, "register %s: fields are for single 32-bit registers", r.Name)
	}
	n := k.names("register "+r.Name+": field", snakeName)
	var used [32]string
	for i := range r.Fields {
		f := &r.Fields[i]
		what := "register " + r.Name + ": field " + f.Name
		n.add(f.Line, f.Name, f.Doc)
		k.part(f.Line, what, f.Part)
		if f.Width < 1 || f.Bit < 0 || f.Width > 32 || f.Bit+f.Width > 32 {
			k.errorf(f.Line, "%s: bit %d, width %d is outside bits 0..31", what, f.Bit, f.Width)
			continue
		}
		k.enumRef(f.Line, what, f.Enum, f.Width)
		k.claim(used[:], f.Bit, f.Width, f.Line, f.Name, what)
	}
}

// claim marks the bits of a field as used. If other fields use some of them, it reports one.
func (k *checker) claim(used []string, bit, width, line int, name, what string) {
	reported := false
	for b := bit; b < bit+width; b++ {
		if used[b] != "" && !reported {
			k.errorf(line, "%s overlaps field %s at bit %d", what, used[b], b)
			reported = true
		}
		used[b] = name
	}
}

func (k *checker) enumRef(line int, what, enum string, width int) {
	if enum == "" {
		return
	}
	e := k.c.Enum(enum)
	if e == nil {
		k.errorf(line, "%s: enum %q is unknown", what, enum)
	} else if e.Width != width {
		k.errorf(line, "%s: it has %d bits but enum %s has %d", what, width, enum, e.Width)
	}
}

func (k *checker) structs() {
	n := k.names("struct", camelName)
	for i := range k.c.Structs {
		s := &k.c.Structs[i]
		n.add(s.Line, s.Name, s.Doc)
		if s.Bytes < 1 || s.Bytes > 4096 {
			k.errorf(s.Line, "struct %s: %d bytes; write 1..4096", s.Name, s.Bytes)
			continue
		}
		fn := k.names("struct "+s.Name+": field", snakeName)
		used := make([]string, 8*s.Bytes)
		for j := range s.Fields {
			f := &s.Fields[j]
			fn.add(f.Line, f.Name, f.Doc)
			k.field(s, f, used)
		}
	}
}

func (k *checker) field(s *Struct, f *Field, used []string) {
	what := "struct " + s.Name + ": field " + f.Name
	k.part(f.Line, what, f.Part)
	if f.Access != "" && f.Access != "ro" && f.Access != "rw" {
		k.errorf(f.Line, "%s: access %q is unknown; write ro or rw", what, f.Access)
	}
	if f.BitInByte < 0 || f.BitInByte > 7 {
		k.errorf(f.Line, "%s: bit %d; write 0..7, the bit inside byte %d", what, f.BitInByte, f.Byte)
		return
	}
	if f.Byte < 0 || f.Byte >= s.Bytes || f.Width < 1 || f.Width > 8*s.Bytes || f.Bit()+f.Width > 8*s.Bytes {
		k.errorf(f.Line, "%s: byte %d, bit %d, width %d is outside the struct's %d bytes",
			what, f.Byte, f.BitInByte, f.Width, s.Bytes)
		return
	}
	switch {
	case f.Kind != "" && !f.IsBytes():
		k.errorf(f.Line, "%s: kind %q is unknown; leave it out for a number, or write bytes", what, f.Kind)
	case f.IsBytes() && (f.BitInByte != 0 || f.Width%8 != 0 || f.Enum != ""):
		k.errorf(f.Line, "%s: a byte string starts at bit 0, is whole bytes and has no enum", what)
	case !f.IsBytes() && f.BitInByte+f.Width > 64:
		k.errorf(f.Line, "%s: a number of %d bits at bit %d spans more than 8 bytes", what, f.Width, f.BitInByte)
	}
	k.enumRef(f.Line, what, f.Enum, f.Width)
	k.claim(used, f.Bit(), f.Width, f.Line, f.Name, what)
}

func (k *checker) counters() {
	n := k.names("counter", upperName)
	limit := 256
	for i := range k.c.Registers {
		if k.c.Registers[i].Name == "COUNTER" {
			limit = k.c.Registers[i].Count
		}
	}
	seen := map[int]string{}
	for i := range k.c.Counters {
		c := &k.c.Counters[i]
		n.add(c.Line, c.Name, c.Doc)
		k.part(c.Line, "counter "+c.Name, c.Part)
		if c.Drop && !c.PerPort() {
			k.errorf(c.Line, "counter %s: a drop counter has scope port", c.Name)
		}
		lo, hi := 0, PortStride
		switch c.Scope {
		case "port":
		case "device":
			lo, hi = DeviceBase, limit
		default:
			k.errorf(c.Line, "counter %s: scope %q is unknown; write port or device", c.Name, c.Scope)
			continue
		}
		if c.Index < lo || c.Index >= hi {
			k.errorf(c.Line, "counter %s: index %d; counters of scope %s have %d..%d", c.Name, c.Index, c.Scope, lo,
				hi-1)
		}
		if first, dup := seen[c.Index]; dup {
			k.errorf(c.Line, "counter %s: index %d is already %s", c.Name, c.Index, first)
		}
		seen[c.Index] = c.Name
	}
}
