package toolchain

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tuningTools are the parts of clang that a tuned build needs in addition to the compiler.
type tuningTools struct{ Merge string }

// Tuning returns the tools that a tuned build needs, or an error that says which one is missing and how to install it.
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

// llvmVersion matches the major version in the output of an LLVM tool.
var llvmVersion = regexp.MustCompile(`LLVM version (\d+)`)

// profdata returns the path of llvm-profdata of the compiler's version: an older one cannot read its counters.
// The compiler prints whatever it finds, in the end the one of the PATH, or only the name; so the version is
// checked. Empty if there is none.
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

// quoted matches a word of a command line as clang prints it.
var quoted = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)

// profileRuntime returns the library that the compiler links into programs that count for a profile. The
// compiler searches several folders, by version and target, and -print-runtime-dir prints one of them whether it
// exists or not; so this asks for the command line of a link.
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
