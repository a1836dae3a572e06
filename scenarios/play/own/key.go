package own

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// schema is the version of the rules by which programs are built; a new one invalidates the cache.
const schema = "nictwin-reference-1"

// named is a hash over contents, each with its name.
type named struct{ hash.Hash }

func newHash() named { return named{sha256.New()} }

// text and file add a named text, or the contents of a file under a name, to the hash. Writing to a hash never fails.
func (h named) text(name string, b []byte) { _, _ = fmt.Fprintf(h, "%s %d\n%s\n", name, len(b), b) }

func (h named) file(name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	one := sha256.New()
	if _, err := io.Copy(one, f); err != nil {
		return err
	}
	h.text(name, one.Sum(nil))
	return nil
}

// key computes the hash that identifies the program: over its sources, the packages of nictwin that they may import,
// and the toolchain.
func (b *builder) key() error {
	tool, err := b.toolchain()
	if err != nil {
		return err
	}
	h := newHash()
	h.text("schema", []byte(schema))
	h.text("hook", []byte(hookText))
	h.text("toolchain", tool)
	h.text("flags", []byte(strings.Join(buildFlags, "\n")))
	for _, s := range b.list {
		h.text("source "+s.name, s.text)
	}
	if err := b.models(h); err != nil {
		return fmt.Errorf("home %s: %w", b.Home, err)
	}
	b.hash = hex.EncodeToString(h.Sum(nil))
	return nil
}

// models adds the packages that a reference may import, and the versions of their dependencies.
func (b *builder) models(h named) error {
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := h.file(name, filepath.Join(b.Home, name)); err != nil {
			return err
		}
	}
	root := filepath.Join(b.Home, "models")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // sorted by name
		switch {
		case err != nil:
			return err
		case b.ctx.Err() != nil:
			return b.ctx.Err()
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return h.file("file "+strings.TrimPrefix(path, b.Home), path)
	})
}
