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
	Home string       // folder that the user names; empty: search
	Used *result.Home // nil if none was used
}

// find finds the home. From then on, builds use its harness.
func (p *Place) find() (home.Home, error) {
	h, err := home.Find(p.Home)
	if err != nil {
		return h, err
	}
	build.SetHarness(h.Harness())
	if p.Used == nil {
		id, modified := h.Revision(context.Background()) // Revision has its own time limit
		p.Used = &result.Home{Dir: h.Dir, Revision: id, Modified: modified}
	}
	return h, nil
}

// Find finds the home and records it.
func (p *Place) Find() error {
	_, err := p.find()
	return err
}

// manifest finds a device's manifest by name or path and reads it, so that faults are reported early. Its errors are
// of kinds that [Decide] knows.
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
