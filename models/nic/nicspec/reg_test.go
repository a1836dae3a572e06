package nicspec_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nicspec/schema"
	_ "nictwin/models/sim/fixedseed"
)

// regTypes maps the registers that have fields to their value types.
var regTypes = map[string]reflect.Type{
	"CAP0":       reflect.TypeFor[nicspec.Cap0Reg](),
	"CAP1":       reflect.TypeFor[nicspec.Cap1Reg](),
	"CTRL":       reflect.TypeFor[nicspec.CtrlReg](),
	"STATUS":     reflect.TypeFor[nicspec.StatusReg](),
	"DEVCTL":     reflect.TypeFor[nicspec.DevctlReg](),
	"RX_CTRL":    reflect.TypeFor[nicspec.RxCtrlReg](),
	"RX_DEFAULT": reflect.TypeFor[nicspec.RxDefaultReg](),
	"TBL_CMD":    reflect.TypeFor[nicspec.TblCmdReg](),
}

// TestRegisterFields: setting a field of a register changes only that field, and getting it returns
// the value set.
func TestRegisterFields(t *testing.T) {
	c := contract(t)
	for i := range c.Registers {
		r := &c.Registers[i]
		if len(r.Fields) == 0 {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			typ, ok := regTypes[r.Name]
			require.True(t, ok, "add %s to regTypes", r.Name)
			rapid.Check(t, func(t *rapid.T) { checkRegField(t, r, typ) })
		})
	}
}

func checkRegField(t *rapid.T, r *schema.Register, typ reflect.Type) {
	before := rapid.Uint32().Draw(t, "before")
	v := rapid.Uint64().Draw(t, "value")
	f := &r.Fields[rapid.IntRange(0, len(r.Fields)-1).Draw(t, "field")]
	mask := uint32((uint64(1)<<f.Width - 1) << f.Bit)
	reg := reflect.New(typ)
	reg.Elem().SetUint(uint64(before))
	if got := toUint(reg.MethodByName(schema.Camel(f.Name)).Call(nil)[0]); got != uint64(before&mask>>f.Bit) {
		t.Fatalf("%s of 0x%08x reads 0x%x", f.Name, before, got)
	}
	set := reg.MethodByName("Set" + schema.Camel(f.Name))
	set.Call([]reflect.Value{fromUint(v, set.Type().In(0))})
	if got, want := uint32(reg.Elem().Uint()), before&^mask|uint32(v<<f.Bit)&mask; got != want {
		t.Fatalf("Set%s(0x%x) on 0x%08x gives 0x%08x, want 0x%08x", f.Name, v, before, got, want)
	}
}

// TestRegisterAt: RegisterAt finds the register of every byte, and none between registers.
func TestRegisterAt(t *testing.T) {
	type place struct {
		name  string
		i, at int
	}
	want := map[uint32]place{}
	c := contract(t)
	for i := range c.Registers {
		r := &c.Registers[i]
		for e := range max(r.Count, 1) {
			for at := range r.Width / 8 {
				want[uint32(r.Offset)+uint32(e*r.Stride+at)] = place{r.Name, e, at}
			}
		}
	}
	for off := range uint32(nicspec.BarBytes) {
		r, i, at := nicspec.RegisterAt(off)
		w, used := want[off]
		if used != (r != nil) || used && (place{r.Name, i, at}) != w {
			t.Fatalf("offset 0x%x: %v entry %d byte %d, want %+v", off, r, i, at, w)
		}
	}
}

func TestArrayRegisters(t *testing.T) {
	require.Equal(t, uint32(0x1000+8*137), nicspec.RegCounter(nicspec.CntRxCqe.Index()))
	require.Equal(t, uint32(0x9000+4*255), nicspec.RegTxDoorbell(255))
	require.PanicsWithValue(t, "nicspec: register TX_DOORBELL[256], but entries are 0..255",
		func() { nicspec.RegTxDoorbell(256) })
	require.Panics(t, func() { nicspec.RegTblData(-1) })
	require.Equal(t, uint32(0x21), uint32(nicspec.ResetDevctl))
}

func TestCounters(t *testing.T) {
	require.Equal(t, 35, nicspec.CntRxDropDisabled.Index(1))
	require.Equal(t, "RX_DROP_DISABLED[1]", nicspec.CounterName(35))
	require.Equal(t, "TX_WQE", nicspec.CounterName(128))
	require.Equal(t, "COUNTER[31]", nicspec.CounterName(31))
	require.Equal(t, "COUNTER[-1]", nicspec.CounterName(-1))
	require.Panics(t, func() { nicspec.CntRxFrames.Index(4) })
	require.Equal(t, "TX_ERR", nicspec.CntTxErr.String())
	require.Equal(t, "RX_DROP_RUNT", nicspec.CntRxDropRunt.String())
	c, port := nicspec.CounterAt(32*3 + 17)
	require.Equal(t, []any{"TX_FRAMES", 3}, []any{c.Name, port})
	for _, k := range nicspec.Counters {
		if k.PerPort {
			require.Equal(t, k.Drop, nicspec.PortCounter(k.Index).IsDrop(), k.Name)
		}
	}
}

// TestEnums checks String, Known and Part for codes with and without a name.
func TestEnums(t *testing.T) {
	require.Equal(t, "CopyInvalidate", nicspec.OpcodeCopyInvalidate.String())
	require.Equal(t, "Opcode(200)", nicspec.Opcode(200).String())
	require.True(t, nicspec.OpcodeCopy.Known() && nicspec.OpcodeCopy.Part() == nicspec.PartCopy)
	require.True(t, nicspec.OpcodeSend.Known() && nicspec.OpcodeSend.Part() == 0)
	require.False(t, nicspec.Opcode(5).Known())
	require.Equal(t, "wo", nicspec.WriteOnly.String())
}

func TestTableCommand(t *testing.T) {
	c := nicspec.NewTblCmd(nicspec.TableOpRead, nicspec.TableRule, 300)
	require.Equal(t, []uint32{uint32(nicspec.TableOpRead), uint32(nicspec.TableRule), 300},
		[]uint32{c.Op(), c.Table(), c.Index()})
	require.False(t, c.Busy())
}

// TestCountersOf: a NIC has each port counter once per port, and each device counter once.
func TestCountersOf(t *testing.T) {
	for ports := range nicspec.CounterPortsMax + 1 {
		got := map[int]bool{}
		for i := range nicspec.CountersOf(ports) {
			require.False(t, got[i], "index %d twice", i)
			got[i] = true
		}
		for i := range nicspec.RegCounterCount {
			c, port := nicspec.CounterAt(i)
			require.Equal(t, c != nil && port < ports, got[i], "%d ports: %s", ports, nicspec.CounterName(i))
		}
	}
	for range nicspec.CountersOf(2) {
		break
	}
}
