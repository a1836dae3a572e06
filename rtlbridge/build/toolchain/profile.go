package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tuningTools are the parts of clang that a tuned build needs beside the compiler.
type tuningTools struct{ Merge string }

func (t *Tools) Tuning() (tuningTools, error) {
	if !t.Clang {
		return tuningTools{}, fmt.Errorf("%w: a tuned build needs clang++, not %s; install it with: apt-get install "+
			"clang llvm",
			ErrToolMissing, filepath.Base(t.Cxx))
	}
	version, err := toolOutput(t.Cxx, "-dumpversion")
	if err != nil {
		return tuningTools{}, err
	}
	major, _, _ := strings.Cut(strings.TrimSpace(version), ".")
	missing := func(what, pkg string) error {
		return fmt.Errorf("%w: a tuned build needs %s; install it with: apt-get install %s", ErrToolMissing, what,
			fmt.Sprintf(pkg, major))
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
// whatever it finds, in the end that of the PATH, or just the name; so the version is looked at. Empty if there is
// none.
func (t *Tools) profdata(major string) string {
	name, err := toolOutput(t.Cxx, "-print-prog-name=llvm-profdata")
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
// folders, by version and target, and -print-runtime-dir names one of them, there or not; so this asks for the command
// line of a link.
func (t *Tools) profileRuntime() (string, error) {
	lines, err := toolErrors(t.Cxx, "-###", "-fprofile-generate", os.DevNull)
	if err != nil {
		return "", err
	}
	for _, m := range quoted.FindAllStringSubmatch(lines, -1) {
		if strings.Contains(filepath.Base(m[1]), "clang_rt.profile") {
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%s links no run-time for profiles with -fprofile-generate", t.Cxx)
}
