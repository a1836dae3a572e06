package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nictwin/rtlbridge/build/toolchain"
	"nictwin/rtlbridge/manifest"
)

// designLink is a link in the scratch folder to the manifest's folder. Verilator gets every path of the manifest
// through it, so an absolute path is never taken for an option, or for a file of the same name in an include
// folder. In Verilator's output the paths are given without it, so neither depends on where the tree is.
const designLink = "design"

// linkDesign makes the symbolic link designLink, unless it exists.
func (b *builder) linkDesign() error {
	if b.link != "" {
		return nil
	}
	target, err := filepath.Abs(b.m.Dir())
	if err != nil {
		return fmt.Errorf("device manifest: %w", err)
	}
	dir := b.work
	if manifest.BadInPath(dir) != "" { // Verilator would truncate it, in messages and in its list of dependencies
		if dir, err = os.MkdirTemp("", "nictwin-"); err != nil {
			return fmt.Errorf("scratch folder: %w", err)
		}
		b.linkHome = dir
	}
	link := filepath.Join(dir, designLink)
	if err := os.Symlink(target, link); err != nil {
		return fmt.Errorf("scratch folder: %w", err)
	}
	b.link = link
	return nil
}

// unlinkDesign removes the link.
func (b *builder) unlinkDesign() error {
	if b.link == "" {
		return nil
	}
	err := os.Remove(b.link)
	if b.wrapper != "" {
		err = errors.Join(err, os.Remove(b.wrapper))
	}
	if errors.Is(err, fs.ErrNotExist) { // the symbolic link has moved with its folder
		err = nil
	}
	if b.linkHome != "" {
		err = errors.Join(err, os.RemoveAll(b.linkHome))
	}
	b.link, b.linkHome = "", ""
	return err
}

// path returns a file or folder of the manifest in the form that Verilator gets.
func (b *builder) path(p string) string {
	rel := b.m.Rel(p)
	switch {
	case filepath.IsAbs(rel):
		return rel
	case rel == ".":
		return b.link
	}
	return b.link + "/" + rel // filepath.Join would resolve ".." across the link
}

// relativePaths returns Verilator's text with paths relative to the manifest.
func (b *builder) relativePaths(text string) string {
	return strings.NewReplacer(b.link+"/", "", filepath.Dir(b.link)+"/", "").Replace(text)
}

// verilator runs Verilator on the design. Faults of the manifest or of the design have their own error types:
// *manifest.Error, *RefusedError, *DesignError; any other failure is a *BuildError.
func (b *builder) verilator(step string, options ...string) (string, error) {
	if err := b.linkDesign(); err != nil {
		return "", err
	}
	sources, err := b.sourceArgs()
	if err != nil {
		return "", err
	}
	out, err := toolchain.ToolRun{Ctx: b.o.context(), Limits: b.limits, Step: step + " " + b.m.Top,
		Dir: b.m.Dir()}.Run(b.tools.Verilator, append(options, sources...)...)
	out = b.relativePaths(out)
	var failed *toolchain.BuildError
	var over *toolchain.ExceededError
	switch {
	case errors.As(err, &over):
		err = b.m.Errorf("sources", "sources: %s %s: %v", step, b.m.Top, over)
	case errors.As(err, &failed) && b.o.context().Err() == nil:
		failed.Output = firstErrors(b.m.Dir(), out)
		err = b.refused(failed, out)
	}
	return out, err
}

// relocate makes the paths in generated sources relative to the manifest: a running device prints them for $stop
// and failed assertions, and coverage identifies points by them.
func (b *builder) relocate() error {
	prefix := []byte(filepath.Dir(b.link) + "/")
	for _, ext := range []string{"*.cpp", "*.h"} {
		files, err := filepath.Glob(filepath.Join(b.objDir(), ext))
		if err != nil {
			return fmt.Errorf("verilated sources: %w", err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return fmt.Errorf("verilated source: %w", err)
			}
			if !bytes.Contains(text, prefix) {
				continue
			}
			if err := os.WriteFile(f, []byte(b.relativePaths(string(text))), 0o644); err != nil {
				return fmt.Errorf("verilated source: %w", err)
			}
		}
	}
	return nil
}
