package emit

import (
	"fmt"
	"strings"

	"nictwin/models/nic/nicspec/schema"
)

// Tables generates the Markdown reference.
func Tables(c *schema.Contract) []byte {
	w := &writer{}
	w.pf("# The NIC's tables\n\n")
	w.pf("Generated from `models/nic/nicspec/nic.yaml` by `go generate ./models/nic/nicspec`; do not edit.\n")
	w.pf("[nic.md](nic.md) describes what the fields do. Numbers are little-endian; a byte string has its first byte " +
		"at the\n")
	w.pf("lowest address. The column Part names the part of the device that an item belongs to: the core, or an " +
		"optional\n")
	w.pf("part, which is a field of CAP1.\n\n")
	w.pf("[Constants](#constants) · [Registers](#registers) · [Register fields](#register-fields) · " +
		"[Structures](#structures) ·\n")
	w.pf("[Codes](#codes) · [Counters](#counters)\n\n")
	mdConstants(w, c)
	mdRegisters(w, c)
	mdRegFields(w, c)
	mdStructs(w, c)
	mdEnums(w, c)
	mdCounters(w, c)
	return w.Bytes()
}

// cell escapes a text for a cell of a Markdown table.
func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\n", " "), "|", "\\|")
}

// withEnum adds a link to the codes of a field.
func withEnum(doc, enum string) string {
	if enum == "" {
		return cell(doc)
	}
	return fmt.Sprintf("%s: [%s](#%s)", cell(doc), enum, strings.ToLower(enum))
}

func partName(p schema.Part) string {
	if p == "" {
		return "core"
	}
	return string(p)
}

func mdConstants(w *writer, c *schema.Contract) {
	w.pf("## Constants\n\n| Name | Value | Meaning |\n|---|---|---|\n")
	for i := range c.Constants {
		k := &c.Constants[i]
		v := fmt.Sprintf("%d", k.Value)
		if k.Value >= 10 {
			v = fmt.Sprintf("%d (0x%x)", k.Value, k.Value)
		}
		if k.Value >= 1<<32 {
			v = fmt.Sprintf("0x%x", k.Value)
		}
		w.pf("| %s | %s | %s |\n", k.Name, v, cell(k.Doc))
	}
	w.pf("\n")
}

func mdRegisters(w *writer, c *schema.Contract) {
	w.pf("## Registers\n\nByte offsets in BAR0; entry i of an array is at offset + i * stride.\n\n")
	w.pf("| Offset | Name | Bits | Entries | Stride | Access | Reset | Part | Meaning " +
		"|\n|---|---|---|---|---|---|---|---|---|\n")
	for i := range c.Registers {
		r := &c.Registers[i]
		entries, stride, reset := "1", "", ""
		if r.IsArray() {
			entries, stride = fmt.Sprint(r.Count), fmt.Sprint(r.Stride)
		}
		if r.Reset != nil {
			reset = fmt.Sprintf("0x%x", *r.Reset)
		}
		name := r.Name
		if len(r.Fields) > 0 {
			name = fmt.Sprintf("[%s](#register-%s)", r.Name, strings.ToLower(r.Name))
		}
		w.pf("| 0x%05x | %s | %d | %s | %s | %s | %s | %s | %s |\n", r.Offset, name, r.Width, entries, stride, r.Access,
			reset,
			partName(r.Part), cell(r.Doc))
	}
	w.pf("\n")
}

func mdRegFields(w *writer, c *schema.Contract) {
	w.pf("## Register fields\n\nBits that belong to no field are reserved.\n\n")
	for i := range c.Registers {
		r := &c.Registers[i]
		if len(r.Fields) == 0 {
			continue
		}
		w.pf("### Register %s\n\nOffset 0x%05x, %s: %s.\n\n| Bits | Name | Part | Meaning |\n|---|---|---|---|\n",
			r.Name, r.Offset,
			r.Access, cell(r.Doc))
		for j := range r.Fields {
			f := &r.Fields[j]
			w.pf("| %s | %s | %s | %s |\n", bitRange(f.Bit, f.Width), f.Name, partName(f.Part), withEnum(f.Doc, f.Enum))
		}
		w.pf("\n")
	}
}

func mdStructs(w *writer, c *schema.Contract) {
	w.pf("## Structures\n\n\"Byte\" is the offset in the structure, \"bits\" counts from bit 0 of that byte.\n\n")
	for i := range c.Structs {
		s := &c.Structs[i]
		w.pf("### %s\n\n%d bytes: %s.\n\n| Byte | Bits | Name | Part | Meaning |\n|---|---|---|---|---|\n", s.Name,
			s.Bytes,
			cell(strings.TrimSuffix(s.Doc, ".")))
		next := 0
		for _, f := range byPosition(s) {
			mdGap(w, next, f.Bit())
			state := partName(f.Part)
			if f.Access == "ro" {
				state += ", read-only"
			}
			w.pf("| %d | %s | %s | %s | %s |\n", f.Byte, mdBits(f.Bit(), f.Width, f.IsBytes()), f.Name, state,
				withEnum(f.Doc, f.Enum))
			next = f.Bit() + f.Width
		}
		mdGap(w, next, 8*s.Bytes)
		w.pf("\n")
	}
}

// mdBits formats the bits of a field that starts at bit number `bit`. The size of a byte string, or of a field that is
// too long for a number, is given in bytes.
func mdBits(bit, width int, str bool) string {
	if str || width > 64 && bit%8 == 0 && width%8 == 0 {
		return fmt.Sprintf("%d bytes", width/8)
	}
	return bitRange(bit%8, width)
}

// mdGap writes a row for reserved bits, if there are any.
func mdGap(w *writer, from, to int) {
	if from < to {
		w.pf("| %d | %s | reserved | | |\n", from/8, mdBits(from, to-from, false))
	}
}

func mdEnums(w *writer, c *schema.Contract) {
	w.pf("## Codes\n\n")
	for i := range c.Enums {
		e := &c.Enums[i]
		w.pf("### %s\n\n%d bits.\n\n| Value | Name | Part | Meaning |\n|---|---|---|---|\n", e.Name, e.Width)
		for _, v := range e.Values {
			w.pf("| %d | %s | %s | %s |\n", v.Value, v.Name, partName(v.Part), cell(v.Doc))
		}
		w.pf("\n")
	}
}

func mdCounters(w *writer, c *schema.Contract) {
	w.pf("## Counters\n\nEntries of the 64-bit COUNTER registers. A port's counter is at %d * port + number; the "+
		"device's own start\n"+
		"at %d. Each dropped frame steps exactly one of the counters marked drop.\n\n", schema.PortStride,
		schema.DeviceBase)
	w.pf("| Index | Scope | Name | Drop | Part | Meaning |\n|---|---|---|---|---|---|\n")
	for i := range c.Counters {
		k := &c.Counters[i]
		index, drop := fmt.Sprint(k.Index), ""
		if k.PerPort() {
			index = fmt.Sprintf("%d * port + %d", schema.PortStride, k.Index)
		}
		if k.Drop {
			drop = "drop"
		}
		w.pf("| %s | %s | %s | %s | %s | %s |\n", index, k.Scope, k.Name, drop, partName(k.Part), cell(k.Doc))
	}
}
