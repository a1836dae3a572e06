package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/armcache"
	"nictwin/models/cpu"
	"nictwin/models/cpu/private"
	"nictwin/models/cpu/tlb"
	"nictwin/models/dram"
	"nictwin/models/mem"
	"nictwin/models/nicspec"
	"nictwin/models/root"
	"nictwin/models/simcore"
	"nictwin/stack/driver"
	"nictwin/stack/driver/corebus"
	"nictwin/stack/driver/drivertest"
)

// onCore is a machine whose driver runs on a core, through its TLB and private cache and the last-level cache that the NIC
// writes to; DRAM is behind that.
func onCore(t *testing.T, name, llc, ram string, requester uint16, out **cpu.Core) func(e *simcore.Engine, space *mem.Space) (mem.Target, func(rc *root.Root) driver.Bus) {
	return func(e *simcore.Engine, space *mem.Space) (mem.Target, func(rc *root.Root) driver.Bus) {
		d, err := dram.Preset(ram)
		require.NoError(t, err)
		memory, err := dram.Builder{Scheduler: e, Spec: d, Memory: space}.Build("DRAM")
		require.NoError(t, err)
		l, err := armcache.Preset(llc)
		require.NoError(t, err)
		cache, err := armcache.Builder{Scheduler: e, Spec: l, Memory: memory}.Build("LLC")
		require.NoError(t, err)
		p, err := private.Preset(name)
		require.NoError(t, err)
		own, err := private.Builder{Scheduler: e, Spec: p, Memory: cache, Domain: private.NewDomain(cache)}.Build("L2")
		require.NoError(t, err)
		x, err := tlb.Preset(name, tlb.Page4K)
		require.NoError(t, err)
		x.Covers, x.Tables = 1<<30, 1<<29
		pages, err := tlb.Builder{Spec: x, Memory: own}.Build("TLB")
		require.NoError(t, err)
		s, err := cpu.Preset(name)
		require.NoError(t, err)
		core, err := cpu.Builder{Scheduler: e, Spec: s, Memory: pages, View: cache, Watcher: cache}.Build("Core")
		require.NoError(t, err)
		*out = core
		return cache, func(rc *root.Root) driver.Bus {
			b, err := corebus.New(core, rc.MMIO(requester), corebus.DefaultSpec())
			require.NoError(t, err)
			require.Same(t, core, b.Core())
			return b
		}
	}
}

// The driver keeps its promises on cores of the Arm and of a server, too, whose every access takes time.
func TestContractOnCores(t *testing.T) {
	for _, x := range []struct {
		name, llc, ram string
		requester      uint16
	}{{"bf3", "bf3", "bf3", nicspec.RequesterArm}, {"host-fn", "host-fn", "host-fn", nicspec.RequesterHost}} {
		t.Run(x.name, func(t *testing.T) {
			drivertest.RunContract(t, func(t *testing.T) *drivertest.Rig {
				var core *cpu.Core
				r := newRigOn(t, onCore(t, x.name, x.llc, x.ram, x.requester, &core))
				t.Cleanup(func() {
					require.NoError(t, core.Err())
					require.True(t, core.Idle())
					s := core.Stats()
					require.Equal(t, s.StoreBytes, s.StoresEnded)
				})
				return r
			})
		})
	}
}
