package rtlbridge

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A tuned build is a speed build whose compiler knows, from counters in a first build that played a recording, which
// branches are taken. It does the same, cycle for cycle; only where code lies and what is inlined differ.

// tuningTools are the parts of clang that a tuned build needs beside the compiler.
type tuningTools struct{ merge string }

func (t *toolchain) tuning() (tuningTools, error) {
	if !t.clang {
		return tuningTools{}, fmt.Errorf("%w: a tuned build needs clang++, not %s; install it with: apt-get install clang llvm",
			ErrToolMissing, filepath.Base(t.cxx))
	}
	version, err := toolOutput(t.cxx, "-dumpversion")
	if err != nil {
		return tuningTools{}, err
	}
	major, _, _ := strings.Cut(strings.TrimSpace(version), ".")
	missing := func(what, pkg string) error {
		return fmt.Errorf("%w: a tuned build needs %s; install it with: apt-get install %s", ErrToolMissing, what, fmt.Sprintf(pkg, major))
	}
	merge := t.profdata(major)
	if merge == "" {
		return tuningTools{}, missing("llvm-profdata of version "+major, "llvm-%s")
	}
	runtime, err := t.profileRuntime()
	if err != nil {
		return tuningTools{}, err
	}
	if _, err := os.Stat(runtime); err != nil {
		return tuningTools{}, missing("the run-time for profiles, "+runtime, "libclang-rt-%s-dev")
	}
	return tuningTools{merge}, nil
}

// llvmVersion finds the major version in what a tool of LLVM says of itself.
var llvmVersion = regexp.MustCompile(`LLVM version (\d+)`)

// profdata is the llvm-profdata of the compiler's version: an older one does not read its counters. The compiler names
// whatever it finds, in the end that of the PATH, or just the name; so the version is looked at. Empty if there is none.
func (t *toolchain) profdata(major string) string {
	name, err := toolOutput(t.cxx, "-print-prog-name=llvm-profdata")
	if err != nil {
		return ""
	}
	for _, n := range []string{strings.TrimSpace(name), "llvm-profdata-" + major} {
		path, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		said, err := toolOutput(path, "merge", "--version")
		if v := llvmVersion.FindStringSubmatch(said); err == nil && v != nil && v[1] == major {
			return path
		}
	}
	return ""
}

// quoted is a word of a command line as clang shows it.
var quoted = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// profileRuntime is the library that the compiler links programs with that count for a profile. It looks in several
// folders, by version and target, and -print-runtime-dir names one of them, there or not; so this asks for the command line
// of a link.
func (t *toolchain) profileRuntime() (string, error) {
	lines, err := toolErrors(t.cxx, "-###", "-fprofile-generate", os.DevNull)
	if err != nil {
		return "", err
	}
	for _, m := range quoted.FindAllStringSubmatch(lines, -1) {
		if strings.Contains(filepath.Base(m[1]), "clang_rt.profile") {
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%s links no run-time for profiles with -fprofile-generate", t.cxx)
}

// train returns a profile of the hot units under the recording of the options.
func (b *builder) train(hot, rest []unit) (string, error) {
	tools, err := b.tools.tuning()
	if err != nil {
		return "", err
	}
	counted := make([]unit, len(hot))
	for i, u := range hot {
		counted[i] = unit{src: u.src, obj: u.obj + ".counted", flags: append([]string{"-fprofile-generate"}, u.flags...)}
	}
	if err := b.compileAll(append(counted, rest...)); err != nil {
		return "", err
	}
	program, raw := filepath.Join(b.work, "counted"), filepath.Join(b.work, "counted.raw")
	if err := b.linkTo(program, append(counted, rest...), "-fprofile-generate"); err != nil {
		return "", err
	}
	b.logf("training with %s", filepath.Base(b.o.Training))
	p, err := play(b.o.context(), b.m.Name, program, b.o.Training, []string{"LLVM_PROFILE_FILE=" + raw})
	if err != nil {
		return "", fmt.Errorf("training: %w", err)
	}
	if p.Cycles == 0 {
		return "", fmt.Errorf("training: %s holds no cycle", b.o.Training)
	}
	profile := filepath.Join(b.objDir(), "profile")
	if _, err := runTool("merging counters", b.work, tools.merge, "merge", "-o", profile, raw); err != nil {
		return "", err
	}
	return profile, errors.Join(os.Remove(program), os.Remove(raw))
}

// tune compiles the hot units by their profile.
func (b *builder) tune(hot, rest []unit) error {
	profile, err := b.train(hot, rest)
	if err != nil {
		return err
	}
	for i := range hot {
		hot[i].flags = append([]string{"-fprofile-use=" + profile}, hot[i].flags...)
	}
	b.logf("compiling by its profile")
	return nil
}

// checkTraining refuses options that do not fit: a recording is for tuned builds, and making one needs it.
func (o *BuildOptions) checkTraining() error {
	if o.Training != "" && o.Variant != VariantTuned {
		return fmt.Errorf("a recording to train with was given: want variant %s, got %s", VariantTuned, o.Variant)
	}
	return nil
}

// ErrNotTuned says that there is no tuned build in the cache and no recording to make one with.
var ErrNotTuned = errors.New("no tuned build of this device")
