package build

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// Verilator makes a member of a C++ class of each port, under the port's name. A name that is a member of that class
// already, or a macro of a C or C++ header, cannot be one, although it is a good name in the design: eval, name,
// errno, EOF. Where a design has such ports, a module around it has them under other names.

// classWords are what else the classes of verilated designs have, and what their code uses.
const classWords = "Vdut VerilatedModel VerilatedModule TOP atClone contextp eval eval_end_step eval_step " +
	"eventsPending final hierName m_context " +
	"m_namep modelName name nextTimeSlot prepareClone rootp threads trace traceBaseModel traceCapable traceConfig " +
	"vlNamep vlSelf vlSymsp"

// What is made for a design gets these names, with underscores behind them where the design has the name itself.
const (
	wrapperName   = "nictwin_top"
	wrapperPrefix = "nictwin_" // of the ports that have another name
	instanceName  = "dut"
)

// freeName is name, made longer until it is not taken.
func freeName(name string, taken map[string]bool) string {
	for taken[name] {
		name += "_"
	}
	return name
}

// wrapperModule is the name of the module around the design: one that none of the design's modules has.
func (b *builder) wrapperModule() string {
	return strings.TrimSuffix(filepath.Base(b.wrapper), ".sv")
}

// translate verilates the design so that C++ can be compiled of it, and reads its ports.
func (b *builder) translate() ([]manifest.PinPort, error) {
	ports, err := b.verilate()
	if err != nil {
		return nil, err
	}
	macros, err := b.macros()
	if err != nil {
		return nil, err
	}
	clash := map[string]bool{}
	for _, p := range ports {
		if macros[p.Member] || slices.Contains(strings.Fields(classWords), p.Member) {
			clash[p.Name] = true
		}
	}
	if len(clash) == 0 {
		return ports, nil
	}
	return b.wrap(ports, clash)
}

var aMacro = regexp.MustCompile(`(?m)^#define (\w+)`)

// macros are the macros that are defined where a design's C++ is compiled.
func (b *builder) macros() (map[string]bool, error) {
	stand := fmt.Sprintf("#include \"%s.h\"\n#include \"pins.hpp\"\n#include \"sink.hpp\"\n#include \"source.hpp\"\n",
		classPrefix)
	if err := os.WriteFile(filepath.Join(b.work, "dut.hpp"), []byte(stand), 0o644); err != nil { // glue takes its place
		return nil, fmt.Errorf("build cache: %w", err)
	}
	args := append(b.cxxFlags(), "-dM", "-E", filepath.Join(b.home, "main.cpp"))
	out, err := toolchain.ToolRun{Ctx: b.o.context(), Limits: toolchain.BuildLimits, Step: "listing macros",
		Dir: b.work}.Run(b.tools.Cxx, args...)
	if err != nil {
		return nil, err
	}
	macros := map[string]bool{}
	for _, m := range aMacro.FindAllStringSubmatch(out, -1) {
		macros[m[1]] = true
	}
	return macros, nil
}

// wrap verilates the design inside a module that has the ports in clash under other names. The ports that it returns
// have the names that the design gives them.
func (b *builder) wrap(ports []manifest.PinPort, clash map[string]bool) ([]manifest.PinPort, error) {
	old, err := filepath.Glob(filepath.Join(b.objDir(), classPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("build cache: %w", err)
	}
	for _, f := range old {
		if err := os.Remove(f); err != nil {
			return nil, fmt.Errorf("build cache: %w", err)
		}
	}
	names := newOuterNames(ports, clash)
	module := freeName(wrapperName, b.src.ModuleNames(b.m.Top))
	text, err := b.wrapperText(module, ports, names)
	if err != nil {
		return nil, err
	}
	b.wrapper = filepath.Join(filepath.Dir(b.link), module+".sv")
	b.hash.seen[b.wrapper] = true // made of what is in the hash
	if err := os.WriteFile(b.wrapper, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("build cache: %w", err)
	}
	wrapped, err := b.verilate()
	if err != nil {
		return nil, err
	}
	members := map[string]string{}
	for _, p := range wrapped {
		members[p.Name] = p.Member
	}
	ports = slices.Clone(ports)
	for i := range ports {
		if m, ok := members[names.ports[ports[i].Name]]; ok {
			ports[i].Member = m
		}
	}
	return ports, nil
}

// outerNames are those in the module around a design.
type outerNames struct {
	ports    map[string]string // by their names in the design
	instance string
}

// newOuterNames keeps the names of ports, but for those in clash.
func newOuterNames(ports []manifest.PinPort, clash map[string]bool) outerNames {
	names := outerNames{ports: map[string]string{}}
	taken := map[string]bool{}
	for _, p := range ports {
		taken[p.Name] = true
	}
	for _, p := range ports {
		name := p.Name
		if clash[name] {
			name = freeName(wrapperPrefix+name, taken)
			taken[name] = true
		}
		names.ports[p.Name] = name
	}
	names.instance = freeName(instanceName, taken)
	return names
}

// wrapperText is the module around the design. Ports that no manifest can bind are left open.
func (b *builder) wrapperText(module string, ports []manifest.PinPort, names outerNames) (string, error) {
	var outer, inner []string
	for _, p := range ports {
		if p.Array != "" || p.Dir == "inout" {
			continue
		}
		name := names.ports[p.Name]
		outer = append(outer, fmt.Sprintf("  %sput logic [%d:0] \\%s ", p.Dir, p.Width-1, name))
		inner = append(inner, fmt.Sprintf("    .\\%s (\\%s )", p.Name, name))
	}
	parameters, err := b.parameters()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("module %s (\n%s);\n  %s %s%s (\n%s);\nendmodule\n",
		module, strings.Join(outer, ",\n"), b.m.Top, parameters, names.instance, strings.Join(inner, ",\n")), nil
}

// parameters are those of the design as an instance has them: #(.A(1), .B(2)).
func (b *builder) parameters() (string, error) {
	args, err := b.sourceArgs() // without a wrapper yet
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for _, a := range args {
		if def, ok := strings.CutPrefix(a, manifest.ParameterFlag); ok {
			name, value, _ := strings.Cut(def, "=")
			values[name] = literal(value) // the last one counts
		}
	}
	if len(values) == 0 {
		return "", nil
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, fmt.Sprintf(".%s(%s)", name, values[name]))
	}
	return "#(" + strings.Join(list, ", ") + ") ", nil
}

// literal is a parameter's value as SystemVerilog has it: on the command line hexadecimal numbers are those of C, too.
func literal(value string) string {
	if hex, ok := strings.CutPrefix(strings.ToLower(value), "0x"); ok {
		return "'h" + hex
	}
	return value
}
