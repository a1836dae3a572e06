package cli

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/home"
)

// Place finds the home and records which one was used.
type Place struct {
	Home string       // folder given by the user; empty: search for it
	Used *result.Home // nil: none was used

	resolved []*manifest.Manifest // manifests of the devices that were named
}

// sources returns the hash of the sources of all devices that were named. It is empty if there are none, or if they
// cannot be read: other steps report that.
func (p *Place) sources(ctx context.Context) string {
	var list []string
	for _, m := range p.resolved {
		sum, err := build.SourcesHash(ctx, m)
		if err != nil {
			return ""
		}
		list = append(list, sum)
	}
	slices.Sort(list)
	switch list = slices.Compact(list); len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(list, " "))))
}

// find finds the home; builds then use its harness.
func (p *Place) find() (home.Home, error) {
	h, err := home.Find(p.Home)
	if err != nil {
		return h, err
	}
	build.SetHarness(h.Harness())
	if p.Used == nil {
		id, modified := h.Revision(context.Background()) // without a limit: Revision limits its calls of git
		p.Used = &result.Home{Dir: h.Dir, Revision: id, Modified: modified}
	}
	return h, nil
}

// Find finds the home and records it.
func (p *Place) Find() error {
	_, err := p.find()
	return err
}

// manifest finds and reads a device's manifest, given by name or path, so that its faults are reported before the run.
// [Decide] knows the kinds of its errors.
func (p *Place) manifest(dut string) (string, *manifest.Manifest, error) {
	path, err := home.Resolve(dut, p.Home)
	if err != nil {
		return "", nil, err
	}
	m, err := manifest.Load(path)
	if err != nil {
		return path, nil, err
	}
	if err == nil {
		p.resolved = append(p.resolved, m)
	}
	_, err = p.find()
	return path, m, err
}
