package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Numbers of the pcap format (draft-ietf-opsawg-pcap).
const (
	magicMicro = 0xa1b2c3d4
	magicNano  = 0xa1b23c4d

	pcapHeader = 24
	pcapRecord = 16
	linkBits   = 0xffff // bits of the field that hold the link type; the others describe a frame check sequence
)

// maxPacket is larger than any valid packet, in bytes: a file with a longer one is damaged.
const maxPacket = 1 << 20

// pcapFormat reads pcap. Packets may be longer than the snap length of the file header, as some programs write them.
type pcapFormat struct {
	order binary.ByteOrder
	link  int
	tick  int64 // nanoseconds per unit of time
}

func (p *pcapFormat) header(r *Reader) error {
	b, err := r.more(0, pcapHeader)
	var cut *cutError
	if errors.As(err, &cut) {
		return r.fail(0, 0, fmt.Errorf("%d bytes: the file header takes %d", pcapHeader-cut.missing, pcapHeader))
	}
	if err != nil {
		return r.fail(0, 0, err)
	}
	p.order, p.tick = binary.ByteOrder(binary.LittleEndian), 1000
	if m := binary.BigEndian.Uint32(b); m == magicMicro || m == magicNano {
		p.order = binary.BigEndian
	}
	if p.order.Uint32(b) == magicNano {
		p.tick = 1
	}
	if major, minor := p.order.Uint16(b[4:]), p.order.Uint16(b[6:]); major != 2 {
		return r.fail(4, 0, fmt.Errorf("pcap of version %d.%d: want 2.4", major, minor))
	}
	p.link = int(p.order.Uint32(b[20:]) & linkBits)
	return nil
}

func (p *pcapFormat) next(r *Reader) (captured, error) {
	b, err := r.more(0, pcapRecord)
	if err != nil {
		return captured{}, err
	}
	length := p.order.Uint32(b[8:])
	if length > maxPacket {
		return captured{},
			r.fail(r.begin, r.n+1, fmt.Errorf("the record says %d bytes: a packet has at most %d", length, maxPacket))
	}
	c := captured{
		link: p.link, wire: int(p.order.Uint32(b[12:])),
		time: time.Unix(int64(p.order.Uint32(b)), int64(p.order.Uint32(b[4:]))*p.tick).UTC(),
	}
	if b, err = r.more(pcapRecord, int(length)); err != nil {
		return captured{}, err
	}
	c.data = b[pcapRecord:]
	return c, nil
}

func (*pcapFormat) skipped() int { return 0 }
