package cli

import (
	"context"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/home"
)

// Place finds the home and records which one was used.
type Place struct {
	Home string       // folder given by the user; empty: search for it
	Used *result.Home // nil: none was used
}

// find finds the home; builds then use its harness.
func (p *Place) find() (home.Home, error) {
	h, err := home.Find(p.Home)
	if err != nil {
		return h, err
	}
	build.SetHarness(h.Harness())
	if p.Used == nil {
		id, modified := h.Revision(context.Background()) // no limit here: Revision has its own
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
	_, err = p.find()
	return path, m, err
}
