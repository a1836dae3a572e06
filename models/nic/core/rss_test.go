package core

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"nictwin/models/nic/nicspec"
	"nictwin/models/nic/nictest"
)

// rssTestKey is the key of Microsoft's "Verifying the RSS Hash Calculation", the source of the
// hashes below.
var rssTestKey = [nicspec.RssKeyBytes]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b,
	0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01,
	0xfa,
}

var rssVectors = []struct {
	dst, src   string
	ip, withL4 uint32
}{
	{"161.142.100.80:1766", "66.9.149.187:2794", 0x323e8fc2, 0x51ccc178},
	{"65.69.140.83:4739", "199.92.111.2:14230", 0xd718262a, 0xc626b0ea},
	{"12.22.207.184:38024", "24.19.198.95:12898", 0xd2d0a5de, 0x5c2b394a},
	{"209.142.163.6:2217", "38.27.205.30:48228", 0x82989176, 0xafc7327f},
	{"202.188.127.2:1303", "153.39.163.191:44251", 0x5d1809c5, 0x10e828a2},
	{"[3ffe:2501:200:3::1]:1766", "[3ffe:2501:200:1fff::7]:2794", 0x2cc18cd5, 0x40207d3d},
	{"[ff02::1]:4739", "[3ffe:501:8::260:97ff:fe40:efab]:14230", 0x0f0c461c, 0xdde51bbf},
	{"[fe80::200:f8ff:fe21:67cf]:38024", "[3ffe:1900:4545:3:200:f8ff:fe21:67cf]:44251", 0x4b61e985, 0x02d1feef},
}

// rssFrame returns a frame from src to dst of at least 60 bytes.
func rssFrame(src, dst netip.AddrPort, proto uint8, frag uint16) []byte {
	f := make([]byte, 12, 100)
	if src.Addr().Is4() {
		f = append(f, 8, 0, 0x45, 0, 0, 40, 0, 0)
		f = binary.BigEndian.AppendUint16(f, frag)
		f = append(f, 9, proto, 0, 0)
	} else {
		f = append(f, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, proto, 9)
	}
	f = append(append(f, src.Addr().AsSlice()...), dst.Addr().AsSlice()...)
	f = binary.BigEndian.AppendUint16(f, src.Port())
	f = binary.BigEndian.AppendUint16(f, dst.Port())
	return append(f, 0, 16, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

func rssTestConfig() Config {
	c := Config{RxEnable: true, Rss: true, DefaultAction: nicspec.ActionRss}
	for i := range nicspec.RegRssKeyCount {
		c.RssKey = c.RssKey.With(i, binary.LittleEndian.Uint32(rssTestKey[4*i:]))
	}
	return c
}

func TestRssHashOfMicrosoftsVectors(t *testing.T) {
	c := rssTestConfig()
	for _, x := range rssVectors {
		src, dst := netip.MustParseAddrPort(x.src), netip.MustParseAddrPort(x.dst)
		for proto, want := range map[uint8]uint32{protoTCP: x.withL4, protoUDP: x.withL4, 1: x.ip} {
			var v RxVerdict
			c.Classify(0, rssFrame(src, dst, proto, 0), &v)
			require.Equal(t, want, v.Hash, "%s to %s, protocol %d", x.src, x.dst, proto)
		}
		if !src.Addr().Is4() {
			continue
		}
		for _, frag := range []uint16{fragMore, 7} { // the first fragment has ports, but they are not hashed
			var v RxVerdict
			c.Classify(0, rssFrame(src, dst, protoTCP, frag), &v)
			require.Equal(t, x.ip, v.Hash, "fragment %#x", frag)
		}
	}
}

// TestRssHashByWords: the hash is the XOR of RssWord over all registers of the key.
func TestRssHashByWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := rssTestConfig()
	for range 200 {
		input := nictest.Pattern([]int{0, 8, 12, 32, 36}[rng.IntN(5)], rng.Uint64())
		sum := uint32(0)
		for i := range nicspec.RegRssKeyCount {
			sum ^= RssWord(i, c.RssKey.Word(i), input)
		}
		require.Equal(t, c.RssKey.Hash(input), sum)
	}
}

func TestRssGroup(t *testing.T) {
	for _, x := range []struct {
		base uint16
		log  uint8
		hash uint32
		want int
	}{
		{0, 0, 0xffffffff, 0}, {5, 0, 0xffffffff, 5}, {5, 3, 0xffffffff, 12}, {250, 4, 15, 9}, {0, 8, 0x1234, 0x34},
		{0xffff, 8, 1, 0}, {0, 15, 0x1ff, 0xff},
	} {
		g := RssGroup{On: true, Base: x.base, Log: x.log}
		require.Equal(t, x.want, g.Entry(x.hash), "%+v", x)
	}
}

func TestRssSteers(t *testing.T) {
	c := rssTestConfig()
	c.DefaultQueue, c.DefaultLog = 0x10, 2 // the low two bits of hash 0x51ccc178 are 00, of 0xc626b0ea 10
	c.Indirection = c.Indirection.With(0x10, 7).With(0x12, 9)
	for i, want := range []uint16{7, 9} {
		var v RxVerdict
		x := rssVectors[i]
		c.Classify(0, rssFrame(netip.MustParseAddrPort(x.src), netip.MustParseAddrPort(x.dst), protoUDP, 0), &v)
		require.Equal(t, NoDrop, v.Drop)
		require.Equal(t, want, v.Queue)
		c.Rss = false // a build without part rss drops the frame
		c.Classify(0, rssFrame(netip.MustParseAddrPort(x.src), netip.MustParseAddrPort(x.dst), protoUDP, 0), &v)
		require.Equal(t, nicspec.CntRxDropNoRule, v.Drop)
		require.Zero(t, v.Hash)
		c.Rss = true
	}
}

func TestRssRegistersAndTables(t *testing.T) {
	spec := nicspec.DefaultBuild()
	spec.Parts = nicspec.PartRss
	r := NewRegs(spec)
	write := func(table nicspec.Table, i int, entry []byte) nicspec.TableStatus {
		for w := range nicspec.TableWords {
			v := uint32(0)
			if 4*w < len(entry) {
				v = binary.LittleEndian.Uint32(entry[4*w:])
			}
			r.Write32(nicspec.RegTblData(w), v)
		}
		return r.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(nicspec.TableOpWrite, table, i))).Status
	}
	rule := func(f nicspec.RuleEntryFields) nicspec.TableStatus {
		var b [nicspec.RuleEntrySize]byte
		f.Encode(b[:])
		return write(nicspec.TableRule, 3, b[:])
	}
	require.Equal(t, nicspec.TableStatusOk,
		rule(nicspec.RuleEntryFields{Action: nicspec.ActionRss, Queue: 255, RssLog: 8}))
	require.Equal(t, nicspec.TableStatusBadValue, rule(nicspec.RuleEntryFields{Action: nicspec.ActionRss, Queue: 256}))
	require.Equal(t, nicspec.TableStatusBadValue, rule(nicspec.RuleEntryFields{Action: nicspec.ActionRss, RssLog: 9}))
	require.Equal(t, nicspec.TableStatusBadValue, rule(nicspec.RuleEntryFields{Action: nicspec.ActionQueue, Queue: 64}))
	require.Equal(t, nicspec.TableStatusOk, rule(nicspec.RuleEntryFields{Action: nicspec.ActionQueue, RssLog: 9}))
	require.Equal(t, nicspec.TableStatusOk, write(nicspec.TableIndirection, 255, []byte{63, 0, 0, 0}))
	require.Equal(t, nicspec.TableStatusBadValue, write(nicspec.TableIndirection, 255, []byte{64, 0, 0, 0}))
	require.Equal(t, nicspec.TableStatusBadIndex, write(nicspec.TableIndirection, 256, make([]byte, 4)))
	require.Equal(t, nicspec.TableStatusNotBuilt, write(nicspec.TableAccount, 0, make([]byte, 16)))
	r.Write32(nicspec.RegTblCmd, uint32(nicspec.NewTblCmd(nicspec.TableOpRead, nicspec.TableIndirection, 255)))
	require.EqualValues(t, 63, r.Read32(nicspec.RegTblData(0)))
	r.Write32(nicspec.RegRssKey(9), 0x12345678)
	require.EqualValues(t, 0x12345678, r.Read32(nicspec.RegRssKey(9)))
	r.Write32(nicspec.RegRxDefault, 0xffffffff)
	require.EqualValues(t, 0x0fffffff, r.Read32(nicspec.RegRxDefault))

	spec.Parts = 0
	r = NewRegs(spec)
	r.Write32(nicspec.RegRssKey(9), 0x12345678)
	r.Write32(nicspec.RegRxDefault, 0xffffffff)
	require.Zero(t, r.Read32(nicspec.RegRssKey(9)))
	require.EqualValues(t, 0x00ffffff, r.Read32(nicspec.RegRxDefault))
	require.Equal(t, nicspec.TableStatusNotBuilt, write(nicspec.TableIndirection, 0, make([]byte, 4)))
	require.Equal(t, nicspec.TableStatusNotBuilt, rule(nicspec.RuleEntryFields{Action: nicspec.ActionRss}))
}
