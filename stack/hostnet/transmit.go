package hostnet

import (
	"fmt"

	"nictwin/models/nic/nicspec"
	"nictwin/models/sim/fifo"
	"nictwin/stack/driver"
)

// sender is the transmit queue of a core, with a slot of memory for each of its places. The latest frame is held back
// until the next one or the end of the burst, so that the last frame of a burst requests a completion entry.
type sender struct {
	*driver.TxQueue
	core  *core
	slots uint64 // address of the first slot
	bytes int    // length of a slot
	entry driver.Send
	piece [2]driver.Span
	held  bool // entry is the latest frame, not posted yet
	then  held // of the latest frame
	ends  fifo.Queue[held]

	ending held // latest element popped from `ends`; a local variable would be allocated
	since  int  // entries posted since one requested a completion entry
}

// held is the received packet from whose buffer a frame in the ring is sent; without a packet, flow is nil.
type held struct {
	flow   *Flow
	packet Packet
}

func (c *core) openTransmit(slot int) error {
	s := &sender{core: c, bytes: (slot + nicspec.LineBytes - 1) &^ (nicspec.LineBytes - 1)}
	queue, err := c.node.TakeTxQueue()
	if err != nil {
		return err
	}
	log := c.node.cfg.Spec.LogTransmit
	if s.slots, err = c.node.drv.AllocBuffers(nicspec.EndpointHost, uint64(s.bytes)<<log, 4096); err != nil {
		return err
	}
	s.TxQueue, err = c.node.drv.OpenTx(driver.TxConfig{
		QueueConfig: driver.QueueConfig{Queue: queue, LogSize: log, RingIn: nicspec.EndpointHost,
			DoneIn: nicspec.EndpointHost, Bus: c.bus},
		OnEnd: s.ended, OnEvent: func(_ *driver.TxQueue, e driver.Event) {
			c.node.fail(fmt.Errorf("transmit queue %d failed with status %v", queue, e.Status))
		},
	})
	c.tx = s
	return err
}

// room returns the number of frames that can be sent now.
func (s *sender) room() int {
	n := s.Room()
	if s.held {
		n--
	}
	return n
}

// slot returns the memory for the next frame's bytes.
func (s *sender) slot() uint64 {
	i := s.Next()
	if s.held {
		i++
	}
	return s.slots + uint64(int(i)&(s.Size()-1))*uint64(s.bytes)
}

// send sends a frame: the bytes b, which it stores in the slot, and n bytes at the address `from` in the buffer of a
// received packet. The packet is done when the frame has left. There must be room.
func (s *sender) send(f *Flow, b []byte, from uint64, n int, packet *Packet) {
	slot := s.slot()
	if err := s.core.cpu.Store(slot, b); err != nil {
		s.core.node.fail(err)
		return
	}
	s.post(false)
	s.held, s.then = true, held{}
	key := s.core.node.Host
	s.piece[0] = driver.Span{Key: key, Off: slot - key.Bus, Len: uint32(len(b))}
	s.entry.Pieces = s.piece[:1]
	if n > 0 {
		s.piece[1] = driver.Span{Key: key, Off: from - key.Bus, Len: uint32(n)}
		s.entry.Pieces = s.piece[:2]
	}
	if packet != nil {
		s.then = held{f, *packet}
	}
	s.entry.Pad, s.entry.Offloads = true, driver.Offloads{}
	if f != nil {
		s.entry.Offloads = driver.Offloads{IPv4Checksum: f.ends.Local.IP.Is4(), UDPChecksum: true, L3: etherBytes,
			L4: uint8(f.ends.l4())}
	}
}

// post posts the frame that is held back.
func (s *sender) post(last bool) {
	if !s.held {
		return
	}
	s.held = false
	s.since++
	if s.entry.Complete = last || s.since >= s.Size()/4; s.entry.Complete {
		s.since = 0
	}
	s.ends.Push(s.then)
	if err := s.Post(&s.entry); err != nil {
		s.core.node.fail(fmt.Errorf("transmit queue %d: %w", s.Number(), err))
	}
}

// flush ends a burst: it rings the doorbell for its frames.
func (s *sender) flush() {
	if !s.held {
		return
	}
	s.post(true)
	if err := s.Ring(); err != nil {
		s.core.node.fail(err)
	}
}

// ended handles a completion entry.
func (s *sender) ended(_ *driver.TxQueue, e *driver.TxEnd) {
	if st := e.Cqe.Status(); st != nicspec.StatusOk {
		s.core.node.fail(fmt.Errorf("transmit queue %d: a frame ended with status %v", s.Number(), st))
	}
	for range e.N {
		if s.ending = s.ends.Pop(); s.ending.flow != nil {
			s.ending.flow.path.Done(&s.ending.packet)
		}
	}
	s.core.wakeWaiting()
}

func (s *sender) idle() bool { return !s.held && s.ends.Len() == 0 }
