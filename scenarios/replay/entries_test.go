package replay

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/traffic"
	"nictwin/scenarios/traffic/craft"
)

// entryField is a field of receive completion entries that another dissector can compute. It excludes what the driver
// chose (queue, index, rule, port, phase) and what tshark does not compute (rss_hash, CRC-32C, accounts).
type entryField struct {
	name string
	of   func(nicspec.RxCqe) uint64
}

var entryFields = []entryField{
	{"type", func(c nicspec.RxCqe) uint64 { return uint64(c.Type()) }},
	{"status", func(c nicspec.RxCqe) uint64 { return uint64(c.Status()) }},
	{"port_seq", func(c nicspec.RxCqe) uint64 { return uint64(c.PortSeq()) }},
	{"frame_len", func(c nicspec.RxCqe) uint64 { return uint64(c.FrameLen()) }},
	{"hdr_len", func(c nicspec.RxCqe) uint64 { return uint64(c.HdrLen()) }},
	{"l3_type", func(c nicspec.RxCqe) uint64 { return uint64(c.L3Type()) }},
	{"l4_type", func(c nicspec.RxCqe) uint64 { return uint64(c.L4Type()) }},
	{"vlan_count", func(c nicspec.RxCqe) uint64 { return uint64(c.VlanCount()) }},
	{"frag", func(c nicspec.RxCqe) uint64 { return oneIf(c.Frag()) }},
	{"roce", func(c nicspec.RxCqe) uint64 { return oneIf(c.Roce()) }},
	{"ip_len_bad", func(c nicspec.RxCqe) uint64 { return oneIf(c.IpLenBad()) }},
	{"l4_len_bad", func(c nicspec.RxCqe) uint64 { return oneIf(c.L4LenBad()) }},
	{"ip_csum", func(c nicspec.RxCqe) uint64 { return uint64(c.IpCsum()) }},
	{"l4_csum", func(c nicspec.RxCqe) uint64 { return uint64(c.L4Csum()) }},
	{"icrc", func(c nicspec.RxCqe) uint64 { return uint64(c.Icrc()) }},
	{"vlan_outer", func(c nicspec.RxCqe) uint64 { return uint64(c.VlanOuter()) }},
	{"vlan_inner", func(c nicspec.RxCqe) uint64 { return uint64(c.VlanInner()) }},
	{"l3_off", func(c nicspec.RxCqe) uint64 { return uint64(c.L3Off()) }},
	{"l4_off", func(c nicspec.RxCqe) uint64 { return uint64(c.L4Off()) }},
	{"payload_off", func(c nicspec.RxCqe) uint64 { return uint64(c.PayloadOff()) }},
	{"ethertype", func(c nicspec.RxCqe) uint64 { return uint64(c.Ethertype()) }},
	{"ip_proto", func(c nicspec.RxCqe) uint64 { return uint64(c.IpProto()) }},
	{"ip_tos", func(c nicspec.RxCqe) uint64 { return uint64(c.IpTos()) }}, // the ECN bits are its bits 1:0
	{"src_port", func(c nicspec.RxCqe) uint64 { return uint64(c.SrcPort()) }},
	{"dst_port", func(c nicspec.RxCqe) uint64 { return uint64(c.DstPort()) }},
	{"bth_opcode", func(c nicspec.RxCqe) uint64 { return uint64(c.BthOpcode()) }},
	{"bth_flags", func(c nicspec.RxCqe) uint64 { return uint64(c.BthFlags()) }},
	{"pkey", func(c nicspec.RxCqe) uint64 { return uint64(c.Pkey()) }},
	{"dest_qp", func(c nicspec.RxCqe) uint64 { return uint64(c.DestQp()) }},
	{"psn", func(c nicspec.RxCqe) uint64 { return uint64(c.Psn()) }},
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestEntriesAgainstTshark compares the device's completion entry of each frame with tshark's reading of the frame,
// field by field: for the captures, and for generated frames with headers that no capture has.
func TestEntriesAgainstTshark(t *testing.T) {
	own := options("", shipped(t))
	own.Frames = unusual()
	t.Run("shipped", func(t *testing.T) {
		count := entriesAgainstTshark(t, own)
		for _, f := range entryFields {
			if f.name != "status" { // Ok is 0
				require.Positive(t, count.compared[f.name], "%s is not zero in some frame", f.name)
			}
		}
		require.Equal(t, map[exclusion]int{noIPLength: 6, noUDPRoom: 23}, count.exclusion,
			"frames of which tshark does not tell all")
	})
	if files := foreign(t); files != nil {
		t.Run("foreign", func(t *testing.T) {
			count := entriesAgainstTshark(t, options("", files))
			t.Logf("fields compared and not zero: %v; left out: %v", count.compared, count.exclusion)
		})
	}
}

// tally counts the comparisons with tshark.
type tally struct {
	compared  map[string]int // by field: number of frames in which it was compared and is not zero
	exclusion map[exclusion]int
}

// entriesAgainstTshark plays the frames through both NICs and compares their entries with tshark's reading.
func entriesAgainstTshark(t *testing.T, o Options) (count tally) {
	o.Dir, o.Speed, o.Pad = "rx", "10", true // slow enough that no frame is dropped for lack of buffer space
	o.Shape = everyKind()
	o.Shape.Spread = true // so that no rule drops frames
	for i := range o.Shape.Rx {
		const more = 256 // header buffers larger than any parsed headers, so that hdr_len is the headers' length
		o.Shape.Rx[i].Split, o.Shape.Rx[i].HdrBytes = nicspec.SplitModeHeaders, more
	}
	var dissected []*dissection
	for _, nic := range []string{"model", "rtl"} {
		o.NIC = nic
		r := start(t, o)
		if dissected == nil {
			dissected, count = dissections(t, framesOf(t, o))
		}
		seen, wrong := 0, 0
		r.rx.verdicts = func(n int, _ traffic.Frame, cqe nicspec.RxCqe) {
			seen++
			for _, f := range entryFields {
				d := dissected[n]
				if got, want := f.of(cqe), d.want[f.name]; got != want && !d.excluded[f.name] && wrong < 20 {
					wrong++
					t.Errorf("%s, frame %d: the entry has %s %#x, tshark says %#x (%s)", nic, n, f.name, got, want,
						d.protocols)
				}
			}
		}
		res, err := r.Play()
		require.NoError(t, err)
		require.True(t, res.Pass, "%v", res.Findings)
		oversize, frames := 0, framesOf(t, o)
		for _, f := range frames {
			oversize += int(oneIf(len(f) > nicspec.FrameMax))
		}
		require.Equal(t, len(frames)-oversize, seen, "%s: every frame of a length that is taken has an entry", nic)
	}
	return count
}

// dissections lets tshark read all frames of a replay, and counts the fields that can be compared with it.
func dissections(t *testing.T, frames [][]byte) (dissected []*dissection, count tally) {
	count = tally{map[string]int{}, map[exclusion]int{}}
	for i, hs := range dissect(t, frames) {
		s := expect(t, i, frames[i], hs)
		for _, f := range entryFields {
			if s.want[f.name] != 0 && !s.excluded[f.name] {
				count.compared[f.name]++
			}
		}
		for why := range maps.Keys(s.why) {
			count.exclusion[why]++
		}
		dissected = append(dissected, s)
	}
	return dissected, count
}

// unusual returns frames that the captures lack: every opcode, up to three VLAN tags, fragments, TCP with every data
// offset, and wrong lengths and checksums.
func unusual() (frames [][]byte) {
	add := func(f craft.Frame) {
		f.Src, f.Dst, f.TTL, f.Seed, f.SPort = 1, 2, 64, uint64(len(frames)), 0xc123
		if f.Proto == craft.ProtoUDP && f.DPort == 0 {
			f.DPort, f.Roce, f.PKey, f.QP, f.PSN = 4791, true, 0x8123, 0x456789, 0xabcdef
		}
		frames = append(frames, f.Build())
	}
	tags := []uint32{craft.TpidC<<16 | 0x6064, craft.TpidS<<16 | 0xb065, craft.TpidC<<16 | 0x0fff}
	tagsSC := []uint32{tags[1], tags[0], tags[2]} // tshark takes two S tags in a row for one header
	for op := range 256 {
		for _, l3 := range []int{4, 6} {
			add(craft.Frame{
				L3: l3, Proto: craft.ProtoUDP, Op: uint8(op), Flags: uint8(op * 5), AckReq: op%3 == 0, Tos: uint8(op),
				Tags:   tags[:op%3],
				UDPSum: craft.Sum(op % 3), ICRCBad: op%7 == 0, Payload: 40, Trailer: op % 5,
			})
		}
	}
	for _, l3 := range []int{4, 6} {
		for n := range 4 {
			add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, Tags: tags[:n], Payload: 30})
			add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, Tags: tagsSC[:n], Payload: 30})
			add(craft.Frame{Tags: tags[:n], Payload: 60})
		}
		for off := 1; off < 16; off++ {
			add(craft.Frame{L3: l3, Proto: craft.ProtoTCP, DPort: 80, DataOff: off, Payload: 50})
		}
		for _, wrong := range []int{-70, -9, -1, 1, 500} {
			add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, Payload: 44, UDPLen: wrong, UDPSum: craft.SumRight})
			add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, Payload: 44, IPLen: wrong, UDPSum: craft.SumRight})
			add(craft.Frame{L3: l3, Proto: craft.ProtoTCP, Payload: 44, IPLen: wrong})
		}
		for _, port := range []uint16{4790, 4792, 0xb712} {
			add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, DPort: port, Payload: 44, UDPSum: craft.SumRight})
		}
		add(craft.Frame{L3: l3, Proto: 89, Payload: 44})
		add(craft.Frame{L3: l3, Proto: craft.ProtoUDP, Version: 10 - uint8(l3), Payload: 44})
	}
	for _, frag := range []uint16{0x2000, 0x2001, 0x0001, 0x1fff, 0x4000, 0x8000} {
		add(craft.Frame{L3: 4, Proto: craft.ProtoUDP, Frag: frag, Payload: 44, UDPSum: craft.SumRight})
		add(craft.Frame{L3: 4, Proto: craft.ProtoTCP, Frag: frag, Payload: 44})
	}
	for _, ihl := range []int{1, 4, 6, 15} {
		add(craft.Frame{L3: 4, Proto: craft.ProtoUDP, IHL: ihl, Payload: 44})
	}
	add(craft.Frame{L3: 4, Proto: craft.ProtoUDP, IPBad: true, Payload: 44})
	return frames
}
