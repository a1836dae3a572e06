package build

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"nictwin/rtlbridge/manifest"
)

// verilate translates the design and reads the ports of its top module.
func (b *builder) verilate() ([]manifest.PinPort, error) {
	flags, err := verilatorFlags(b.o.Variant)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--cc", "--prefix", classPrefix, "--Mdir", b.objDir()}, flags...)
	if _, err := b.verilator("verilating", args...); err != nil {
		return nil, err
	}
	if err := b.checkDependencies(); err != nil {
		return nil, err
	}
	if err := b.relocate(); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(b.objDir(), classPrefix+".h"))
	if err != nil {
		return nil, fmt.Errorf("verilated header: %w", err)
	}
	defer f.Close()
	ports, err := manifest.ParsePorts(f)
	if err != nil {
		return nil, b.m.Errorf("top", "top %s: %v", b.m.Top, err)
	}
	return ports, nil
}

// checkDependencies refuses a design that reads a file outside the build's hash: a change in that file would go
// unnoticed.
func (b *builder) checkDependencies() error {
	text, err := os.ReadFile(filepath.Join(b.objDir(), classPrefix+"__ver.d"))
	if err != nil {
		return fmt.Errorf("verilated dependencies: %w", err)
	}
	_, deps, _ := strings.Cut(strings.ReplaceAll(string(text), b.link+"/", ""), " : ")
	for _, d := range strings.Fields(deps) {
		if d == "\\" || strings.HasSuffix(d, ":") {
			continue
		}
		abs := b.m.Abs(d)
		if b.hash.seen[abs] || b.tools.Own(abs) {
			continue
		}
		return b.m.Errorf("sources", "the design reads %s, which the manifest does not name; add its folder to "+
			"include_dirs", abs)
	}
	return nil
}

// compileEarly compiles run-time and harness while the design is being verilated, since they do not depend on
// it. compile compiles all other objects.
func (b *builder) compileEarly(root string) error {
	runtimeDir, err := b.runtimeDir(root)
	if err != nil {
		return err
	}
	return b.compileAll(shared(append(units(b.tools.IncludeDir, runtimeDir, "-O2", "verilated"),
		b.harnessUnits(runtimeDir)...)))
}

// harnessUnits returns the parts of the harness that are the same for every design.
func (b *builder) harnessUnits(runtimeDir string) []unit {
	return units(b.home, runtimeDir, "-O2", "hooks", "channel", "listen", "admission", "notice", "files")
}

// compile builds the program. Verilator's own run-time objects are shared between builds with the same flags.
func (b *builder) compile(root string) error {
	lists, err := classLists(filepath.Join(b.objDir(), classPrefix+"_classes.mk"))
	if err != nil {
		return err
	}
	runtimeDir, err := b.runtimeDir(root)
	if err != nil {
		return err
	}
	if b.o.Variant == VariantAgent { // an agent has the design's ports, not its code
		lists = map[string][]string{}
	}
	hot, rest, err := b.programUnits(lists, runtimeDir)
	if err != nil {
		return err
	}
	if b.o.Variant == VariantTuned {
		if err := b.tune(hot, rest); err != nil {
			return err
		}
	}
	all := append(hot, rest...)
	if err := b.compileAll(all); err != nil {
		return err
	}
	if err := b.linkTo(filepath.Join(b.work, "dut"), all); err != nil {
		return err
	}
	return os.RemoveAll(b.objDir())
}

// programUnits returns the units of the program: hot is the code that runs in every cycle. The longest come
// first, so that processors finish together.
func (b *builder) programUnits(lists map[string][]string, runtimeDir string) (hot, rest []unit, err error) {
	opt, slowOpt := "-O3", "-O1"
	if b.o.Variant == VariantCoverage { // compile time matters more than speed
		opt, slowOpt = "-O1", "-O0"
		lists["VM_GLOBAL_FAST"] = slices.DeleteFunc(lists["VM_GLOBAL_FAST"],
			func(s string) bool { return s == waveUnit })
	}
	fast, err := b.bundle("fast", fastBundles, append(lists["VM_CLASSES_FAST"], lists["VM_SUPPORT_FAST"]...))
	if err != nil {
		return nil, nil, err
	}
	slow, err := b.bundle("slow", 1, append(lists["VM_CLASSES_SLOW"], lists["VM_SUPPORT_SLOW"]...))
	if err != nil {
		return nil, nil, err
	}
	hot = units(b.objDir(), b.objDir(), opt, fast...)
	hot = append(hot, b.mainUnits()...)
	rest = units(b.objDir(), b.objDir(), slowOpt, slow...)
	same := units(b.tools.IncludeDir, runtimeDir, "-O2", append(lists["VM_GLOBAL_FAST"], lists["VM_GLOBAL_SLOW"]...)...)
	return hot, append(rest, shared(append(same, b.harnessUnits(runtimeDir)...))...), nil
}

// mainUnits returns the units that make a program of the design.
func (b *builder) mainUnits() []unit {
	switch b.o.Variant {
	case VariantAgent:
		return append(units(b.home, b.objDir(), "-O3", "main"),
			units(filepath.Join(b.shellDir(), "agent"), b.objDir(), "-O3", "link", "board", "program", "trace")...)
	case VariantBoard:
		return units(filepath.Join(b.shellDir(), "board"), b.objDir(), "-O3", "main")
	}
	return units(b.home, b.objDir(), "-O3", "main")
}

// Simulated logic is compiled in fastBundles units: enough for two processors to finish together, few because
// each parses the same large headers again. Below minBundle bytes per unit, a single unit compiles sooner.
const (
	fastBundles = 2
	minBundle   = 100_000
)

// bundle joins generated sources into at most n units of about the same size and returns the units' names.
func (b *builder) bundle(name string, n int, sources []string) ([]string, error) {
	sizes, all := map[string]int64{}, int64(0)
	for _, s := range sources {
		info, err := os.Stat(filepath.Join(b.objDir(), s+".cpp"))
		if err != nil {
			return nil, fmt.Errorf("verilated source: %w", err)
		}
		sizes[s] = info.Size()
		all += info.Size()
	}
	n = min(n, max(1, int(all/minBundle)))
	sort.SliceStable(sources, func(i, j int) bool { return sizes[sources[i]] > sizes[sources[j]] })
	text := make([]strings.Builder, min(n, len(sources)))
	load := make([]int64, len(text))
	for _, s := range sources {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		load[least] += sizes[s]
		fmt.Fprintf(&text[least], "#include \"%s.cpp\"\n", s)
	}
	var names []string
	for i := range text {
		unit := fmt.Sprintf("bundle_%s%d", name, i)
		if err := os.WriteFile(filepath.Join(b.objDir(), unit+".cpp"), []byte(text[i].String()), 0o644); err != nil {
			return nil, fmt.Errorf("build cache: %w", err)
		}
		names = append(names, unit)
	}
	return names, nil
}

// classLists reads the lists of generated sources.
func classLists(path string) (map[string][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("verilated class list: %w", err)
	}
	defer f.Close()
	lists := map[string][]string{}
	current := ""
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := strings.TrimSpace(sc.Text())
		if name, ok := strings.CutSuffix(line, " += \\"); ok {
			current = name
			continue
		}
		if item := strings.TrimSuffix(line, " \\"); current != "" && item != "" && line[0] != '#' && item != line {
			lists[current] = append(lists[current], item)
			continue
		}
		current = ""
	}
	return lists, sc.Err()
}
