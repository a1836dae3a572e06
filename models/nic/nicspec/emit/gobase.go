package emit

import (
	"fmt"
	"strings"

	"nictwin/models/nic/nicspec/schema"
)

// uintType returns the smallest Go unsigned integer type of at least width bits.
func uintType(width int) string {
	switch {
	case width <= 8:
		return "uint8"
	case width <= 16:
		return "uint16"
	case width <= 32:
		return "uint32"
	}
	return "uint64"
}

// sentence formats a doc text of nic.yaml, and the optional part it belongs to, as the end of a Go
// comment.
func sentence(doc string, p schema.Part) string {
	s := strings.TrimRight(strings.ReplaceAll(doc, "\n", " "), ".")
	if p != "" {
		s += " (part " + string(p) + ")"
	}
	return s
}

// partOf writes the field Part of a literal, unless the part is the core.
func partOf(w *goFile, p schema.Part) {
	if p != "" {
		w.pf(", Part: Part%s", schema.Camel(string(p)))
	}
}

func goConsts(w *goFile, c *schema.Contract) {
	w.pf("// Constants of the contract.\nconst (\n")
	for i := range c.Constants {
		k := &c.Constants[i]
		w.ids.declare(k.Name, "constant "+k.Name)
		v := fmt.Sprint(k.Value) // sizes are written in decimal, codes and addresses in hex
		if k.Value >= 1<<16 || k.Name == "RuleNone" || strings.HasPrefix(k.Name, "Requester") {
			v = fmt.Sprintf("0x%x", k.Value)
		}
		w.pf("%s = %s // %s\n", k.Name, v, sentence(k.Doc, ""))
	}
	w.pf(")\n")
}

func goEnums(w *goFile, c *schema.Contract) {
	w.pf("import \"strconv\"\n\n")
	for i := range c.Enums {
		goEnum(w, &c.Enums[i])
	}
}

func goEnum(w *goFile, e *schema.Enum) {
	w.ids.declare(e.Name, "enum "+e.Name)
	doc := "is a code"
	if e.Doc != "" {
		doc = "is " + e.Doc
	}
	w.pf("// %s %s of %d bits.\ntype %s %s\n\n// The values of %s.\nconst (\n", e.Name, doc, e.Width, e.Name,
		uintType(e.Width), e.Name)
	for _, v := range e.Values {
		w.ids.declare(e.Name+v.Name, "enum "+e.Name+" value "+v.Name)
		w.pf("%s%s %s = %d // %s\n", e.Name, v.Name, e.Name, v.Value, sentence(v.Doc, v.Part))
	}
	w.pf(")\n\n// String returns the value's name, or %s(n) for a code without a name.\n", e.Name)
	w.pf("func (v %s) String() string {\nswitch v {\n", e.Name)
	for _, v := range e.Values {
		w.pf("case %s%s:\nreturn %q\n", e.Name, v.Name, v.Name)
	}
	w.pf("}\nreturn \"%s(\" + strconv.FormatUint(uint64(v), 10) + \")\"\n}\n\n", e.Name)
	goEnumSet(w, e, "Known", "reports whether the code has a name", func(v schema.EnumValue) bool { return true })
	goEnumParts(w, e)
}

func goEnumSet(w *goFile, e *schema.Enum, method, doc string, in func(schema.EnumValue) bool) {
	var list []string
	for _, v := range e.Values {
		if in(v) {
			list = append(list, e.Name+v.Name)
		}
	}
	w.pf("// %s %s.\nfunc (v %s) %s() bool {\nswitch v {\ncase %s:\nreturn true\n}\nreturn false\n}\n\n",
		method, doc, e.Name, method, strings.Join(list, ", "))
}

// goEnumParts writes the method Part of an enum, if one of its codes belongs to an optional part.
func goEnumParts(w *goFile, e *schema.Enum) {
	cases := ""
	for _, v := range e.Values {
		if v.Part != "" {
			cases += fmt.Sprintf("case %s%s:\nreturn Part%s\n", e.Name, v.Name, schema.Camel(string(v.Part)))
		}
	}
	if cases != "" {
		w.pf("// Part returns the optional part that the code belongs to, 0 for the core and for codes without a " +
			"name.\n")
		w.pf("func (v %s) Part() Cap1Reg {\nswitch v {\n%s}\nreturn 0\n}\n\n", e.Name, cases)
	}
}

func goCounters(w *goFile, c *schema.Contract) {
	w.pf("// Layout of the COUNTER registers.\nconst (\n")
	for _, k := range []struct {
		name, doc string
		v         int
	}{
		{"CounterPortStride", "indices per port", schema.PortStride},
		{"CounterPortsMax", "ports for which the counter block has room", schema.PortsMax},
		{"CounterDeviceBase", "first of the device's own counters", schema.DeviceBase},
	} {
		w.ids.declare(k.name, "the constant")
		w.pf("%s = %d // %s\n", k.name, k.v, k.doc)
	}
	w.pf(")\n\n")
	goCounterConsts(w, c, "PortCounter", "Counters of a port, as numbers in the port's block.", true)
	goCounterConsts(w, c, "DevCounter", "Counters of the device, as indices of the COUNTER registers.", false)
	goCounterLists(w, c)
}

// goCounterConsts writes the constants of the port counters, or those of the device's counters.
func goCounterConsts(w *goFile, c *schema.Contract, typ, doc string, port bool) {
	w.pf("// %s\nconst (\n", doc)
	for i := range c.Counters {
		if k := &c.Counters[i]; k.PerPort() == port {
			name := "Cnt" + schema.Camel(k.Name)
			w.ids.declare(name, "counter "+k.Name)
			w.pf("%s %s = %d // %s\n", name, typ, k.Index, sentence(k.Doc, k.Part))
		}
	}
	w.pf(")\n\n")
}

func goCounterLists(w *goFile, c *schema.Contract) {
	w.ids.declare("DropCounters", "the list")
	w.pf("// DropCounters lists the drop counters. Each dropped frame steps exactly one of them.\nvar DropCounters = " +
		"[...]PortCounter{\n")
	for i := range c.Counters {
		if c.Counters[i].Drop && c.Counters[i].PerPort() {
			w.pf("Cnt%s,\n", schema.Camel(c.Counters[i].Name))
		}
	}
	w.ids.declare("Counters", "the list")
	w.pf("}\n\n// Counters lists every counter.\nvar Counters = [...]CounterInfo{\n")
	for i := range c.Counters {
		k := &c.Counters[i]
		w.pf("{Name: %q, Index: %d", k.Name, k.Index)
		flags(w, "PerPort", k.PerPort(), "Drop", k.Drop)
		partOf(w, k.Part)
		w.pf(", Doc: %q},\n", k.Doc)
	}
	w.pf("}\n")
}

// flags writes the boolean fields of a literal that are true; pairs alternates names and values.
func flags(w *goFile, pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1].(bool) {
			w.pf(", %s: true", pairs[i])
		}
	}
}
