package build

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// sourceArgs returns the arguments that name the design to Verilator.
func (b *builder) sourceArgs() ([]string, error) {
	args := []string{"--top-module", b.m.Top}
	if b.wrapper != "" {
		args[1] = b.wrapperModule()
	}
	args = append(args, b.defineArgs()...)
	for _, k := range slices.Sorted(maps.Keys(b.m.Parameters)) {
		args = append(args, manifest.ParameterFlag+k+"="+b.m.Parameters[k])
	}
	for _, d := range b.src.IncDirs {
		args = append(args, "-I"+b.path(d))
	}
	flags, err := b.m.FlagArgs(b.path)
	if err != nil {
		return nil, err
	}
	args = append(args, flags...)
	if b.wrapper != "" { // the wrapper sets the parameters itself
		args = slices.DeleteFunc(args, func(a string) bool { return strings.HasPrefix(a, manifest.ParameterFlag) })
	}
	for _, f := range b.src.Files {
		args = append(args, b.path(f))
	}
	if b.wrapper != "" {
		args = append(args, b.wrapper)
	}
	return args, nil
}

// defineArgs returns the macros of the manifest and of its file lists.
func (b *builder) defineArgs() (args []string) {
	for _, k := range slices.Sorted(maps.Keys(b.m.Defines)) {
		def := k
		if v := b.m.Defines[k]; v != "" {
			def += "=" + v
		}
		args = append(args, manifest.DefineArg(def))
	}
	for _, d := range b.src.Defines {
		args = append(args, manifest.DefineArg(d))
	}
	return args
}

func (b *builder) objDir() string { return filepath.Join(b.work, "obj") }

// gccFlag prevents wrong code from g++ 12: with the optimisations that it disables, at -O2 and -O3, fields of
// two swapped bytes in verilated code read as 0 (block pair parse, ethertype).
const gccFlag = "-fno-expensive-optimizations"

// cxxFlags returns the flags common to all units of a variant.
func (b *builder) cxxFlags() []string {
	on := func(name string, v bool) string {
		if v {
			return "-D" + name + "=1"
		}
		return "-D" + name + "=0"
	}
	trace := b.o.Variant == VariantWaves
	flags := []string{
		"-std=c++17", "-march=native", "-faligned-new", "-fcf-protection=none", "-fno-strict-aliasing",
		"-I" + b.home, "-I" + b.objDir(), "-I" + b.work, "-I" + b.tools.IncludeDir,
		"-I" + filepath.Join(b.tools.IncludeDir, "vltstd"),
		on("VM_COVERAGE", b.o.Variant == VariantCoverage), on("VM_SC", false), on("VM_TRACE", trace),
		on("VM_TRACE_FST", trace), on("VM_TRACE_VCD", false), "-include", filepath.Join(b.home, "hooks.hpp"), "-w",
	}
	if !b.tools.Clang {
		flags = append(flags, gccFlag)
	}
	return append(flags, b.shellFlags()...)
}

// shellFlags returns the compiler's flags for an agent.
func (b *builder) shellFlags() []string {
	if b.o.Variant != VariantAgent {
		return nil
	}
	return []string{"-DNICTWIN_AGENT=1", "-I" + filepath.Join(b.shellDir(), "agent")}
}
