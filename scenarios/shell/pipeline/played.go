package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nictwin/scenarios/observe/bundle"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
	"nictwin/scenarios/shell/home"
)

// Played is a bundle that a command plays. Its inputs lie in a temporary folder of their own.
type Played struct {
	*bundle.Bundle
	Path string // path of the bundle, as the user named it
	dir  string
}

// OpenBundle reads a bundle of a command and unpacks its inputs. The caller must Close it.
func OpenBundle(path, command string) (*Played, error) {
	b, err := bundle.Read(path)
	if err != nil {
		return nil, err
	}
	if b.Info.Command != command {
		return nil, fmt.Errorf("%s is a bundle of %s: want nictwin %s %s", path, b.Info.Command, b.Info.Command, path)
	}
	p := &Played{Bundle: b, Path: path}
	if p.dir, err = os.MkdirTemp("", "nictwin-bundle-*"); err != nil {
		return nil, err
	}
	to, err := files.OpenFolder(p.dir)
	if err == nil {
		err = errors.Join(b.Unpack(to), to.Close())
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close removes the temporary folder.
func (p *Played) Close() error { return os.RemoveAll(p.dir) }

// Inputs returns the paths of the inputs with a role.
func (p *Played) Inputs(role bundle.Role) (paths []string) {
	for _, name := range p.Info.WithRole(role) {
		paths = append(paths, filepath.Join(p.dir, filepath.Base(name)))
	}
	return paths
}

// Shown returns the name under which people see an input: its entry in the bundle. Other paths, and all of them
// without a bundle, are shown as they are.
func (p *Played) Shown(path string) string {
	if p == nil || filepath.Dir(path) != p.dir {
		return path
	}
	return p.Path + ":inputs/" + filepath.Base(path)
}

// Device returns the name of the bundle's device, which must be a device of the home: a bundle must not choose other
// RTL to be compiled.
func (p *Played) Device(homeFlag, instead string) (string, error) {
	h, err := home.Find(homeFlag)
	if err != nil {
		return "", err
	}
	name := p.Info.DUT.Name
	if _, err := os.Stat(h.Path(name)); err != nil {
		return "", fmt.Errorf("%s: device %s: the home %s has none of this name: give its manifest by %s", p.Path, name,
			h.Dir, instead)
	}
	return name, nil
}

// Compare reports whether a run, which left object o, reproduced the failure of the bundle; dut is the path of the
// device's manifest, empty without one.
func (p *Played) Compare(o *result.Object, dut string) *result.FromBundle {
	i := &p.Info
	c := &result.FromBundle{File: p.Path, Reproduced: o.Result == i.Result, Finding: named(i.Finding, i.Error),
		Notes: slices.Clone(p.Remarks)}
	// Two failures of infrastructure may differ: in one run the device died, in the other a tool was missing.
	if o.Result == result.Infrastructure.String() {
		c.Reproduced = c.Reproduced && o.Failure == i.Failure
	}
	if f := i.Finding; f != nil && o.Result == result.Mismatch.String() {
		c.Reproduced = len(o.Findings) > 0 && named(&o.Findings[0], "") == named(f, "")
	}
	differs := func(what, was, is string) {
		if was != is {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: the bundle's is %s, here it is %s", what, cmp.Or(was, "unknown"),
				cmp.Or(is, "unknown")))
		}
	}
	differs("revision", i.Revision, o.Revision)
	if i.DUT == nil || dut == "" {
		return c
	}
	if text, err := files.Read(dut, bundle.MaxBytes); err == nil {
		differs("manifest of the device", i.DUT.Manifest, hash(text))
	}
	if i.DUT.Build != "" && o.Build != "" {
		differs("build of the device", i.DUT.Build, o.Build)
	}
	return c
}

// named returns rule, domain and field of a finding, which are the same in every run that shows it; without a finding,
// the error's first line. A bundle may come from a stranger: line breaks are escaped, so that none of it looks like a
// line of this program.
func named(f *result.Finding, err string) string {
	if f == nil {
		head, _, _ := strings.Cut(err, "\n")
		return files.Shown(head)
	}
	var parts []string
	if f.Rule != "" {
		parts = append(parts, "["+f.Rule+"]")
	}
	return files.Shown(strings.Join(append(parts, string(f.Domain), f.Field), " "))
}
