package board

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/fabric/nicswitch"
	"nictwin/models/fabric/root"
	"nictwin/models/format/tlp"
	"nictwin/models/memory/mem"
	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/simcore"
	"nictwin/models/sim/specfile"
)

// Behind a switch, each root must read the NIC's registers under its own requester ID; another ID
// is refused.
func TestRootsBehindASwitch(t *testing.T) {
	for _, name := range SwitchPresetNames {
		t.Run(name, func(t *testing.T) {
			e, pools, closed := simcore.NewEngine(), new(Pools), 0
			s, err := CardPreset(name)
			require.NoError(t, err)
			c, err := NewCard(e, pools, s, factory(&closed))
			require.NoError(t, err)
			require.NotSame(t, c.Root, c.Host)
			require.Equal(t, name == "bf2", c.ArmLink == nil)
			got := map[string]simcore.Ps{}
			read := func(who string, id uint16) {
				m := c.Root.MMIO(id)
				if id == nicspec.RequesterHost {
					m = c.Host.MMIO(id)
				}
				require.NoError(t, m.Read(nicspec.RegId, 4, func(v uint64, err error) {
					require.NoError(t, err)
					require.EqualValues(t, nicspec.ResetId, v)
					got[who] = e.Now()
				}))
			}
			read("arm", nicspec.RequesterArm)
			read("host", nicspec.RequesterHost)
			require.False(t, c.Idle())
			require.NoError(t, e.Run())
			require.True(t, c.Idle())
			require.Less(t, 2*(175+50)*simcore.Nanosecond, got["arm"], "twice the way of switch and links")
			require.Less(t, got["arm"]+2*99*simcore.Nanosecond, got["host"], "the host is farther away")
			in, out := c.Switch.Balance()
			require.Equal(t, in, out)
			require.EqualValues(t, 4, in.TLPs)

			err = c.Root.MMIO(nicspec.RequesterHost).Write32(nicspec.RegCtrl, 1)
			require.ErrorContains(t, err, "requester 0x100 is not one of Card.ArmRoot, which has [0x0]: its "+
				"completions would go elsewhere")
			require.ErrorContains(t, c.Host.MMIO(nicspec.RequesterArm).Read(nicspec.RegId, 4, nil),
				"requester 0x0 is not one of Card.HostRoot")
		})
	}
}

// Each root must reach the memory of its endpoint through the switch, and get an error for the
// other endpoint's.
func TestRootsHaveTheirOwnMemory(t *testing.T) {
	e, pools, closed := simcore.NewEngine(), new(Pools), 0
	s, err := CardPreset("bf3")
	require.NoError(t, err)
	c, err := NewCard(e, pools, s, factory(&closed))
	require.NoError(t, err)
	const armAt, hostAt = 0x1000, nicspec.EndpointHost<<nicspec.EndpointShift + 0x2000
	require.NoError(t, c.Memory.Write(armAt, []byte("of the Arm, here")))
	var answer []byte
	c.Host.OnCompletion = func(h *tlp.Header, data []byte) {
		require.Equal(t, tlp.StatusSC, h.Status)
		answer = append(answer, data...)
	}
	p := pools.TLPs.Get()
	require.NoError(t, p.SetMemRead(tlp.Origin{RequesterID: nicspec.RequesterHost}, 7, armAt, 16))
	c.Host.Send(p)
	p = pools.TLPs.Get()
	require.NoError(t, p.SetMemWrite(tlp.Origin{RequesterID: nicspec.RequesterArm}, hostAt, []byte("from Arm")))
	c.Root.Send(p)
	require.NoError(t, e.Run())
	require.NoError(t, errors.Join(c.Root.Err(), c.Host.Err(), c.Switch.Err()))
	require.Equal(t, "of the Arm, here", string(answer))
	b := make([]byte, 8)
	require.NoError(t, c.Memory.Read(hostAt, b))
	require.Equal(t, "from Arm", string(b))
	require.EqualValues(t, 16, c.Switch.Out(nicswitch.PortArm, nicswitch.PortHost)[tlp.Completion].Payload)
	require.Zero(t, pools.TLPs.Live())

	failed := error(nil)
	a := mem.Access{Op: mem.Read, Addr: hostAt, Data: b, Done: func(a *mem.Access) { failed = a.Err }}
	endpointMemory{c.Memory, nicspec.EndpointArm}.Access(&a)
	require.ErrorIs(t, failed, mem.ErrNoMemory)
	require.ErrorContains(t, failed, "this root has endpoint 0 only")
}

// A card's spec must survive a round trip through YAML.
func TestCardsAreYAML(t *testing.T) {
	for _, name := range SwitchPresetNames {
		s, err := CardPreset(name)
		require.NoError(t, err)
		text, err := specfile.Marshal(s)
		require.NoError(t, err)
		require.Contains(t, string(text), "nic_link: "+string(s.Switch.NICLink))
		var back CardSpec
		_, err = specfile.Decode("card.yaml", text, presets, &back)
		require.NoError(t, err)
		require.Equal(t, s, back)
	}
}

func TestSwitchSpecsNameEveryField(t *testing.T) {
	s, err := CardPreset("bf3")
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	s.Switch.Latency, s.Switch.Arm.ReadLatency = -1, -1
	s.Switch.Arm.PCIe.Generation, s.Switch.Host.PCIe.Ends[1].MPS = 9, 128
	s.Switch.Ports[2].Name = "GPU"
	err = s.Validate()
	for _, want := range []string{
		"switch.latency_ps -1: want 0 to 1 ms",
		`switch.ports ["NIC" "Arm" "GPU"]: want the ports ["NIC" "Arm" "Host"], in this order`,
		"switch.arm.pcie.generation 9: want 3, 4 or 5", "switch.arm.read_latency_ps -1: want",
		"switch.host.pcie.ends: MPS 128 is less than the 256 of the roots (endpoint.limits.mps)",
	} {
		require.ErrorContains(t, err, want)
	}
	s.Switch.Arm.PCIe = nil
	require.ErrorContains(t, s.Validate(), "switch.arm.pcie: want either it or switch.arm.fabric")
	s.Switch.Arm.Fabric = &simcore.LinkSpec{Credits: -1}
	require.ErrorContains(t, s.Validate(), "switch.arm.fabric.credits -1: want")
	_, err = CardPreset("bf1")
	require.ErrorContains(t, err,
		`preset "bf1": want one of ["bf2" "bf3" "connectx4" "connectx5" "connectx6" "connectx7"]`)
	require.ErrorContains(t, (&SwitchSpec{}).validate(&Endpoint{Spec: root.Spec{Limits: tlp.DefaultLimits()}}),
		"ports 0 of them: want 2 to 32")
}
