package rtlbridge

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// buildSchema changes when the build's own rules change, so that older entries are not used.
const buildSchema = "nictwin-rtl-6"

const maxIncludeTree = 20_000 // files under one include folder

// cachePath is where builds are kept: below $NICTWIN_CACHE or the user's cache folder.
func cachePath(dir string) (string, error) {
	if dir == "" {
		dir = os.Getenv("NICTWIN_CACHE")
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder: set NICTWIN_CACHE: %w", err)
		}
		dir = filepath.Join(base, "nictwin")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "rtl")) // tools run elsewhere
	if err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// cacheRoot is cachePath, which it makes if need be.
func cacheRoot(dir string) (string, error) {
	dir, err := cachePath(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build cache: %w", err)
	}
	return dir, nil
}

// harnessDir is the folder of SetHarness.
var harnessDir atomic.Pointer[string]

// SetHarness names the folder of the C++ harness for builds that name none. It is compiled into every device, so nobody but
// the program says where it is: neither the folder of a manifest nor the working folder does.
func SetHarness(dir string) { harnessDir.Store(&dir) }

// findHarness is the folder of the harness, of a build that names one or not.
func findHarness(given string) (string, error) {
	if dir := harnessDir.Load(); given == "" && dir != nil {
		given = *dir
	}
	if given == "" {
		return "", errors.New("the folder of the harness (verilator/harness) is not known: name it by BuildOptions.HarnessDir or SetHarness")
	}
	if !isHarness(given) {
		return "", fmt.Errorf("%s is not the harness: it has no device.hpp", given)
	}
	return filepath.Abs(given)
}

func isHarness(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "device.hpp"))
	return err == nil
}

// hasher folds named contents into one hash.
type hasher struct {
	h    hash.Hash
	seen map[string]bool // absolute paths of hashed files
}

func newHasher() *hasher { return &hasher{h: sha256.New(), seen: map[string]bool{}} }

func (h *hasher) text(name, value string) { fmt.Fprintf(h.h, "%s %d\n%s\n", name, len(value), value) }

func (h *hasher) file(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	defer f.Close()
	one := sha256.New()
	if _, err := io.Copy(one, f); err != nil {
		return fmt.Errorf("source %s: %w", path, err)
	}
	h.text("file "+name, fmt.Sprintf("%x", one.Sum(nil)))
	h.seen[path] = true
	return nil
}

// tree hashes every regular file under dir whose name keep accepts.
func (h *hasher) tree(name, dir string, keep func(string) bool) error {
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && keep(p) {
			files = append(files, p)
		}
		if len(files) > maxIncludeTree {
			return fmt.Errorf("more than %d files under %s: name a smaller folder", maxIncludeTree, dir)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("source folder: %w", err)
	}
	slices.Sort(files)
	for _, f := range files {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			return fmt.Errorf("source folder: %w", err)
		}
		if err := h.file(name+"/"+rel, f); err != nil {
			return err
		}
	}
	return nil
}

func (h *hasher) sum() (out [32]byte) {
	copy(out[:], h.h.Sum(nil))
	return out
}

func isVerilog(path string) bool {
	switch filepath.Ext(path) {
	case ".v", ".sv", ".vh", ".svh", ".h", ".inc", ".vlt", ".svi":
		return true
	}
	return false
}

func isHarnessSource(path string) bool {
	ext := filepath.Ext(path)
	return (ext == ".hpp" || ext == ".cpp") && !strings.Contains(path, string(filepath.Separator)+"tests"+string(filepath.Separator))
}

// buildHash is the identity of a build: everything that can change its behaviour or its speed.
func buildHash(m *Manifest, src *sourceSet, harness string, t *toolchain, v Variant, flags []string) (*hasher, error) {
	h := newHasher()
	h.text("schema", buildSchema)
	h.text("glue", glueText)
	h.text("variant", string(v))
	h.text("verilator flags", strings.Join(flags, "\n"))
	h.text("verilator", t.verilatorVersion)
	h.text("compiler", t.cxxVersion)
	if !t.clang {
		h.text("flag", gccFlag)
	}
	h.text("cpu", cpuFlags())
	desc, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", m.Path, err)
	}
	h.text("manifest", string(desc))
	h.text("list defines", strings.Join(src.defines, "\n"))
	var errs []error
	for _, f := range src.files {
		errs = append(errs, h.file(m.rel(f), f))
	}
	for _, d := range src.incDirs {
		errs = append(errs, h.tree(m.rel(d), d, isVerilog))
	}
	errs = append(errs, h.tree("harness", harness, isHarnessSource))
	return h, errors.Join(errs...)
}

// rel gives a path relative to the manifest, so that a hash does not depend on where the tree lies.
func (m *Manifest) rel(path string) string {
	base, err := filepath.Abs(m.Dir())
	if err != nil {
		return path
	}
	if r, err := filepath.Rel(base, path); err == nil {
		return r
	}
	return path
}
