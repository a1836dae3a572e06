package emulation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
)

// Link says how a device is reached through a shell. A nil Link: directly, without one.
type Link struct {
	Options
	Faults    int // percent of the link's frames that are lost, doubled or damaged
	TraceFile TraceFile
}

// LinkSim is the link to a board that is simulated.
const LinkSim = "sim"

// WantLink describes the links.
const WantLink = "sim, or sim,bits=N,depth=N,faults=N (width of the link, beats that each stream of the shell " +
	"holds, percent of frames that are lost, doubled or damaged) and ,trace=PORT+PORT,samples=N,from=CYCLE,file=NAME " +
	"(ports in the trace buffer, its size, its first cycle, its file)"

const maxFaults = 20 // percent

// ParseLink reads the value of --link; an empty one is no link.
func ParseLink(text string) (*Link, error) {
	if text == "" {
		return nil, nil
	}
	l := &Link{Options: DefaultOptions(), TraceFile: TraceFile{Name: DefaultTraceFile}}
	kind, rest, more := strings.Cut(text, ",")
	if kind != LinkSim {
		return nil, fmt.Errorf("link %q: want %s", text, WantLink)
	}
	seen := map[string]bool{}
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ",")
		name, value, _ := strings.Cut(one, "=")
		if err := l.set(name, value); err != nil || seen[name] {
			return nil, fmt.Errorf("link %q: %q: want %s", text, one, WantLink)
		}
		seen[name] = true
	}
	for _, name := range []string{"samples", "from", "file"} {
		if seen[name] && l.Trace == "" {
			return nil, fmt.Errorf("link %q: %s has no effect without trace=PORT+PORT", text, name)
		}
	}
	if info, err := os.Stat(filepath.Dir(l.TraceFile.Name)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("link %q: file %s: want one in a folder that exists", text, l.TraceFile.Name)
	}
	if l.Faults < 0 || l.Faults > maxFaults {
		return nil, fmt.Errorf("faults in %d%% of the frames: want 0 to %d", l.Faults, maxFaults)
	}
	return l, l.Validate()
}

// errField is the fault of a field of --link that does not exist or has no such value.
var errField = errors.New("no such field, or value")

// set stores a field of the value of --link.
func (l *Link) set(name, value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case name == "trace" && value != "":
		l.Trace = value
		return nil
	case name == "file" && value != "":
		l.TraceFile.Name = value
		return nil
	case name == "from":
		l.TraceFile.From, err = strconv.ParseUint(value, 10, cycleBits)
		return err
	}
	at, ok := map[string]*int{"bits": &l.LinkBits, "depth": &l.Depth, "faults": &l.Faults, "samples": &l.Samples}[name]
	if !ok || err != nil {
		return errField
	}
	*at = n
	return nil
}

// Build makes what a session with the device starts, or finds it in the cache: the device itself, or the agent of the
// link.
func (l *Link) Build(m *manifest.Manifest, o build.Options) (*build.Device, error) {
	if l == nil {
		return build.Build(m, o)
	}
	d, err := buildTraced(m, l.Options, l.TraceFile, o)
	if err == nil && l.Faults > 0 {
		d.Args = append(d.Args, "--link-faults", strconv.Itoa(l.Faults))
	}
	return d, err
}
