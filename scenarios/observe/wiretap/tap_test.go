package wiretap_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"nictwin/models/board"
	"nictwin/models/format/msg"
	"nictwin/models/format/wire"
	"nictwin/models/sim/simcore"
	"nictwin/scenarios/observe/wiretap"
	"nictwin/scenarios/shell/files"
)

// dumb is a NIC that consists only of ports; it accepts every frame.
type dumb struct {
	board.NIC
	*sim.ComponentBase
	pcie   *simcore.Port
	eth    [2]*simcore.Port
	frames *msg.Frames
	ahead  bool // sends with departure times ahead of the engine's, as an RTL device does
	got    int
}

func (d *dumb) Name() string                             { return d.ComponentBase.Name() }
func (d *dumb) PCIe() *simcore.Port                      { return d.pcie }
func (d *dumb) Eth(port int) *simcore.Port               { return d.eth[port] }
func (d *dumb) Period() simcore.Ps                       { return simcore.DefaultPeriodPs }
func (d *dumb) EthBits() int                             { return 0 }
func (d *dumb) Close() error                             { return nil }
func (d *dumb) LookAhead() bool                          { return d.ahead }
func (d *dumb) CreditReturned(*simcore.Port, simcore.Ps) {}
func (d *dumb) Handle(sim.Event) error                   { return nil }
func (d *dumb) NotifyPortFree(sim.VTimeInSec, sim.Port)  {}
func (d *dumb) NotifyRecv(now sim.VTimeInSec, p sim.Port) {
	if p == d.pcie {
		return
	}
	for m := p.Retrieve(now); m != nil; m = p.Retrieve(now) {
		d.frames.Put(m.(*msg.Frame))
		d.got++
	}
}

// lab is a rack with two dumb NICs, whose cables are recorded.
type lab struct {
	*simcore.Engine
	t     *testing.T
	pools board.Pools
	nics  []*dumb
	dir   *files.Folder
	tap   *wiretap.Tap
}

func newLab(t *testing.T, network string, limit int64, ahead ...bool) *lab {
	t.Helper()
	l := &lab{Engine: simcore.NewEngine(), t: t}
	s, err := board.ParseRack("lab.yaml", []byte("name: Lab\nservers: [{preset: bf3, name: A}, {preset: bf3, name: "+
		"B}]\nnetwork: {"+network+"}"))
	require.NoError(t, err)
	rack, err := board.NewRack(l.Engine, &l.pools, s, func(slot board.Slot) (board.NIC, error) {
		d := &dumb{ComponentBase: sim.NewComponentBase(slot.Name), frames: slot.Frames,
			ahead: len(ahead) > len(l.nics) && ahead[len(l.nics)]}
		d.pcie = simcore.NewPort(d, 64, slot.Name+".PCIe")
		for i := range d.eth {
			d.eth[i] = simcore.NewPort(d, 1024, fmt.Sprintf("%s.Eth[%d]", slot.Name, i))
		}
		l.nics = append(l.nics, d)
		return d, nil
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rack.Close()) })
	l.dir, err = files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	l.tap, err = wiretap.Attach(l, rack, l.dir, limit)
	require.NoError(t, err)
	return l
}

// send sends a frame from a NIC's port with a departure time that lies `late` before now.
func (l *lab) send(nic, port int, frame []byte, late simcore.Ps) {
	require.Nil(l.t, l.nics[nic].eth[port].SendAt(l.pools.Frames.Copy(frame), l.Now()-late))
}

// tshark closes the recording and returns fields of its packets, as tshark decodes them.
func (l *lab) tshark(fields ...string) [][]string {
	l.t.Helper()
	require.NoError(l.t, l.Run())
	require.NoError(l.t, l.tap.Close())
	require.NoError(l.t, l.tap.Close())
	path, err := exec.LookPath("tshark")
	require.NoError(l.t, err, "tshark is missing: apt-get install tshark")
	args := []string{"-n", "-r", l.dir.Path(wiretap.File), "--disable-protocol", "rpcordma", "-o",
		"ip.check_checksum:TRUE", "-T", "fields"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	cmd := exec.Command(path, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(l.t, err, "%s", stderr.String())
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// packet returns a RoCE frame with an opcode.
func packet(op wire.Opcode, psn uint32) []byte {
	const payload = 32
	f := make([]byte, 14+20+8+wire.BTHSize+wire.ExtLen(op)+wire.ICRCSize, 256)
	if op.Info().HasPayload {
		f = f[:len(f)+payload]
	}
	copy(f, "\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x08\x00")
	ip := f[14:]
	ip[0], ip[1], ip[8], ip[9] = 0x45, 2, 64, 17
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	udp := ip[20:]
	binary.BigEndian.PutUint16(udp, 0xc000)
	binary.BigEndian.PutUint16(udp[2:], wire.Port)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	bth := wire.BTHFields{Opcode: op, PKey: 0xffff, DestQP: 17, PSN: psn}
	if err := errors.Join(bth.Encode(udp[8:]), wire.SealFrame(f, false)); err != nil {
		panic(err)
	}
	return f
}

// TestEveryWireIsRecorded sends a packet of every opcode on either port and from either end: each must appear once, on
// the right interface, decoded as RoCE, at its time of arrival, in order.
func TestEveryWireIsRecorded(t *testing.T) {
	for _, network := range []string{"kind: back_to_back", "kind: back_to_back, loss: {}",
		"kind: back_to_back, faults: {}"} {
		l := newLab(t, network, 0)
		var want [][]string
		for o := range 256 {
			op := wire.Opcode(o)
			if !op.Info().Known {
				continue
			}
			for end := range 2 {
				l.send(end, o%2, packet(op, uint32(o)), 0)
				require.NoError(t, l.RunUntil(l.Now()+simcore.Microsecond))
				want = append(want, []string{fmt.Sprintf("Lab.Cable%d to %c.Card.NIC.Eth[%d]", o%2, 'B'-end, o%2),
					fmt.Sprint(o), fmt.Sprint(o), "1", "", ""})
			}
		}
		got := l.tshark("frame.interface_name", "infiniband.bth.opcode", "infiniband.bth.psn", "ip.checksum.status",
			"_ws.malformed", "frame.comment")
		require.Equal(t, want, got)
		require.Equal(t, len(want), l.nics[0].got+l.nics[1].got)
	}
}

// TestStamps checks that a timestamp is the time of arrival, to the nanosecond.
func TestStamps(t *testing.T) {
	l := newLab(t, "kind: back_to_back", 0)
	for i := range uint32(3) {
		l.send(0, 0, packet(wire.RCSendOnly, i), 0)
	}
	var want [][]string
	frame := simcore.Ps(len(packet(wire.RCSendOnly, 0))+24) * simcore.Gbps(200).Ps / simcore.Ps(simcore.Gbps(200).Bytes)
	for i := range simcore.Ps(3) {
		want = append(want, []string{fmt.Sprintf("0.%09d", ((i+1)*frame+300*simcore.Nanosecond)/simcore.Nanosecond)})
	}
	require.Equal(t, want, l.tshark("frame.time_epoch"))
}

// TestPacketsAreInOrder checks that timestamps are in order although devices run ahead of the engine by different
// times, and so send out of order.
func TestPacketsAreInOrder(t *testing.T) {
	l := newLab(t, "kind: back_to_back", 0, true, false)
	for i := range uint32(100) {
		require.NoError(t, l.RunUntil(simcore.Ps(i+10)*100*simcore.Nanosecond))
		l.send(1, 0, packet(wire.RCAck, i), 0)
		l.send(0, 0, packet(wire.RCSendOnly, i), simcore.Ps(i%7)*40*simcore.Nanosecond)
		l.send(0, 1, packet(wire.RCWriteMiddle, i), simcore.Ps(i%5)*40*simcore.Nanosecond)
	}
	rows := l.tshark("frame.time_epoch")
	require.Len(t, rows, 300)
	for i := 1; i < len(rows); i++ {
		require.LessOrEqual(t, rows[i-1][0], rows[i][0])
	}
}

// TestFaultsAreComments checks that a comment on each frame names the faults that struck it, and that its bytes are
// those that were sent.
func TestFaultsAreComments(t *testing.T) {
	l := newLab(t, "kind: back_to_back, faults: {rules: [{do: loss, psn: 1}, {do: corruption, psn: 2, part: headers, "+
		"bit: 100}, {do: duplication, psn: 2}, "+
		"{do: disorder, psn: 3, hold: {frames: 9, time_ps: 5000}}, {do: ecn, psn: 4}, {do: loss, class: other, "+
		"ordinal: 0}]}", 0)
	l.send(0, 0, make([]byte, 60), 0)
	for i := range uint32(5) {
		l.send(0, 0, packet(wire.RCWriteMiddle, 7+i), 0)
	}
	require.Equal(t, [][]string{
		{"lost: frame 0 of those without RoCE", ""},
		{"", "7"},
		{"lost: PSN 1 of its flow, attempt 0", "8"},
		{"bit 4 of byte 12 flipped: PSN 2 of its flow, attempt 0,sent on twice: PSN 2 of its flow, attempt 0", "9"},
		{"held back for 9 frames or 5000 ps: PSN 3 of its flow, attempt 0", "10"},
		{"marked CE, if ECN-capable: PSN 4 of its flow, attempt 0", "11"},
	}, l.tshark("frame.comment", "infiniband.bth.psn"))
	require.Equal(t, 5, l.nics[1].got)
}

// TestFileIsTheSameAndKeepsToItsLimit checks that recording does not change a run, and that equal runs give equal
// files, within the limit.
func TestFileIsTheSameAndKeepsToItsLimit(t *testing.T) {
	play := func(limit int64) ([]byte, *lab) {
		l := newLab(t, "kind: back_to_back, faults: {seed: 3, chances: {loss: 0.1, disorder: 0.1}}", limit)
		for i := range uint32(100) {
			l.send(0, 0, packet(wire.RCWriteMiddle, i), 0)
			require.NoError(t, l.RunUntil(l.Now()+10*simcore.Nanosecond))
		}
		require.NoError(t, l.Run())
		require.NoError(t, l.tap.Close())
		l.send(0, 0, packet(wire.RCWriteMiddle, 100), 0) // after the file's end
		require.NoError(t, l.Run())
		text, err := os.ReadFile(l.dir.Path(wiretap.File))
		require.NoError(t, err)
		return text, l
	}
	all, l := play(0)
	again, _ := play(0)
	require.Equal(t, all, again)
	require.EqualValues(t, 100, l.tap.Cut().Written)
	cut, l := play(4096)
	require.LessOrEqual(t, len(cut), 4096)
	require.EqualValues(t, 100, l.tap.Cut().Written+l.tap.Cut().LeftOut)
	require.NotZero(t, l.tap.Cut().LeftOut)
}

func TestRackWithoutCables(t *testing.T) {
	dir, err := files.OpenFolder(t.TempDir())
	require.NoError(t, err)
	_, err = wiretap.Attach(simcore.NewEngine(), &board.Rack{Name: "Lab"}, dir, 0)
	require.ErrorContains(t, err, "rack Lab has no cables: want a network of kind back_to_back or switch")
}
