package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nictwin/models/board"
	"nictwin/models/nicspec"
	"nictwin/scenarios/device"
	"nictwin/scenarios/testbed"
)

// Build puts a board together with the NIC under test on it. The spec says what is wanted of everything around the NIC;
// its kind of NIC is for Build to choose.
type Build func(testbed.Spec) (*testbed.Bed, error)

// check is one test of the suite.
type check struct {
	name   string
	rules  string // of docs/nic.md, separated by spaces
	stalls []int  // percent of cycles with back-pressure; nil: calm only
	run    func(*rig)
}

// area is checks that need the same parts of the build.
type area struct {
	parts  nicspec.Cap1Reg
	checks []check
}

// around changes the endpoint of some checks, by name.
var around = map[string]func(*board.Endpoint){}

// credits are those of the links of some checks, by name; the others have as many as never hold anything back.
var credits = map[string]int{}

// Back-pressure under which checks run.
var (
	calm    []int
	stalled = []int{0, 30, 60}
)

// areas are all checks there are, but for portAreas, which need more than one port.
var areas = []area{
	{0, registerChecks}, {0, idleChecks}, {0, tableChecks}, {0, layoutChecks}, {0, dropChecks}, {0, parseChecks}, {0, steerChecks}, {0, rxRingChecks},
	{0, rxErrorChecks}, {0, tagChecks}, {0, ringErrorChecks}, {0, txLayoutChecks}, {0, txStatusChecks}, {0, offloadChecks}, {0, txErrorChecks}, {0, handChecks}, {0, txRingChecks},
	{nicspec.PartRss, rssChecks}, {nicspec.PartCopy, copyChecks}, {nicspec.PartCopy, copyLineChecks}, {nicspec.PartCopy | nicspec.PartFence, fenceChecks}, {nicspec.PartCopy | nicspec.PartFence | nicspec.PartPush, fencePushChecks}, {0, flagChecks}, {nicspec.PartLong, longChecks}, {nicspec.PartLong | nicspec.PartPush, longPushChecks},
	{nicspec.PartTrim, trimChecks}, {nicspec.PartTrim | nicspec.PartCrc32c, trimCrcChecks}, {nicspec.PartTrim | nicspec.PartEcn, trimEcnChecks},
	{nicspec.PartLong | nicspec.PartFlr, longFlrChecks}, {nicspec.PartLong | nicspec.PartPause, longPauseChecks}, {nicspec.PartAppend, appendChecks}, {nicspec.PartAppend | nicspec.PartLong, appendLongChecks},
	{nicspec.PartAppend | nicspec.PartCrc32c, appendCrcChecks}, {nicspec.PartAppend | nicspec.PartEcn, appendEcnChecks},
	{nicspec.PartCopy, invalidateChecks},
	{nicspec.PartPush, pushChecks}, {nicspec.PartAccounts, accountChecks}, {nicspec.PartAccounts, accountRaceChecks}, {nicspec.PartAccounts, accountSweepChecks}, {0, sweepChecks},
	{nicspec.PartAccounts | nicspec.PartRss, accountRssChecks},
	{nicspec.PartCrc32c, crc32cChecks}, {nicspec.PartCrc32c | nicspec.PartAccounts, crcAccountChecks},
	{nicspec.PartFlr, flrChecks}, {nicspec.PartFlr, flrEachChecks}, {nicspec.PartFlr | nicspec.PartCopy, flrCopyChecks},
	{0, isolationChecks}, {nicspec.PartCopy, isolationCopyChecks}, {nicspec.PartPause, pauseChecks}, {nicspec.PartPause, pauseOffChecks}, {nicspec.PartPause, pauseKeptChecks}, {nicspec.PartPause | nicspec.PartFlr, pauseResetChecks}, {everyQueueParts, everyQueueChecks},
	{nicspec.PartMsix, msixChecks}, {0, runtimeChecks}, {nicspec.PartAttr, attrChecks}, {nicspec.PartAttr | nicspec.PartCopy, attrCopyChecks},
	{nicspec.PartLong | nicspec.PartPush, longOffChecks}, {nicspec.PartEcn, ecnChecks}, {nicspec.PartEcn | nicspec.PartCrc32c, ecnCrcChecks},
	{0, windowChecks}, {0, earlyChecks}, {0, mixedChecks}, {0, backpressureChecks}, {nicspec.PartCopy, copyHeldChecks}, {0, chaosChecks}, {resetChaosParts, resetChaosChecks},
}

var portAreas = []area{{0, portChecks}, {0, fairChecks}, {nicspec.PartPause, portStopChecks}}

// suite is every check that such a NIC can be held to.
func suite(sizes nicspec.Build) []check {
	var all []check
	list := areas
	if sizes.Ports > 1 {
		list = slices.Concat(areas, portAreas)
	}
	for _, a := range list {
		if sizes.Has(a.parts) {
			all = append(all, a.checks...)
		}
	}
	return all
}

// RunContract holds a NIC of the given sizes to docs/nic.md. name is what its subtests go by.
func RunContract(t *testing.T, name string, sizes nicspec.Build, build Build) {
	runChecks(t, name, sizes, build, suite(sizes))
}

func runChecks(t *testing.T, name string, sizes nicspec.Build, build Build, checks []check) {
	runChecksOn(t, name, sizes, build, checks, nil)
}

// runChecksOn runs checks on a card, nil being the plain one.
func runChecksOn(t *testing.T, name string, sizes nicspec.Build, build Build, checks []check, card *board.CardSpec) {
	t.Run(name, func(t *testing.T) {
		for _, c := range checks {
			t.Run(c.title(), func(t *testing.T) {
				stalls := c.stalls
				if stalls == nil {
					stalls = []int{0}
				}
				for _, stall := range stalls {
					t.Run(fmt.Sprintf("stall %d", stall), func(t *testing.T) { c.on(t, sizes, build, stall, card) })
				}
			})
		}
	})
}

// title is the check's name with its rules: registers/shapes [G1] [P8].
func (c *check) title() string {
	return c.name + " [" + strings.Join(strings.Fields(c.rules), "] [") + "]"
}

func (c *check) on(t *testing.T, sizes nicspec.Build, build Build, stall int, card *board.CardSpec) {
	spec := endpoint(stall)
	if change := around[c.name]; change != nil {
		change(&spec)
	}
	s := testbed.Spec{
		Spec: device.Spec{Ports: sizes.Ports, EthBits: sizes.EthBits}, Seed: 11, Stall: stall, LinkCycles: linkCycles, Credits: credits[c.name], Endpoint: &spec,
	}
	if card != nil {
		s.Card, s.Endpoint, s.Credits = cardFor(card, spec), nil, 0
		s.Card.Ports, s.Card.EthBits = sizes.Ports, sizes.EthBits
		s.Card.PCIe.Credits = cmp.Or(credits[c.name], s.Card.PCIe.Credits)
	}
	r := newRig(t, sizes, build, s)
	c.run(r)
	r.finish()
}
