package cli

import (
	"context"

	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/observe/result"
	"nictwin/scenarios/shell/home"
)

// Place finds the home, and notes which one it was.
type Place struct {
	Home string       // folder that the user names, empty to look for it
	Used *result.Home // nil when none was used
}

// find finds the home. Everything that is built from now on has its harness.
func (p *Place) find() (home.Home, error) {
	h, err := home.Find(p.Home)
	if err != nil {
		return h, err
	}
	build.SetHarness(h.Harness())
	if p.Used == nil {
		id, modified := h.Revision(context.Background()) // which has a limit of its own
		p.Used = &result.Home{Dir: h.Dir, Revision: id, Modified: modified}
	}
	return h, nil
}

// Find finds the home and notes it.
func (p *Place) Find() error {
	_, err := p.find()
	return err
}

// manifest finds the manifest of a device by name or path, and reads it once: its faults are told early. Its errors
// are of kinds that [Decide] knows.
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
