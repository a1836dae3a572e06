package emit

import (
	"fmt"
	"sort"
	"strings"

	"nictwin/models/nic/nicspec/schema"
)

// bitRange writes "5" for one bit and "7:4" for several.
func bitRange(bit, width int) string {
	if width == 1 {
		return fmt.Sprint(bit)
	}
	return fmt.Sprintf("%d:%d", bit+width-1, bit)
}

// bitsText is bitRange after the noun: "bit 5", "bits 7:4".
func bitsText(bit, width int) string {
	if width == 1 {
		return "bit " + bitRange(bit, width)
	}
	return "bits " + bitRange(bit, width)
}

// shr returns the expression x shifted right.
func shr(x string, n int) string {
	if n == 0 {
		return x
	}
	return fmt.Sprintf("%s>>%d", x, n)
}

// shl returns the expression x shifted left.
func shl(x string, n int) string {
	if n == 0 {
		return x
	}
	return fmt.Sprintf("%s<<%d", x, n)
}

// byteRange formats the position of a field in its structure: "byte 4 bit 3", "bytes 8..15".
func byteRange(f *schema.Field) string {
	last := (f.Bit() + f.Width - 1) / 8
	switch {
	case f.BitInByte == 0 && f.Width == 8:
		return fmt.Sprintf("byte %d", f.Byte)
	case f.BitInByte == 0 && f.Width%8 == 0:
		return fmt.Sprintf("bytes %d..%d", f.Byte, last)
	case last == f.Byte:
		return fmt.Sprintf("byte %d %s", f.Byte, bitsText(f.BitInByte, f.Width))
	}
	return fmt.Sprintf("%s of bytes %d..%d", bitsText(f.BitInByte, f.Width), f.Byte, last)
}

// goType returns the field's type in the accessors. In the Fields type, byte strings are arrays.
func goType(f *schema.Field) string {
	switch {
	case f.IsBytes():
		return "[]byte"
	case f.Enum != "":
		return f.Enum
	case f.Width == 1:
		return "bool"
	}
	return uintType(f.Width)
}

func goStruct(w *goFile, s *schema.Struct) {
	for _, n := range []string{s.Name, s.Name + "Fields", s.Name + "Size", "Decode" + s.Name, "Diff" + s.Name,
		s.Name + "Info"} {
		w.ids.declare(n, "struct "+s.Name)
	}
	methods := &ids{where: map[string]string{"String": "the method String"}}
	members := &ids{where: map[string]string{"Encode": "the method Encode"}}
	for i := range s.Fields {
		f := &s.Fields[i]
		methods.declare(schema.Camel(f.Name), "struct "+s.Name+" field "+f.Name)
		methods.declare("Set"+schema.Camel(f.Name), "struct "+s.Name+" field "+f.Name)
		members.declare(schema.Camel(f.Name), "struct "+s.Name+" field "+f.Name)
	}
	w.ids.errs = append(append(w.ids.errs, methods.errs...), members.errs...)
	if usesBinary(s) {
		w.pf("import \"encoding/binary\"\n\n")
	}
	w.pf("// %sSize is the size of a %s in bytes.\nconst %sSize = %d\n\n", s.Name, s.Name, s.Name, s.Bytes)
	w.pf("// %s is a view of %d bytes of memory: %s.\n// Accessors read and write the bytes in place and panic when "+
		"there are fewer.\ntype %s []byte\n\n",
		s.Name, s.Bytes, sentence(s.Doc, ""), s.Name)
	for i := range s.Fields {
		goAccessors(w, s, &s.Fields[i])
	}
	goFields(w, s)
	w.pf("// Diff%s compares two structures: it returns ok if they are equal, else the first field that differs\n"+
		"// and both values, as StructInfo.Diff does.\n"+
		"func Diff%s(exp, got []byte) (field, e, g string, ok bool) { return %sInfo.Diff(exp, got) }\n\n",
		s.Name, s.Name, s.Name)
	w.pf("// String lists the fields that are not zero.\nfunc (b %s) String() string { return %sInfo.Format(b) }\n",
		s.Name, s.Name)
}

func usesBinary(s *schema.Struct) bool {
	for i := range s.Fields {
		if f := &s.Fields[i]; !f.IsBytes() && f.BitInByte == 0 && (f.Width == 16 || f.Width == 32 || f.Width == 64) {
			return true
		}
	}
	return false
}

func goAccessors(w *goFile, s *schema.Struct, f *schema.Field) {
	name, typ := schema.Camel(f.Name), goType(f)
	w.pf("// %s returns %s, %s: %s.\n", name, f.Name, byteRange(f), sentence(f.Doc, f.Part))
	w.pf("func (b %s) %s() %s {", s.Name, name, typ)
	if f.IsBytes() {
		w.pf("return b[%d:%d:%d] }\n\n", f.Byte, f.Byte+f.Width/8, f.Byte+f.Width/8)
		w.pf("// Set%s copies v to %s and fills up with zeros; it panics when v is longer than %d bytes.\n", name,
			f.Name, f.Width/8)
		w.pf("func (b %s) Set%s(v []byte) { putBytes(b[%d:%d], v) }\n\n", s.Name, name, f.Byte, f.Byte+f.Width/8)
		return
	}
	w.pf("%s}\n\n", loadExpr(f, typ))
	if typ == "bool" || f.Width == 8 || f.Width == 16 || f.Width == 32 || f.Width == 64 {
		w.pf("// Set%s sets %s.\n", name, f.Name)
	} else {
		w.pf("// Set%s sets %s to the low %d bits of v.\n", name, f.Name, f.Width)
	}
	w.pf("func (b %s) Set%s(v %s) {%s}\n\n", s.Name, name, typ, storeStmt(f, typ))
}

// whole reports whether the field begins at a byte and has the width of a Go integer.
func whole(f *schema.Field) bool {
	return f.BitInByte == 0 && (f.Width == 8 || f.Width == 16 || f.Width == 32 || f.Width == 64)
}

// loadExpr returns the body of an accessor that reads a number.
func loadExpr(f *schema.Field, typ string) string {
	b, s := f.Byte, f.BitInByte
	last := (s + f.Width - 1) / 8
	switch {
	case typ == "bool":
		return fmt.Sprintf("return %s&1 != 0", shr(fmt.Sprintf("b[%d]", b), s))
	case whole(f) && f.Width == 8:
		return conv(typ, "uint8", fmt.Sprintf("b[%d]", b))
	case whole(f):
		return conv(typ, uintType(f.Width), fmt.Sprintf("binary.LittleEndian.Uint%d(b[%d:])", f.Width, b))
	case last == 0:
		return conv(typ, "uint8", fmt.Sprintf("%s&0x%x", shr(fmt.Sprintf("b[%d]", b), s), uint64(1)<<f.Width-1))
	}
	t := uintType(8 * (last + 1))
	var terms []string
	for k := 0; k <= last; k++ {
		terms = append(terms, shl(fmt.Sprintf("%s(b[%d])", t, b+k), 8*k))
	}
	return conv(typ, t, fmt.Sprintf("%s&0x%x", shr("("+strings.Join(terms, "|")+")", s), uint64(1)<<f.Width-1))
}

func conv(to, from, expr string) string { return "return " + convExpr(to, from, expr) }

// convExpr returns expr, converted if the types differ.
func convExpr(to, from, expr string) string {
	if to == from {
		return expr
	}
	return fmt.Sprintf("%s(%s)", to, expr)
}

// storeStmt returns the body of an accessor that writes a number and leaves adjacent bits alone.
func storeStmt(f *schema.Field, typ string) string {
	b, s := f.Byte, f.BitInByte
	switch {
	case typ == "bool":
		return fmt.Sprintf("\nb[%d] &^= 1 << %d\nif v {\nb[%d] |= 1 << %d\n}\n", b, s, b, s)
	case whole(f) && f.Width == 8:
		return fmt.Sprintf("b[%d] = %s", b, convExpr("uint8", typ, "v"))
	case whole(f):
		return fmt.Sprintf("binary.LittleEndian.PutUint%d(b[%d:], %s)", f.Width, b,
			convExpr(uintType(f.Width), typ, "v"))
	}
	var out strings.Builder
	for k := 0; 8*k < s+f.Width; k++ {
		lo, hi := max(s-8*k, 0), min(s+f.Width-8*k, 8) // the field's bits in this byte, lo to hi-1
		mask := (1<<hi - 1) &^ (1<<lo - 1)
		part := shl("v", s)
		if 8*k >= s {
			part = shr("v", 8*k-s)
		}
		fmt.Fprintf(&out, "\nb[%d] = b[%d]&^0x%x | %s&0x%x", b+k, b+k, mask, convExpr("uint8", typ, part), mask)
	}
	return out.String() + "\n"
}

func goFields(w *goFile, s *schema.Struct) {
	w.pf("// %sFields holds the fields of %s as plain values.\ntype %sFields struct {\n", s.Name, s.Name, s.Name)
	for i := range s.Fields {
		f := &s.Fields[i]
		t := goType(f)
		if f.IsBytes() {
			t = fmt.Sprintf("[%d]byte", f.Width/8)
		}
		w.pf("%s %s // %s\n", schema.Camel(f.Name), t, sentence(f.Doc, f.Part))
	}
	w.pf("}\n\n// Decode%s reads all fields; it panics when b is shorter than %d bytes.\nfunc Decode%s(b []byte) (f "+
		"%sFields) {\n", s.Name, s.Bytes, s.Name, s.Name)
	w.pf("v := %s(b[:%d])\n", s.Name, s.Bytes)
	for i := range s.Fields {
		f := &s.Fields[i]
		n := schema.Camel(f.Name)
		if f.IsBytes() {
			w.pf("copy(f.%s[:], v.%s())\n", n, n)
		} else {
			w.pf("f.%s = v.%s()\n", n, n)
		}
	}
	w.pf("return f\n}\n\n// Encode writes all fields and zeros the reserved bits of dst's first %d bytes; it panics "+
		"when\n"+
		"// there are fewer.\nfunc (f *%sFields) Encode(dst []byte) {\nv := %s(dst[:%d])\nclear(v)\n", s.Bytes, s.Name,
		s.Name, s.Bytes)
	for i := range s.Fields {
		n := schema.Camel(s.Fields[i].Name)
		if s.Fields[i].IsBytes() {
			w.pf("v.Set%s(f.%s[:])\n", n, n)
		} else {
			w.pf("v.Set%s(f.%s)\n", n, n)
		}
	}
	w.pf("}\n\n")
}

// byPosition returns the fields in ascending order of their lowest bit.
func byPosition(s *schema.Struct) []*schema.Field {
	out := make([]*schema.Field, len(s.Fields))
	for i := range s.Fields {
		out[i] = &s.Fields[i]
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Bit() < out[j].Bit() })
	return out
}

// goStructInfo writes the field tables of all structures.
func goStructInfo(w *goFile, c *schema.Contract) {
	w.ids.declare("Structs", "the list")
	w.pf("// Structs lists the field tables of all structures.\nvar Structs = [...]*StructInfo{\n")
	for i := range c.Structs {
		w.pf("&%sInfo,\n", c.Structs[i].Name)
	}
	w.pf("}\n\n")
	for i := range c.Structs {
		s := &c.Structs[i]
		w.pf("// %sInfo is the field table of %s.\nvar %sInfo = StructInfo{Name: %q, Bytes: %d, Doc: %q, Fields: "+
			"[]FieldInfo{\n",
			s.Name, s.Name, s.Name, s.Name, s.Bytes, s.Doc)
		for _, f := range byPosition(s) {
			w.pf("{Name: %q, Bit: %d, Width: %d", f.Name, f.Bit(), f.Width)
			if f.Enum != "" {
				w.pf(", Enum: func(v uint64) string { return %s(v).String() }", f.Enum)
			}
			flags(w, "Bytes", f.IsBytes(), "ReadOnly", f.Access == "ro")
			partOf(w, f.Part)
			w.pf(", Doc: %q},\n", f.Doc)
		}
		w.pf("}}\n\n")
	}
}
