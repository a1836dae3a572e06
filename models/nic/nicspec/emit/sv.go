package emit

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"nictwin/models/nic/nicspec/schema"
)

const svHead = `/// Registers, structures and codes of the NIC: package nic_pkg.
/// Generated from models/nic/nicspec/nic.yaml by go generate ./models/nic/nicspec; do not edit.
/// Bit 0 of a packed structure is bit 0 of its byte 0; the first byte of a byte string is lowest.

package nic_pkg;

`

// svWidth is the maximum length of a generated line.
const svWidth = 100

// svReserved holds the reserved words of SystemVerilog (IEEE 1800) and C++, which cannot name a
// member.
var svReserved = map[string]bool{}

func init() {
	for _, k := range strings.Fields(`accept_on alias always and assert assign assume automatic before begin bind
		bins binsof bit break buf byte case cell chandle checker class clocking cmos config const constraint context
		continue
		cover cross deassign default defparam design disable dist do edge else end enum event eventually
		expect export extends extern final first_match for force foreach forever fork forkjoin function
		generate genvar global highz0 highz1 if iff ifnone implements implies import incdir include
		initial inout input inside instance int integer interconnect interface intersect join large let
		liblist library local localparam logic longint macromodule matches medium modport module nand
		negedge nettype new nexttime nmos nor not null or output package packed parameter pmos posedge
		primitive priority program property protected pull0 pull1 pulldown pullup pure rand randc randcase
		randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos
		rtran scalared sequence shortint shortreal signed small soft solve specify specparam static string
		strong strong0 strong1 struct super supply0 supply1 table tagged task this throughout time
		timeprecision timeunit tran tri tri0 tri1 triand trior trireg type typedef union unique unique0
		unsigned until untyped use uwire var vectored virtual void wait wand weak weak0 weak1 while
		wildcard wire with within wor xnor xor` + cxxReserved) {
		svReserved[k] = true
	}
}

// cxxReserved lists words that are reserved in the C++ that Verilator generates. Its lint reports
// them.
const cxxReserved = ` abort alignas alignof and_eq asm auto bitand bitor bool catch cdecl char char16_t char32_t
	compl concept constexpr const_cast decltype delete double dynamic_cast explicit false far
	float friend goto huge inline interrupt long map mutable near namespace noexcept nullptr
	operator or_eq queue requires sc_clock sc_in sc_inout sc_out set sizeof template
	thread_local throw true try typeid typename uint8_t vector volatile list stack override`

// svName returns the name of a structure's member; a reserved word gets the suffix _f.
func svName(field string) string {
	if svReserved[field] {
		return field + "_f"
	}
	return field
}

// svFile is the SystemVerilog package being generated. `ids` holds the names declared so far,
// `used` those of the parameters.
type svFile struct {
	writer
	ids  *ids
	used []string
}

// SV generates the SystemVerilog package.
func SV(c *schema.Contract) ([]byte, error) {
	w := &svFile{ids: &ids{where: map[string]string{}}}
	w.WriteString(svHead)
	svConsts(w, c)
	svRegs(w, c)
	svParts(w, c)
	svCounters(w, c)
	svUsed(w)
	for i := range c.Enums {
		svEnum(w, &c.Enums[i])
	}
	for i := range c.Registers {
		if len(c.Registers[i].Fields) > 0 {
			svRegStruct(w, &c.Registers[i])
		}
	}
	for i := range c.Structs {
		svStruct(w, &c.Structs[i])
	}
	w.pf("endpackage\n")
	if len(w.ids.errs) > 0 {
		return nil, fmt.Errorf("generating nic_pkg.sv: %w", errors.Join(w.ids.errs...))
	}
	return w.Bytes(), nil
}

// line writes code followed by its comment, or the comment above the code if the line would be too
// long.
func (w *svFile) line(indent, code, doc string) {
	if len(indent)+len(code)+len(doc)+5 <= svWidth {
		w.pf("%s%s  // %s\n", indent, code, doc)
		return
	}
	w.comment(indent, doc)
	w.pf("%s%s\n", indent, code)
}

func (w *svFile) comment(indent, doc string) {
	text := indent + "//"
	for _, word := range strings.Fields(doc) {
		if len(text)+1+len(word) > svWidth {
			w.pf("%s\n", text)
			text = indent + "//"
		}
		text += " " + word
	}
	w.pf("%s\n", text)
}

// param declares a parameter: an int unsigned if the value fits, else a vector.
func (w *svFile) param(name string, v uint64, doc string) {
	w.ids.declare(name, "parameter "+name)
	w.used = append(w.used, name)
	switch {
	case v < 1<<16:
		w.line("  ", fmt.Sprintf("localparam int unsigned %s = %d;", name, v), doc)
	case v < 1<<31:
		w.line("  ", fmt.Sprintf("localparam int unsigned %s = 32'h%08x;", name, v), doc)
	case v < 1<<32:
		w.line("  ", fmt.Sprintf("localparam logic [31:0] %s = 32'h%08x;", name, v), doc)
	default:
		w.line("  ", fmt.Sprintf("localparam logic [63:0] %s = 64'h%016x;", name, v), doc)
	}
}

func svConsts(w *svFile, c *schema.Contract) {
	w.pf("  // Constants of the contract\n")
	for i := range c.Constants {
		w.param(c.Constants[i].Name, c.Constants[i].Value, sentence(c.Constants[i].Doc, ""))
	}
	w.pf("\n")
}

func svRegs(w *svFile, c *schema.Contract) {
	var end uint64
	for i := range c.Registers {
		end = max(end, c.Registers[i].End())
	}
	for i := range c.Constants {
		if c.Constants[i].Name == "BarBytes" {
			end = c.Constants[i].Value
		}
	}
	aw := bits.Len64(end - 1)
	w.pf("  // Byte offsets of the registers in BAR0, and their values after reset\n")
	w.param("RegAw", uint64(aw), "address bits of BAR0")
	for i := range c.Registers {
		r := &c.Registers[i]
		name := "Reg" + schema.Camel(r.Name)
		base := name
		if r.IsArray() {
			base += "Base"
		}
		w.ids.declare(base, "register "+r.Name)
		w.used = append(w.used, base)
		w.line("  ", fmt.Sprintf("localparam logic [RegAw-1:0] %s = %d'h%05x;", base, aw, r.Offset),
			string(r.Access)+": "+sentence(r.Doc, r.Part))
		if r.IsArray() {
			w.param(name+"Count", uint64(r.Count), "registers")
			w.param(name+"Stride", uint64(r.Stride), "bytes")
		}
		if r.Reset != nil && r.Width == 32 {
			rst := "Reset" + schema.Camel(r.Name)
			w.ids.declare(rst, "reset of "+r.Name)
			w.used = append(w.used, rst)
			w.pf("  localparam logic [31:0] %s = 32'h%08x;\n", rst, *r.Reset)
		}
	}
	w.pf("\n")
}

func svParts(w *svFile, c *schema.Contract) {
	w.pf("  // Parts that a build may have, as bits of CAP1\n")
	for _, f := range c.Parts() {
		w.param("Part"+schema.Camel(f.Name), 1<<f.Bit, sentence(f.Doc, ""))
	}
	w.pf("\n")
}

func svCounters(w *svFile, c *schema.Contract) {
	w.pf("  // Counters: port counters are offsets in the block of a port, device counters are indices\n")
	w.param("CntPortStride", schema.PortStride, "indices per port")
	w.param("CntPortsMax", schema.PortsMax, "ports for which the counter block has room")
	w.param("CntDeviceBase", schema.DeviceBase, "first of the device's own counters")
	for i := range c.Counters {
		k := &c.Counters[i]
		w.param("Cnt"+schema.Camel(k.Name), uint64(k.Index), k.Scope+": "+sentence(k.Doc, k.Part))
	}
	w.pf("\n")
}

// svUsed reads every parameter once, so that lint does not report those that a design does not use.
func svUsed(w *svFile) {
	w.pf("  // No design uses all these parameters. Each is read here, so that lint reports none as unused.\n")
	w.pf("  localparam logic unused_numbers = ^(\n")
	text := "   "
	for i, u := range w.used {
		u = "64'(" + u + ")"
		if i < len(w.used)-1 {
			u += " ^"
		}
		if len(text)+1+len(u) > svWidth {
			w.pf("%s\n", text)
			text = "   "
		}
		text += " " + u
	}
	w.pf("%s\n  );\n\n", text)
}

func svEnum(w *svFile, e *schema.Enum) {
	typ := schema.Snake(e.Name) + "_e"
	w.ids.declare(typ, "enum "+e.Name)
	w.pf("  typedef enum logic [%d:0] {\n", e.Width-1)
	for i, v := range e.Values {
		w.ids.declare(e.Name+v.Name, "enum "+e.Name+" value "+v.Name)
		comma := ","
		if i == len(e.Values)-1 {
			comma = ""
		}
		w.line("    ", fmt.Sprintf("%s%s = %d'd%d%s", e.Name, v.Name, e.Width, v.Value, comma), sentence(v.Doc, v.Part))
	}
	w.pf("  } %s;\n\n", typ)
}

// member is one line of a packed structure.
type member struct {
	name, enum, doc string
	bit, width      int
}

func svRegStruct(w *svFile, r *schema.Register) {
	var ms []member
	for i := range r.Fields {
		f := &r.Fields[i]
		ms = append(ms, member{svName(f.Name), f.Enum, sentence(f.Doc, f.Part), f.Bit, f.Width})
	}
	w.comment("  ", "Register "+r.Name+": "+sentence(r.Doc, r.Part))
	w.packed(ms, 32, schema.Snake(schema.Camel(r.Name))+"_reg_t", "register "+r.Name)
}

func svStruct(w *svFile, s *schema.Struct) {
	var ms []member
	for i := range s.Fields {
		f := &s.Fields[i]
		ms = append(ms, member{svName(f.Name), f.Enum, byteRange(f) + ": " + sentence(f.Doc, f.Part), f.Bit(), f.Width})
	}
	w.comment("  ", s.Name+": "+sentence(s.Doc, ""))
	w.packed(ms, 8*s.Bytes, schema.Snake(s.Name)+"_t", "struct "+s.Name)
}
