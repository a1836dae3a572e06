package contract

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/suite/contract/copies"
	"nictwin/scenarios/suite/contract/isolation"
	"nictwin/scenarios/suite/contract/kit"
	"nictwin/scenarios/suite/contract/offloads"
	"nictwin/scenarios/suite/contract/pause"
	"nictwin/scenarios/suite/contract/pcie"
	"nictwin/scenarios/suite/contract/receive"
	"nictwin/scenarios/suite/contract/registers"
	"nictwin/scenarios/suite/contract/reset"
	"nictwin/scenarios/suite/contract/transmit"
)

// area is a list of checks that need the same optional parts of the NIC.
type area struct {
	parts  nicspec.Cap1Reg
	checks []kit.Check
}

// areas lists all checks except portAreas, which need more than one port.
var areas = []area{
	{0, registers.Checks}, {0, registers.IdleChecks}, {0, registers.TableChecks}, {0, receive.LayoutChecks},
	{0, receive.DropChecks}, {0, receive.ParseChecks}, {0, receive.SteerChecks}, {0, receive.RxRingChecks},
	{0, receive.RxErrorChecks}, {0, pcie.TagChecks}, {0, transmit.RingErrorChecks}, {0, transmit.TxLayoutChecks},
	{0, transmit.TxStatusChecks}, {0, offloads.OffloadChecks}, {0, transmit.TxErrorChecks}, {0, pcie.CompletionChecks},
	{0, transmit.TxRingChecks},
	{nicspec.PartRss, receive.RssChecks}, {nicspec.PartCopy, copies.Checks}, {nicspec.PartCopy, copies.LineChecks},
	{nicspec.PartCopy | nicspec.PartFence, copies.FenceChecks},
	{nicspec.PartCopy | nicspec.PartFence | nicspec.PartPush, copies.FencePushChecks}, {0, transmit.FlagChecks},
	{nicspec.PartLong, transmit.LongChecks}, {nicspec.PartLong | nicspec.PartPush, transmit.LongPushChecks},
	{nicspec.PartTrim, offloads.TrimChecks}, {nicspec.PartTrim | nicspec.PartCrc32c, offloads.TrimCrcChecks},
	{nicspec.PartTrim | nicspec.PartEcn, offloads.TrimEcnChecks},
	{nicspec.PartLong | nicspec.PartFlr, reset.LongChecks}, {nicspec.PartLong | nicspec.PartPause, pause.LongChecks},
	{nicspec.PartAppend, offloads.AppendChecks}, {nicspec.PartAppend | nicspec.PartLong, offloads.AppendLongChecks},
	{nicspec.PartAppend | nicspec.PartCrc32c, offloads.AppendCrcChecks},
	{nicspec.PartAppend | nicspec.PartEcn, offloads.AppendEcnChecks},
	{nicspec.PartCopy, copies.InvalidateChecks},
	{nicspec.PartPush, transmit.PushChecks}, {nicspec.PartAccounts, receive.AccountChecks},
	{nicspec.PartAccounts, receive.AccountRaceChecks}, {nicspec.PartAccounts, reset.AccountSweepChecks},
	{0, reset.SweepChecks},
	{nicspec.PartAccounts | nicspec.PartRss, receive.AccountRssChecks},
	{nicspec.PartCrc32c, offloads.CRC32CChecks}, {nicspec.PartCrc32c | nicspec.PartAccounts, offloads.CRCAccountChecks},
	{nicspec.PartFlr, reset.Checks}, {nicspec.PartFlr, reset.EachChecks},
	{nicspec.PartFlr | nicspec.PartCopy, reset.CopyChecks},
	{0, isolation.Checks}, {nicspec.PartCopy, isolation.CopyChecks}, {nicspec.PartPause, pause.Checks},
	{nicspec.PartPause, pause.DisableChecks}, {nicspec.PartPause, pause.CombinedChecks},
	{nicspec.PartPause | nicspec.PartFlr, pause.ResetChecks},
	{isolation.EveryQueueParts, isolation.EveryQueueChecks},
	{nicspec.PartMsix, registers.MSIXChecks}, {0, pcie.RuntimeChecks}, {nicspec.PartAttr, pcie.AttrChecks},
	{nicspec.PartAttr | nicspec.PartCopy, pcie.AttrCopyChecks},
	{nicspec.PartLong | nicspec.PartPush, transmit.LongDisableChecks}, {nicspec.PartEcn, offloads.ECNChecks},
	{nicspec.PartEcn | nicspec.PartCrc32c, offloads.ECNCrcChecks},
	{0, pcie.WindowChecks}, {0, pcie.EarlyChecks}, {0, pcie.MixedChecks}, {0, pcie.BackpressureChecks},
	{nicspec.PartCopy, copies.BackpressureChecks}, {0, isolation.ChaosChecks},
	{isolation.ResetChaosParts, isolation.ResetChaosChecks},
}

var portAreas = []area{{0, isolation.PortChecks}, {0, isolation.FairChecks}, {nicspec.PartPause, pause.PortStopChecks}}

// suite returns every check that applies to a NIC of these sizes.
func suite(sizes nicspec.Build) []kit.Check {
	var all []kit.Check
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

// RunContract checks a NIC of the given sizes against docs/nic.md. name prefixes its subtests.
func RunContract(t *testing.T, name string, sizes nicspec.Build, build kit.Build) {
	runChecks(t, name, sizes, build, suite(sizes))
}

func runChecks(t *testing.T, name string, sizes nicspec.Build, build kit.Build, checks []kit.Check) {
	runChecksOn(t, name, sizes, build, checks, nil)
}

// runChecksOn runs checks on a card; if card is nil, on the plain board.
func runChecksOn(t *testing.T, name string, sizes nicspec.Build, build kit.Build, checks []kit.Check,
	card *board.CardSpec) {
	t.Run(name, func(t *testing.T) {
		for _, c := range checks {
			t.Run(c.Title(), func(t *testing.T) {
				stalls := c.Stalls
				if stalls == nil {
					stalls = []int{0}
				}
				for _, stall := range stalls {
					t.Run(fmt.Sprintf("stall %d", stall), func(t *testing.T) { on(&c, t, sizes, build, stall, card) })
				}
			})
		}
	})
}

func on(c *kit.Check, t *testing.T, sizes nicspec.Build, build kit.Build, stall int, card *board.CardSpec) {
	spec := kit.Endpoint(stall)
	if change := kit.Around[c.Name]; change != nil {
		change(&spec)
	}
	s := testbed.Spec{
		Spec: device.Spec{Ports: sizes.Ports, EthBits: sizes.EthBits}, Seed: 11, Stall: stall,
		LinkCycles: kit.LinkCycles, Credits: kit.Credits[c.Name], Endpoint: &spec,
	}
	if card != nil {
		s.Card, s.Endpoint, s.Credits = kit.CardFor(card, spec), nil, 0
		s.Card.Ports, s.Card.EthBits = sizes.Ports, sizes.EthBits
		s.Card.PCIe.Credits = cmp.Or(kit.Credits[c.Name], s.Card.PCIe.Credits)
	}
	r := kit.NewRig(t, sizes, build, s)
	c.Run(r)
	r.Finish()
}
