package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/root"
	"nictwin/models/memory/mem"
	"nictwin/models/memory/memmap"
	"nictwin/models/nic/nicspec"
	"nictwin/models/server/cpu/tlb"
	"nictwin/models/server/host"
	"nictwin/models/sim/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/driver/drivertest"
)

// onCore builds a machine whose driver runs on a core with TLB and private cache. Below these are DRAM and the
// last-level cache, to which the NIC writes through the IIO buffer. Accesses to the other endpoint's memory take no
// time.
func onCore(t *testing.T, name string, endpoint int, requester uint16) func(e *simcore.Engine,
	space *mem.Space) (mem.Target, func(rc *root.Root) driver.Bus) {
	return func(e *simcore.Engine, space *mem.Space) (mem.Target, func(rc *root.Root) driver.Bus) {
		const size = 1 << 30
		spec, err := host.Preset(name, mem.Bus(endpoint, 0), tlb.Page4K)
		require.NoError(t, err)
		spec.SocketBytes, spec.TLB.Covers, spec.TLB.Tables = size/uint64(spec.Sockets), size, spec.Base
		other := memmap.Region{Name: "Other", Base: mem.Bus(1-endpoint, 0), Bytes: size, Memory: space}
		s, err := host.Builder{Scheduler: e, Spec: spec, Memory: space, Elsewhere: []memmap.Region{other}}.Build("Host")
		require.NoError(t, err)
		device, err := s.Device(0, "IIO")
		require.NoError(t, err)
		core, err := s.Core(spec.Sockets-1, 3)
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, core.Err())
			require.True(t, s.Idle())
			c, d := core.Stats(), device.Stats()
			require.Equal(t, c.StoreBytes, c.StoresEnded)
			require.Equal(t, d.AcceptedBytes, d.FinishedBytes)
		})
		return device, func(rc *root.Root) driver.Bus {
			b, err := corebus.New(core.Core, rc.MMIO(requester), corebus.DefaultSpec())
			require.NoError(t, err)
			require.Same(t, core.Core, b.Core())
			return b
		}
	}
}

// TestContractOnCores checks that the driver fulfils its contract on cores of the Arm and of a server (on the socket
// without the NIC), where every access takes time.
func TestContractOnCores(t *testing.T) {
	for _, x := range []struct {
		name      string
		endpoint  int
		requester uint16
	}{{"bf3", nicspec.EndpointArm, nicspec.RequesterArm}, {"bf2", nicspec.EndpointArm, nicspec.RequesterArm},
		{"host-fn", nicspec.EndpointHost, nicspec.RequesterHost}} {
		t.Run(x.name, func(t *testing.T) {
			drivertest.RunContract(t,
				func(t *testing.T) *drivertest.Rig { return newRigOn(t, onCore(t, x.name, x.endpoint, x.requester)) })
		})
	}
}
