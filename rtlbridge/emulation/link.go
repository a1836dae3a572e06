package emulation

import (
	"fmt"
	"strconv"
	"strings"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// Link says how a device is reached through a shell. A nil Link: directly, without one.
type Link struct {
	Options
	Faults int // percent of the link's frames that are lost, doubled or damaged
}

// LinkSim is the link to a board that is simulated.
const LinkSim = "sim"

// WantLink describes the links.
const WantLink = "sim, or sim,bits=N,depth=N,faults=N (width of the link, beats that each stream of the shell " +
	"holds, percent of frames that are lost, doubled or damaged)"

const maxFaults = 20 // percent

// ParseLink reads the value of --link; an empty one is no link.
func ParseLink(text string) (*Link, error) {
	if text == "" {
		return nil, nil
	}
	l := &Link{Options: DefaultOptions()}
	kind, rest, more := strings.Cut(text, ",")
	if kind != LinkSim {
		return nil, fmt.Errorf("link %q: want %s", text, WantLink)
	}
	fields := map[string]*int{"bits": &l.LinkBits, "depth": &l.Depth, "faults": &l.Faults}
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ",")
		name, value, _ := strings.Cut(one, "=")
		at, ok := fields[name]
		n, err := strconv.Atoi(value)
		if !ok || err != nil {
			return nil, fmt.Errorf("link %q: %q: want %s", text, one, WantLink)
		}
		*at = n
	}
	if l.Faults < 0 || l.Faults > maxFaults {
		return nil, fmt.Errorf("faults in %d%% of the frames: want 0 to %d", l.Faults, maxFaults)
	}
	return l, l.Validate()
}

// Build makes what a session with the device starts, or finds it in the cache: the device itself, or the agent of the
// link.
func (l *Link) Build(m *manifest.Manifest, o build.Options) (*build.Device, error) {
	if l == nil {
		return build.Build(m, o)
	}
	d, err := Build(m, l.Options, o)
	if err == nil && l.Faults > 0 {
		d.Args = append(d.Args, "--link-faults", strconv.Itoa(l.Faults))
	}
	return d, err
}
