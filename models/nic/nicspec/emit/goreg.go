package emit

import (
	"fmt"
	"sort"

	"nictwin/models/nic/nicspec/schema"
)

func goRegs(w *goFile, c *schema.Contract) {
	w.pf("import \"fmt\"\n\n// Byte offsets of the registers in BAR0; an array has base, count and stride.\nconst (\n")
	for i := range c.Registers {
		r := &c.Registers[i]
		name := "Reg" + schema.Camel(r.Name)
		if !r.IsArray() {
			w.ids.declare(name, "register "+r.Name)
			w.pf("%s = 0x%03x // %s: %s\n", name, r.Offset, r.Access, sentence(r.Doc, r.Part))
			continue
		}
		for _, s := range []string{"Base", "Count", "Stride"} {
			w.ids.declare(name+s, "register "+r.Name)
		}
		w.pf("%sBase = 0x%03x // %s: %s\n", name, r.Offset, r.Access, sentence(r.Doc, r.Part))
		w.pf("%sCount = %d // number of registers\n", name, r.Count)
		w.pf("%sStride = %d // bytes from one register to the next\n", name, r.Stride)
	}
	w.pf(")\n\n// Values of the registers after reset.\nconst (\n")
	for i := range c.Registers {
		if r := &c.Registers[i]; r.Reset != nil {
			name := "Reset" + schema.Camel(r.Name)
			w.ids.declare(name, "reset of "+r.Name)
			w.pf("%s = 0x%x\n", name, *r.Reset)
		}
	}
	w.pf(")\n\n")
	goRegArrays(w, c)
	for i := range c.Registers {
		if len(c.Registers[i].Fields) > 0 {
			goRegFields(w, &c.Registers[i])
		}
	}
	goRegInfo(w, c)
}

func goRegArrays(w *goFile, c *schema.Contract) {
	w.pf("func entry(name string, base, i, count, stride int) uint32 {\nif uint(i) >= uint(count) {\n" +
		"panic(fmt.Sprintf(\"nicspec: register %%s[%%d], but entries are 0..%%d\", name, i, count-1))\n}\n" +
		"return uint32(base + i*stride)\n}\n\n")
	for i := range c.Registers {
		r := &c.Registers[i]
		if !r.IsArray() {
			continue
		}
		name := "Reg" + schema.Camel(r.Name)
		w.ids.declare(name, "register "+r.Name)
		w.pf("// %s returns the byte offset of %s[i]; it panics when i is not in 0..%d.\nfunc %s(i int) uint32 {\n",
			name, r.Name, r.Count-1, name)
		w.pf("return entry(%q, %sBase, i, %sCount, %sStride)\n}\n\n", r.Name, name, name, name)
	}
}

// goRegFields writes a register's value type with an accessor for each field.
func goRegFields(w *goFile, r *schema.Register) {
	typ := schema.Camel(r.Name) + "Reg"
	w.ids.declare(typ, "register "+r.Name)
	w.pf("// %s is the value of register %s: %s.\ntype %s uint32\n\n", typ, r.Name, sentence(r.Doc, ""), typ)
	var mask uint32
	for i := range r.Fields {
		mask |= uint32((uint64(1)<<r.Fields[i].Width - 1) << r.Fields[i].Bit)
	}
	w.ids.declare(typ+"Mask", "register "+r.Name)
	w.pf("// %sMask has a one for every bit of %s that belongs to a field.\nconst %sMask %s = 0x%08x\n\n", typ, r.Name,
		typ, typ, mask)
	methods := &ids{where: map[string]string{}}
	for i := range r.Fields {
		f := &r.Fields[i]
		methods.declare(schema.Camel(f.Name), "register "+r.Name+" field "+f.Name)
		methods.declare("Set"+schema.Camel(f.Name), "register "+r.Name+" field "+f.Name)
	}
	w.ids.errs = append(w.ids.errs, methods.errs...)
	for i := range r.Fields {
		f := &r.Fields[i]
		name, t := schema.Camel(f.Name), "uint32"
		if f.Enum != "" {
			t = f.Enum
		}
		w.pf("// %s returns %s: %s.\n", name, bitsText(f.Bit, f.Width), sentence(f.Doc, f.Part))
		if f.Width == 1 && f.Enum == "" {
			w.pf("func (r %s) %s() bool { return %s&1 != 0 }\n\n", typ, name, shr("r", f.Bit))
			w.pf("// Set%s sets %s.\nfunc (r *%s) Set%s(v bool) {\n*r &^= 1 << %d\nif v {\n*r |= 1 << %d\n}\n}\n\n",
				name, f.Name, typ, name, f.Bit, f.Bit)
			continue
		}
		m := uint64(1)<<f.Width - 1
		w.pf("func (r %s) %s() %s { return %s(%s & 0x%x) }\n\n", typ, name, t, t, shr("r", f.Bit), m)
		w.pf("// Set%s sets %s to the low %d bits of v.\nfunc (r *%s) Set%s(v %s) { *r = *r&^0x%x | %s }\n\n",
			name, f.Name, f.Width, typ, name, t, m<<f.Bit, shl(fmt.Sprintf("%s(v)&0x%x", typ, m), f.Bit))
	}
}

func goRegInfo(w *goFile, c *schema.Contract) {
	sorted := make([]*schema.Register, len(c.Registers))
	for i := range c.Registers {
		sorted[i] = &c.Registers[i]
	}
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Offset < sorted[j].Offset })
	access := map[schema.Access]string{"ro": "ReadOnly", "rw": "ReadWrite", "wo": "WriteOnly"}
	goPartConsts(w, c)
	w.ids.declare("Registers", "the list")
	w.pf("// Registers lists every register, in ascending order of offset.\nvar Registers = [...]RegInfo{\n")
	for _, r := range sorted {
		w.pf("{Name: %q, Offset: 0x%03x, Width: %d, ", r.Name, r.Offset, r.Width)
		if r.IsArray() {
			w.pf("Count: %d, Stride: %d, ", r.Count, r.Stride)
		}
		w.pf("Access: %s", access[r.Access])
		if r.ResetValue() != 0 {
			w.pf(", Reset: 0x%x", r.ResetValue())
		}
		partOf(w, r.Part)
		w.pf(", Doc: %q", r.Doc)
		if len(r.Fields) > 0 {
			w.pf(", Fields: []RegFieldInfo{\n")
			for i := range r.Fields {
				f := &r.Fields[i]
				w.pf("{Name: %q, Bit: %d, Width: %d", f.Name, f.Bit, f.Width)
				partOf(w, f.Part)
				w.pf(", Doc: %q},\n", f.Doc)
			}
			w.pf("}")
		}
		w.pf("},\n")
	}
	w.pf("}\n")
}

// goPartConsts writes a constant for each optional part: its bit in CAP1.
func goPartConsts(w *goFile, c *schema.Contract) {
	w.pf("// The optional parts of a build, as bits of CAP1.\nconst (\n")
	for _, f := range c.Parts() {
		name := "Part" + schema.Camel(f.Name)
		w.ids.declare(name, "part "+f.Name)
		w.pf("%s Cap1Reg = 1 << %d // %s\n", name, f.Bit, sentence(f.Doc, ""))
	}
	w.pf(")\n\n")
}
