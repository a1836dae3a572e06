package fuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"nictwin/models/board"
	"nictwin/rtlbridge/build"
	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/fuzz/player"
)

// VariantMixed plays most programs on the speed build, and one in ten, drawn from the seed, on the debug build, which
// checks the RTL's assertions and powers up with random contents. Behind a link, all are played on the speed build.
const VariantMixed = "mixed"

const debugOneIn = 10

// devKey identifies a device of a campaign.
type devKey struct {
	ports   int
	variant string
}

// variant returns the build variant on which a program is played.
func (c *campaign) variant(number int) string {
	switch {
	case c.NIC != device.RTL:
		return ""
	case c.RTLCoverage != "":
		return string(build.VariantCoverage)
	case c.Variant != VariantMixed:
		return c.Variant
	case c.Program == nil && c.drawsDebug(number) && c.devs[devKey{c.ports(number), string(build.VariantDebug)}] != nil:
		return string(build.VariantDebug)
	}
	return string(build.VariantSpeed)
}

// tested returns the hash of the build with the most ports that this campaign has built; empty if devices are built
// when they are opened.
func (c *campaign) tested() string {
	variant := string(build.VariantSpeed)
	if c.Variant != VariantMixed || c.RTLCoverage != "" {
		variant = c.variant(0)
	}
	for ports := board.MaxPorts; ports > 0; ports-- {
		if d := c.devs[devKey{ports, variant}]; d != nil {
			return d.HashString()
		}
	}
	return ""
}

// drawsDebug reports whether a mixed campaign plays a program on the debug build.
func (c *campaign) drawsDebug(number int) bool {
	const stream = 0x6465627567 // separates this draw from that of the program
	return rand.New(rand.NewPCG(c.Seed^stream, uint64(number))).IntN(debugOneIn) == 0
}

// wantsDebug reports whether any program of a NIC with that many ports may be played on the debug build.
func (c *campaign) wantsDebug(ports int) bool {
	if c.Variant != VariantMixed || c.Program != nil || c.RTLCoverage != "" || c.Link != nil {
		return false
	}
	const few = 1000 // of this many programs or more, at least one is for the debug build
	for i := range min(c.Runs, few) {
		if n := c.Skip + i; c.ports(n) == ports && c.drawsDebug(n) {
			return true
		}
	}
	return c.Runs == 0 || c.Runs > few
}

// build builds the devices that the campaign needs.
func (c *campaign) build(ctx context.Context) error {
	for ports := 1; ports <= board.MaxPorts; ports++ {
		wanted := ports == c.Ports || c.Ports == 0
		if c.Program != nil {
			wanted = ports == c.Program.Board.Ports
		}
		if !wanted {
			continue
		}
		c.res.Sizes.Ports = max(c.res.Sizes.Ports, ports)
		if c.NIC != device.RTL || c.Wave != nil {
			continue // for a waveform, devices are built when they are opened
		}
		m, err := manifest.Load(c.DUT)
		if err != nil {
			return err
		}
		if c.Build != "" {
			m = device.Sized(m, &c.res.Sizes)
		}
		if err := c.buildOf(ctx, m, ports); err != nil {
			return err
		}
	}
	return nil
}

// allOnSpeed begins the explanation of a mixed campaign that plays nothing on the debug build.
const allOnSpeed = "all programs are played on build speed, so no assertions are checked: "

// buildOf builds the devices with that many ports. If the debug build fails, its programs are played on the speed
// build.
func (c *campaign) buildOf(ctx context.Context, m *manifest.Manifest, ports int) (err error) {
	eth, at := device.Eth{Ports: ports, Bits: c.EthBits}, devKey{ports, string(build.VariantSpeed)}
	if c.Variant != VariantMixed || c.RTLCoverage != "" {
		at.variant = c.variant(0)
	}
	if c.devs[at], err = c.buildDevice(ctx, m, at.variant, eth, c.Log); err != nil {
		return err
	}
	if c.Variant == VariantMixed && c.Link != nil {
		c.res.Unchecked = allOnSpeed + "a shell has none"
	}
	if !c.wantsDebug(ports) {
		return nil
	}
	debug, err := c.buildDevice(ctx, m, string(build.VariantDebug), eth, c.Log)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		why, _, _ := strings.Cut(err.Error(), "\n")
		c.res.Unchecked = allOnSpeed + "the debug build failed: " + why
		if c.Log != nil {
			_, _ = fmt.Fprintln(c.Log, "nictwin fuzz: "+c.res.Unchecked) // an error could not be reported anywhere
		}
		return nil
	}
	c.devs[devKey{ports, string(build.VariantDebug)}] = debug
	return nil
}

// boardOf returns a function that builds boards with a device of the variant.
func (c *campaign) boardOf(variant string) player.Build {
	return func(s testbed.Spec) (*testbed.Bed, error) {
		s.NIC, s.Built, s.Coverage = c.NIC, c.devs[devKey{s.Ports, variant}], c.RTLCoverage
		if c.Wave != nil {
			s.Wave, s.DUT, s.Log = c.Wave, c.DUT, c.Log
		}
		return testbed.New(s)
	}
}
