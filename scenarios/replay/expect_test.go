package replay

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"nictwin/models/nic/nicspec"
)

// exclusion names a rule by which the contract deliberately reads frames differently from tshark, so that a field is
// not compared.
type exclusion string

const (
	noIPLength exclusion = "[H4] the transport is read whatever the IP length says; tshark stops at that length"
	noOptions  exclusion = "[H2] options are not looked at; tshark stops at invalid ones"
	noUDPRoom  exclusion = "[H6] a BTH is looked for whatever the UDP length says; tshark stops at that length"
)

// dissection holds the fields of a frame's completion entry that follow from tshark's reading of the frame.
type dissection struct {
	want      map[string]uint64 // expected value by field; fields that are missing here are zero
	excluded  map[string]bool   // fields that are not compared, since contract and tshark differ on purpose
	why       map[exclusion]bool
	protocols string

	t            testing.TB
	frame        []byte
	ip, l4, roce *header
	room         int // number of bytes after the IP header, by the IP length
}

func (s *dissection) exclude(why exclusion, fields ...string) {
	s.why[why] = true
	for _, f := range fields {
		s.excluded[f] = true
	}
}

var (
	fieldsOfBTH = []string{"roce", "icrc", "payload_off", "hdr_len", "bth_opcode", "bth_flags", "pkey", "dest_qp",
		"psn"}
	fieldsOfL4 = append([]string{"l4_type", "l4_len_bad", "l4_csum", "l4_off", "src_port", "dst_port"}, fieldsOfBTH...)
)

// expect converts tshark's reading of a frame into the fields of a completion entry. Where the contract deliberately
// reads frames differently, the code names the rule and applies it to tshark's numbers, or excludes the fields.
func expect(t testing.TB, n int, frame []byte, hs []header) *dissection {
	s := &dissection{want: map[string]uint64{}, excluded: map[string]bool{}, why: map[exclusion]bool{}, t: t,
		frame: frame}
	var names []string
	for _, h := range hs {
		names = append(names, h.name)
	}
	s.protocols = strings.Join(names, ":")
	w := s.want
	w["type"], w["port_seq"], w["frame_len"] = uint64(nicspec.CqeTypeRx), uint64(n), hs[0].num(t, "frame.len")
	end := s.link(hs[1:])
	if s.ip != nil {
		end = s.network()
	}
	if s.l4 != nil {
		end = s.transport()
	}
	if s.roce != nil {
		end = s.bth()
	}
	w["payload_off"], w["hdr_len"] = uint64(end), uint64(end)
	return s
}

// link reads the Ethernet header and its tags, and finds the headers after them that a NIC reads: an IP header, and the
// transport header directly behind it. It returns the end of the tags.
func (s *dissection) link(hs []header) (end int) {
	next := func(names ...string) *header {
		if len(hs) == 0 || !slices.Contains(names, hs[0].name) {
			return nil
		}
		h := &hs[0]
		hs = hs[1:]
		return h
	}
	eth := next("eth")
	if eth == nil {
		s.t.Fatalf("tshark finds no Ethernet header: %s", s.protocols)
	}
	end = eth.end
	s.want["ethertype"] = eth.num(s.t, "eth.type") | eth.num(s.t, "eth.len")
	for i, name := range []string{"vlan_outer", "vlan_inner"} { // the contract does not look at a third tag [H1]
		tag := next("vlan", "ieee8021ad")
		if tag == nil {
			break
		}
		num := func(f string) uint64 { return tag.num(s.t, tag.name+"."+f) }
		s.want["vlan_count"] = uint64(i + 1)
		s.want[name] = num("priority")<<13 | num("dei")<<12 | num("id")
		s.want["ethertype"] = tag.num(s.t, "vlan.etype") | tag.num(s.t, "vlan.len") | tag.num(s.t, "ieee8021ah.etype")
		end = tag.end
	}
	s.want["l3_off"] = uint64(end)
	if s.ip = next("ip", "ipv6"); s.ip != nil {
		if s.l4 = next("udp", "tcp"); s.l4 != nil {
			s.roce = next("infiniband")
		}
	}
	return end
}

// verdicts maps tshark's checksum status to the contract's verdict. Any other status gives VerdictNotChecked.
var verdicts = map[string]nicspec.Verdict{"0": nicspec.VerdictBad, "1": nicspec.VerdictOk}

// network reads an IP header and returns its end.
func (s *dissection) network() (end int) {
	w, ip, n := s.want, s.ip, len(s.frame)
	num := func(f string) int { return int(ip.num(s.t, ip.name+"."+f)) }
	size, lies := 40, num("version") != 6 // lies: the contract sees no IP header here [H2, H3]
	if ip.name == "ip" {
		size = num("hdr_len")
		lies = num("version") != 4 || size < 20
	}
	if lies || ip.at+size > n {
		s.ip, s.l4, s.roce = nil, nil, nil
		return ip.at
	}
	end = ip.at + size
	room := 0
	if ip.name == "ipv6" {
		w["l3_type"], w["ip_proto"], w["ip_tos"] = uint64(nicspec.L3TypeIpv6), ip.num(s.t, "ipv6.nxt"),
			ip.num(s.t, "ipv6.tclass")
		room = num("plen")
	} else {
		w["l3_type"], w["ip_proto"], w["ip_tos"] = uint64(nicspec.L3TypeIpv4), ip.num(s.t, "ip.proto"),
			ip.num(s.t, "ip.dsfield")
		w["frag"] = oneIf(num("flags.mf") != 0 || num("frag_offset") != 0)
		w["ip_csum"] = uint64(verdicts[ip.fields["ip.checksum.status"].show])
		room = num("len") - size
		if room < 0 {
			s.exclude(noIPLength, "ip_csum", "ip_proto")
		}
	}
	w["ip_len_bad"] = oneIf(room < 0 || end+room > n)
	s.room = room
	s.checkTransport(end)
	return end
}

// checkTransport decides which headers behind the IP header, which ends at end, count for the contract as well: tshark
// finds more of them.
func (s *dissection) checkTransport(end int) {
	need, known := map[uint64]int{6: 20, 17: 8}[s.want["ip_proto"]]
	switch {
	case s.l4 != nil && (!known || s.l4.at != end): // behind IPv6 extension headers [H3]
		s.l4, s.roce = nil, nil
	case s.l4 != nil && end+need > len(s.frame): // a truncated header does not count [H4]
		s.l4, s.roce = nil, nil
	case s.ip.num(s.t, "ip.frag_offset") != 0:
	case s.room < 0 || known && s.room < need:
		s.exclude(noIPLength, fieldsOfL4...)
	case s.l4 == nil && known && strings.HasSuffix(s.protocols, "_ws.malformed") && end > s.ip.at+20:
		s.exclude(noOptions, fieldsOfL4...)
	}
}

// transport reads a UDP or TCP header and returns its end.
func (s *dissection) transport() (end int) {
	w, l4, n := s.want, s.l4, len(s.frame)
	num := func(f string) uint64 { return l4.num(s.t, l4.name+"."+f) }
	w["l4_off"], w["src_port"], w["dst_port"] = uint64(l4.at), num("srcport"), num("dstport")
	if l4.name == "tcp" {
		w["l4_type"] = uint64(nicspec.L4TypeTcp)
		if size := int(num("hdr_len")); size >= 20 && l4.at+size <= n {
			return l4.at + size
		}
		return l4.at + 20 // end of the TCP header without its options [H7]
	}
	length := int(num("length"))
	w["l4_type"] = uint64(nicspec.L4TypeUdp)
	w["l4_len_bad"] = oneIf(length < 8 || l4.at+length > n)
	const unverified = "2"
	status := l4.fields["udp.checksum.status"].show
	w["l4_csum"] = uint64(verdicts[status])
	if length > s.room && w["l4_len_bad"] == 0 && status == unverified {
		s.exclude(noIPLength, "l4_csum")
	}
	toRoce := w["dst_port"] == 4791 && l4.at+20 <= n // whatever the source port is [H6]
	if !toRoce {
		s.roce = nil
	} else if s.roce == nil {
		s.exclude(noUDPRoom, fieldsOfBTH...)
	}
	return l4.end
}

// bth reads the BTH and returns the end of the RoCE headers.
func (s *dissection) bth() (end int) {
	w, ib := s.want, s.roce
	num := func(f string) uint64 { return ib.num(s.t, "infiniband.bth."+f) }
	w["roce"], w["bth_opcode"], w["pkey"], w["dest_qp"] = 1, num("opcode"), num("p_key"), num("destqp")
	w["bth_flags"], w["psn"] = num("se")<<7|num("m")<<6|num("padcnt")<<4|num("tver"), num("a")<<31|num("psn")
	length := int(s.l4.num(s.t, "udp.length"))
	end = s.headersEnd()
	if strings.HasSuffix(s.protocols, "_ws.malformed") && s.l4.at+length < len(s.frame) {
		s.exclude(noUDPRoom, "payload_off", "hdr_len")
	}
	if w["l4_len_bad"] == 0 && w["frag"] == 0 && length >= 24 { // [H10]
		w["icrc"] = uint64(s.icrc(s.l4.at + length - 4))
	}
	return end
}

// headersEnd returns the end of the headers after the BTH. The contract parses neither RD nor XRC, tshark not the CNP
// [H7].
func (s *dissection) headersEnd() (end int) {
	end = s.roce.at + 12
	const (
		kind, rd, xrc = 0xe0, 0x40, 0xa0
		cnp, cnpSize  = 0x81, 16
	)
	switch op := s.want["bth_opcode"]; {
	case op == cnp && end+cnpSize <= len(s.frame):
		return end + cnpSize
	case op&kind == rd || op&kind == xrc:
		return end
	}
	for name, f := range s.roce.fields {
		if strings.HasSuffix(name, "eth") || strings.HasSuffix(name, "immdt") {
			end = max(end, f.at+f.size)
		}
	}
	return end
}

// icrc checks the ICRC at an offset, with the headers where tshark found them; tshark itself checks no ICRCs.
func (s *dissection) icrc(at int) nicspec.Verdict {
	b := append([]byte(strings.Repeat("\xff", 8)), s.frame[s.ip.at:at]...)
	for _, f := range []shown{
		s.ip.fields["ip.dsfield"], s.ip.fields["ip.ttl"], s.ip.fields["ip.checksum"], s.ip.fields["ipv6.hlim"],
		s.l4.fields["udp.checksum"], s.roce.fields["infiniband.reserved"],
	} {
		for i := range f.size {
			b[8+f.at-s.ip.at+i] = 0xff
		}
	}
	if s.ip.name == "ipv6" { // traffic class and flow label do not fill whole bytes
		b[8] |= 0x0f
		copy(b[9:], "\xff\xff\xff")
	}
	if crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(s.frame[at:]) {
		return nicspec.VerdictOk
	}
	return nicspec.VerdictBad
}
