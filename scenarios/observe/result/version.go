package result

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/protocol"
)

// Release is the newest version in CHANGELOG.md, as a test of ci/house checks.
const Release = "0.9.0"

// Version describes this program.
type Version struct {
	Release  string `json:"release"`  // newest version in CHANGELOG.md; changes after it have no version yet
	Module   string `json:"module"`   // version of the module; (devel) for a build from the tree
	Revision string `json:"revision"` // of the tree; empty if unknown
	Modified bool   `json:"modified"` // the tree had uncommitted changes
	Contract string `json:"contract"` // of the hardware, docs/nic.md
	Bridge   int    `json:"bridge"`   // of the protocol to a device, docs/bridge.md
	Schema   int    `json:"schema"`   // of the JSON object
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisVersion returns the version of the running program.
func ThisVersion() *Version {
	v := &Version{
		Release: Release, Contract: fmt.Sprintf("%d.%d", nicspec.ContractVersion>>16, nicspec.ContractVersion&0xffff),
		Bridge: protocol.Version, Schema: Schema,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Module: "(unknown)",
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Module = info.Main.Version
	if v.Module == "" {
		v.Module = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// Tree returns the source revision, marked if the tree had uncommitted changes.
func (v *Version) Tree() string {
	if v.Modified {
		return v.Revision + "+changes"
	}
	return v.Revision
}

// String formats the version for people.
func (v *Version) String() string {
	tree := ", revision unknown"
	if v.Revision != "" {
		tree = ", revision " + v.Tree()
	}
	return fmt.Sprintf("nictwin %s%s\nhardware contract %s, bridge protocol %d, JSON schema %d\n%s %s\n",
		v.Release, tree, v.Contract, v.Bridge, v.Schema, v.Go, v.Platform)
}
