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

// Verilator makes each port a member of a C++ class, under the port's name. A name that is already a member of
// that class, or a macro of a C or C++ header, is impossible there, although it is valid in the design: eval,
// name, errno, EOF. If a design has such ports, a module around it renames them.

// classWords lists the members that classes of verilated designs have beside the ports, and names that their code uses.
const classWords = "Vdut VerilatedModel VerilatedModule TOP atClone contextp eval eval_end_step eval_step " +
	"eventsPending final hierName m_context " +
	"m_namep modelName name nextTimeSlot prepareClone rootp threads trace traceBaseModel traceCapable traceConfig " +
	"vlNamep vlSelf vlSymsp"

// Names in the code generated for a design; underscores are appended to those that the design uses itself.
const (
	wrapperName   = "nictwin_top"
	wrapperPrefix = "nictwin_" // prefix of renamed ports
	instanceName  = "dut"
)

// freeName appends underscores to name until it is not taken.
func freeName(name string, taken map[string]bool) string {
	for taken[name] {
		name += "_"
	}
	return name
}

// wrapperModule returns a name for the module around the design that none of the design's modules has.
func (b *builder) wrapperModule() string {
	return strings.TrimSuffix(filepath.Base(b.wrapper), ".sv")
}

// translate verilates the design for compilation to C++, and reads its ports.
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

// macros returns the macros that are defined where a design's C++ is compiled.
func (b *builder) macros() (map[string]bool, error) {
	stand := fmt.Sprintf("#include \"%s.h\"\n#include \"pins.hpp\"\n#include \"sink.hpp\"\n#include \"source.hpp\"\n",
		classPrefix)
	if err := os.WriteFile(filepath.Join(b.work, "dut.hpp"), []byte(stand), 0o644); err != nil { // glue replaces it
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

// wrap verilates the design inside a module that renames the ports in clash. The returned ports have the
// design's names.
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
	b.hash.seen[b.wrapper] = true // generated from what is in the hash
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

// outerNames are the names in the module around a design.
type outerNames struct {
	ports    map[string]string // names in the wrapper, by the ports' names in the design
	instance string
}

// newOuterNames returns the names in the wrapper: the ports' own, except for the names in `clash`,
// which are replaced by new ones.
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

// wrapperText returns the source of the module around the design. Ports that no manifest can bind are left open.
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

// parameters returns the design's parameters in the form of an instance: #(.A(1), .B(2)).
func (b *builder) parameters() (string, error) {
	args, err := b.sourceArgs() // arguments for the design without the wrapper
	if err != nil {
		return "", err
	}
	values := map[string]string{}
	for _, a := range args {
		if def, ok := strings.CutPrefix(a, manifest.ParameterFlag); ok {
			name, value, _ := strings.Cut(def, "=")
			values[name] = literal(value) // the last of several values counts
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

// literal converts a parameter's value to SystemVerilog: on the command line, hexadecimal numbers may be those
// of C, too.
func literal(value string) string {
	if hex, ok := strings.CutPrefix(strings.ToLower(value), "0x"); ok {
		return "'h" + hex
	}
	return value
}
