package contract

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/nic/nicspec"
	"nictwin/rtlbridge/build"

	"nictwin/rtlbridge/manifest"
	"nictwin/scenarios/bed/device"
	"nictwin/scenarios/bed/testbed"
	"nictwin/scenarios/shell/home/hometest"
	"nictwin/scenarios/suite/contract/kit"
)

// nicManifest returns the path of the NIC's manifest: in this tree, or in the folder that $NICTWIN_HOME names.
func nicManifest() (string, error) {
	h, err := hometest.Find()
	return h.Path("nic"), err
}

// rtlCoverage, if set, is the folder to which checks on RTL add their coverage; see make coverage.
var rtlCoverage = os.Getenv("NICTWIN_RTL_COVERAGE")

// eachBuild runs f for four builds of the NIC: with one port, with two ports, with two ports of 256 bits, and without
// any optional part.
func eachBuild(t *testing.T, f func(t *testing.T, name string, sizes nicspec.Build)) {
	for ports := 1; ports <= board.MaxPorts; ports++ {
		sizes := nicspec.DefaultBuild()
		sizes.Ports = ports
		f(t, fmt.Sprintf("ports %d", ports), sizes)
	}
	narrow := nicspec.DefaultBuild()
	narrow.Ports, narrow.EthBits = 2, 256
	f(t, "ports 2 of 256 bits", narrow)
	bare := nicspec.DefaultBuild()
	bare.Parts = 0
	f(t, "no parts", bare)
}

// sizeAreas lists the name prefixes of checks whose behaviour depends on the numbers of queues, keys and rules.
var sizeAreas = []string{"registers/", "tables/", "drops/", "steer/", "rings/", "rss/", "transmit/", "transmit rings/",
	"push/", "chaos/", "queues/"}

// sized returns the checks of a suite that are in an area listed in sizeAreas.
func sized(all []kit.Check) []kit.Check {
	return slices.DeleteFunc(all, func(c kit.Check) bool { return !within(c.Name, sizeAreas) })
}

func TestLargestModel(t *testing.T) {
	sizes := largest()
	runChecks(t, "largest", sizes, onModel(&sizes), sized(suite(sizes)))
}

func TestLargestRTL(t *testing.T) {
	sizes := largest()
	runChecks(t, "largest", sizes, onRTL(t, sizes), sized(suite(sizes)))
}

// partly returns the sizes of a NIC with the given optional parts.
func partly(parts nicspec.Cap1Reg) nicspec.Build {
	s := nicspec.DefaultBuild()
	s.Parts = parts
	return s
}

// TestModelWithoutAPart builds the Go NIC without each optional part in turn, and runs the checks of the other parts.
func TestModelWithoutAPart(t *testing.T) {
	for k := range bits.Len32(uint32(nicspec.PartsAll)) {
		part := nicspec.Cap1Reg(1) << k
		sizes := partly(nicspec.PartsAll &^ part)
		runChecks(t, fmt.Sprintf("without %#x", uint32(part)), sizes, onModel(&sizes),
			sample(sized(suite(sizes)), 4, k%4))
	}
}

// TestRTLWithHalfTheParts builds the RTL twice, each time with every other optional part, so that each part is once
// built without its neighbours and once left out.
func TestRTLWithHalfTheParts(t *testing.T) {
	const even = nicspec.PartsAll / 3
	for k, parts := range []nicspec.Cap1Reg{even, even << 1} {
		sizes := partly(parts)
		runChecks(t, fmt.Sprintf("parts %#x", uint32(parts)), sizes, onRTL(t, sizes), sample(sized(suite(sizes)), 2, k))
	}
}

// keysMax is the most memory keys that a build may have [B2].
const keysMax = 4096

// largest returns the sizes of a NIC with the maximum of everything [B2].
func largest() nicspec.Build {
	s := nicspec.DefaultBuild()
	s.NumRxq, s.NumTxq, s.NumKeys, s.NumRules = nicspec.RxqMax, nicspec.TxqMax, keysMax, nicspec.RulesMax
	return s
}

// buildRTL builds the RTL with these sizes.
func buildRTL(ctx context.Context, sizes nicspec.Build) (*build.Device, error) {
	path, err := nicManifest()
	if err != nil {
		return nil, err
	}
	m, err := manifest.Load(path)
	if err != nil {
		return nil, err
	}
	variant := build.VariantSpeed
	if rtlCoverage != "" {
		variant = build.VariantCoverage
	}
	return device.BuildOf(ctx, device.Sized(m, &sizes), string(variant),
		device.Eth{Ports: sizes.Ports, Bits: sizes.EthBits}, nil)
}

// onModel returns a function that puts the Go NIC on boards.
func onModel(sizes *nicspec.Build) kit.Build {
	return func(s testbed.Spec) (*testbed.Bed, error) {
		s.NIC, s.Build = device.Model, sizes
		return testbed.New(s)
	}
}

// onRTL returns a function that puts the RTL on boards. It builds the RTL with the first board.
func onRTL(t *testing.T, sizes nicspec.Build) kit.Build {
	built := sync.OnceValues(func() (*build.Device, error) { return buildRTL(t.Context(), sizes) })
	return func(s testbed.Spec) (*testbed.Bed, error) {
		dev, err := built()
		if err != nil {
			return nil, err
		}
		s.NIC, s.Built, s.Coverage = device.RTL, dev, rtlCoverage
		return testbed.New(s)
	}
}

func TestModel(t *testing.T) {
	eachBuild(t, func(t *testing.T, name string, sizes nicspec.Build) {
		runChecks(t, name, sizes, onModel(&sizes), sampleOf(name, sizes))
	})
}

func TestRTL(t *testing.T) {
	eachBuild(t, func(t *testing.T, name string, sizes nicspec.Build) {
		runChecks(t, name, sizes, onRTL(t, sizes), sampleOf(name, sizes))
	})
}

// TestRTLOverTCP runs checks on the RTL in processes that were started separately and are reached by their addresses.
func TestRTLOverTCP(t *testing.T) {
	sizes := nicspec.DefaultBuild()
	dev, err := buildRTL(t.Context(), sizes)
	require.NoError(t, err)
	token := hex.EncodeToString(make([]byte, 31)) + "07"
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	runChecks(t, "ports 1", sizes, func(s testbed.Spec) (*testbed.Bed, error) {
		address, err := listening(t, dev.Binary, file)
		if err != nil {
			return nil, err
		}
		s.NIC, s.Connect, s.Token = device.RTL, address, token
		return testbed.New(s)
	}, sample(suite(sizes), 8, 3))
}

// listening starts a device process, which ends after one session or with the test, and returns its address.
func listening(t *testing.T, program, token string) (address string, err error) {
	cmd := exec.CommandContext(t.Context(), program, "--listen", "tcp:127.0.0.1:0", "--token-file", token)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if _, err = fmt.Fscanf(out, "listening %s\n", &address); err != nil {
		err = fmt.Errorf("%s prints no address: %w", program, err)
	}
	go func() { _ = cmd.Wait() }() // an error of the process shows in its session
	return address, err
}
