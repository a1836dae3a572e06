package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/dutnew"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/files"
)

// DUTNew holds the settings of the command that writes a first manifest for a module.
type DUTNew struct {
	Place
	Top        string
	Files      []string
	Include    []string
	Defines    map[string]string
	Parameters map[string]string
	Out        string // manifest to write, or the folder for dut.yaml; empty: none
}

// ManifestFile is the name of a manifest in its folder.
const ManifestFile = "dut.yaml"

var reModule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*$`)

// Run returns the text of the manifest. An error beside it says that the recognised ports do not fit together.
func (n *DUTNew) Run(ctx context.Context) (text string, d result.DUT, err error) {
	d.Name = n.Top
	defer func() {
		if err != nil {
			d.Error = err.Error()
		}
	}()
	m, err := n.design()
	if err != nil {
		return "", d, &UsageError{err}
	}
	d.Manifest, d.Top = m.Path, m.Top
	if d.Ports, err = build.Ports(ctx, m); err != nil {
		return "", d, err
	}
	if err = unsupportedPorts(m, d.Ports); err != nil {
		return "", d, &UsageError{err}
	}
	text = dutnew.Manifest(&dutnew.Design{
		Top: n.Top, Sources: m.Sources, IncludeDirs: m.IncludeDirs, Defines: n.Defines, Parameters: n.Parameters,
		Ports: d.Ports,
	})
	whole, err := manifest.Parse(m.Path, []byte(text))
	if err == nil {
		_, err = checkDesign(ctx, whole, false)
	}
	if err != nil {
		return text, d, &UsageError{fmt.Errorf("the manifest needs a hand: %w", err)}
	}
	d.Streams = describe(whole).Streams
	return text, d, n.write(m.Path, text)
}

// unsupportedPorts returns an error for each port of a kind that manifests do not support.
func unsupportedPorts(m *manifest.Manifest, ports []manifest.PinPort) error {
	var errs []error
	for _, p := range ports {
		switch {
		case p.Dir == "inout":
			errs = append(errs, fmt.Errorf("module %s: port %s is an inout, which is not supported: put the module "+
				"into one that has an input and an output for it", m.Top, p.Name))
		case p.Array != "":
			errs = append(errs, fmt.Errorf("module %s: port %s is an unpacked array %s, which is not supported: put "+
				"the module into one with a packed port for it", m.Top, p.Name, p.Array))
		}
	}
	return errors.Join(errs...)
}

// design fills in the part of the manifest that describes the design.
func (n *DUTNew) design() (*manifest.Manifest, error) {
	if !reModule.MatchString(n.Top) {
		return nil, fmt.Errorf("top %q: want the name of a module, then its files", n.Top)
	}
	if len(n.Files) == 0 {
		return nil, fmt.Errorf("no files given: want those of module %s", n.Top)
	}
	m := &manifest.Manifest{Name: n.Top, Top: n.Top, Defines: n.Defines, Parameters: n.Parameters, Path: ManifestFile}
	if n.Out != "" {
		m.Path = n.Out
		if st, err := os.Stat(n.Out); err == nil && st.IsDir() {
			m.Path = filepath.Join(n.Out, ManifestFile)
		}
		if _, err := os.Lstat(m.Path); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--out %s: already exists: want a new file", m.Path)
		}
		dir := filepath.Dir(m.Path)
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("--out %s: there is no folder %s: want a file in an existing one", m.Path, dir)
		}
		if err := files.Probe(dir); err != nil {
			return nil, fmt.Errorf("--out %s: %w", m.Path, err)
		}
	}
	var errs []error
	relative := func(list []string) (all []string) {
		for _, p := range list {
			if _, err := os.Stat(p); err != nil && !strings.ContainsAny(p, "*?[") {
				errs = append(errs, err)
			}
			all = append(all, from(filepath.Dir(m.Path), p))
		}
		return all
	}
	m.Sources, m.IncludeDirs = relative(n.Files), relative(n.Include)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return m, n.Find()
}

// from returns a path relative to a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	here, err1 := filepath.Abs(dir)
	there, err2 := filepath.Abs(path)
	if rel, err := filepath.Rel(here, there); errors.Join(err, err1, err2) == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func (n *DUTNew) write(path, text string) error {
	if n.Out == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, os.ErrExist): // another process has created it in the meantime
		return &UsageError{fmt.Errorf("--out: %w", err)}
	case err != nil:
		return fmt.Errorf("--out: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // the first error is the one to report
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// SourcePorts reads the ports of a module from its source files. Without a name, the module has the name of the first
// file.
func (n *DUTNew) SourcePorts(ctx context.Context) (result.DUT, error) {
	if n.Top == "" {
		base := filepath.Base(n.Files[0])
		n.Top = strings.TrimSuffix(base, filepath.Ext(base))
	}
	d := result.DUT{Name: n.Top}
	m, err := n.design()
	if err != nil {
		return d, &UsageError{err}
	}
	d.Top = n.Top
	d.Ports, err = build.Ports(ctx, m)
	if err != nil {
		d.Error = err.Error()
	}
	return d, err
}

// IsSource reports whether a word names a source file rather than a manifest.
func IsSource(word string) bool {
	switch filepath.Ext(word) {
	case ".v", ".sv", ".vh", ".svh", ".f":
		return true
	}
	return false
}
