// Command gen writes the files generated from nic.yaml. Run it by go generate ./models/nic/nicspec:
// it expects that folder as its working directory.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"nictwin/models/nic/nicspec/emit"
	"nictwin/models/nic/nicspec/schema"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	c, err := schema.Load("nic.yaml")
	if err != nil {
		return err
	}
	files, err := emit.All(c)
	if err != nil {
		return err
	}
	keep := make([]string, 0, len(files))
	for _, f := range files {
		keep = append(keep, f.Path)
		if err := write(f); err != nil {
			return err
		}
	}
	old, err := filepath.Glob("*_gen.go")
	if err != nil {
		return fmt.Errorf("looking for files generated earlier: %w", err)
	}
	for _, path := range old {
		if !slices.Contains(keep, path) {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("removing a file that is no longer generated: %w", err)
			}
		}
	}
	return nil
}

// write writes a file, unless it is up to date: rewriting it would rebuild what depends on it.
func write(f emit.File) error {
	path := filepath.FromSlash(f.Path)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.Data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", f.Path, err)
	}
	if err := os.WriteFile(path, f.Data, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", f.Path, err)
	}
	return nil
}
