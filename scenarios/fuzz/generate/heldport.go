package generate

import (
	"math"

	"nictwin/models/nic/nicspec"
	"nictwin/scenarios/fuzz/program"
)

// holdPort stops a port by pause frames while entries fill every buffer in front of it, and keeps the other queues
// working [T13].
func (g *generator) holdPort() {
	port := g.intN(g.Sizes.Ports)
	g.unblock()
	queues := g.pickTxQueues(4 + g.intN(5))
	for round := range 1 + g.intN(3) {
		if round > 0 && g.maybe(50) {
			queues = g.pickTxQueues(4 + g.intN(5))
		}
		g.holdOnce(port, queues)
		port = g.intN(g.Sizes.Ports)
	}
}

// holdOnce stops the port once. The first half of the queues get entries that fill the port's buffers, the others work
// that must end during the stop.
func (g *generator) holdOnce(port int, queues []int) {
	fillers, others := queues[:len(queues)/2], queues[len(queues)/2:]
	load, inOrder := g.fillPort(port)
	if inOrder { // the entries fill the buffers only in this order, so a single queue sends them
		fillers, others = queues[:1], queues[1:]
	}
	for i, q := range fillers {
		g.openTxQueue(q, (len(load)+len(fillers)-1-i)/len(fillers))
	}
	for _, q := range others {
		g.openTxQueue(q, 16<<g.intN(3))
		if g.maybe(50) { // half of the other queues send frames on any port before the stop
			g.add(program.Op{Send: &program.Send{Queue: q,
				Entries: []program.Entry{g.sendOf(g.intN(g.Sizes.Ports), 60+g.intN(100))}}})
		}
	}
	g.add(program.Op{Quiet: &program.Quiet{}})
	g.add(program.Op{Play: &program.Play{Port: port, Frames: []program.Frame{g.pauseFor(math.MaxUint16)}}, Wait: 200})
	for i, q := range fillers {
		s := &program.Send{Queue: q}
		for k := i; k < len(load); k += len(fillers) {
			s.Entries = append(s.Entries, load[k])
		}
		g.add(program.Op{Send: s, Wait: g.intN(100)})
	}
	// usually long enough for the entries to fill all buffers
	g.prog.Ops[len(g.prog.Ops)-1].Wait = pick(g, g.intN(500), 1500+g.intN(1500), 1500+g.intN(1500))
	g.keepWorking(port, others)
	g.add(program.Op{Play: g.release(port), Wait: g.intN(2500)})
}

func (g *generator) pauseFor(quanta uint16) program.Frame {
	f := g.pauseFrame()
	f.Words = []uint16{nicspec.PauseOpcode, quanta}
	return f
}

// fillPort returns entries that fill all buffers in front of a port: by number, by length, or both. inOrder is set if
// they fill the buffers only when they are sent in this order.
func (g *generator) fillPort(port int) (all []program.Entry, inOrder bool) {
	add := func(lengths ...int) {
		for _, n := range lengths {
			all = append(all, g.sendOf(port, n))
		}
	}
	const entries = outFrames + gatherSlots + laneEntries
	switch g.intN(5) {
	case 0, 1: // frames of one line each
		for range entries + g.intN(64) {
			add(1 + g.intN(lineBytes))
		}
	case 2, 3:
		add(g.fillExactly()...)
		return all, true
	default:
		for range 50 + g.intN(100) {
			n := pick(g, 60+g.intN(100), 60+g.intN(1500), 60+g.intN(nicspec.FrameMax-59))
			if g.maybe(20) {
				all = append(all, g.onPort(port))
				continue
			}
			add(n)
		}
	}
	return all, false
}

// fillExactly returns lengths of frames that fill the transmit buffer to its last beat, and the gather buffer before it
// to its last line. The transmit buffer accepts a frame when a maximum-length one would fit: after the first frames
// exactly that much is free or, most often, one beat less, so that the longest frame must wait.
func (g *generator) fillExactly() (all []int) {
	beyond := pick(g, -1, 0, 0, 1, 1, 1, 1, 2) // beats above (or below) the space that the longest frame needs
	for _, beats := range g.split(outBeats-longestBeats+outPassing+beyond, longestBeats) {
		all = append(all, beats*beatBytes-g.intN(beatBytes))
	}
	all = append(all, nicspec.FrameMax-g.intN(beatBytes))
	lines := gatherLines + g.intN(3) - 1
	if beyond > 0 { // the longest frame has to wait, so it takes lines of the gather buffer
		lines -= nicspec.FrameMax / lineBytes
	}
	for _, n := range g.split(lines, nicspec.FrameMax/lineBytes) {
		all = append(all, n*lineBytes-g.intN(lineBytes))
	}
	for range 2*laneEntries + g.intN(16) {
		all = append(all, 60+g.intN(600))
	}
	return all
}

// onPort draws any entry; if it is a Send, it sends on the given port.
func (g *generator) onPort(port int) program.Entry {
	e := g.entry()
	if e.Opcode == nicspec.OpcodeSend && int(e.Port) < g.Sizes.Ports {
		e.Port = uint8(port)
	}
	e.Push = false
	return e
}

// keepWorking posts entries on other queues while a port is stopped and its buffers are full. In a NIC of two ports,
// entries that do not name the port must end.
func (g *generator) keepWorking(port int, queues []int) {
	var await []int
	for i, q := range queues {
		s := &program.Send{Queue: q}
		switch kind := pick(g, 0, 0, 1, 2, 2, 3); {
		case kind == 0: // entries that send nothing
			for range 1 + g.intN(24) {
				s.Entries = append(s.Entries, g.silentEntry(port))
			}
			await = append(await, q)
		case kind == 1 && g.Sizes.Ports > 1: // entries for the other port
			for range 1 + g.intN(24) {
				s.Entries = append(s.Entries, g.onPort(1-port))
			}
			await = append(await, q)
		case kind == 2 && g.Sizes.Has(nicspec.PartLong):
			g.splitDoorbell(port, s)
		default: // entries for any port
			for range 1 + g.intN(8) {
				s.Entries = append(s.Entries, g.onPort(g.intN(g.Sizes.Ports)))
			}
		}
		g.add(program.Op{Send: s, Wait: g.intN(60 << i)})
	}
	if g.Sizes.Ports > 1 && len(await) > 0 {
		g.add(program.Op{Await: &program.Await{Port: port, Queues: await}})
	}
}

// splitDoorbell adds some entries to s whose doorbell ends inside the last one. A second doorbell announces its
// remaining blocks once the first ones have been fetched.
func (g *generator) splitDoorbell(port int, s *program.Send) {
	for range g.intN(3) {
		s.Entries = append(s.Entries, g.onPort(port))
	}
	e := program.Entry{Opcode: nicspec.OpcodeSend, Port: uint8(port), Complete: true, Frame: g.idFrame(),
		Blocks: uint8(1 + g.intN(3))}
	n := 60 + g.intN(600)
	e.Frame.Len = n
	g.cutLong(&e, n)
	s.Entries = append(s.Entries, e)
	s.Short, s.Pause = 1+g.intN(int(e.Blocks)), pick(g, g.intN(100), 150+g.intN(400))
}

// silentEntry draws an entry that sends nothing, whatever port it names.
func (g *generator) silentEntry(port int) program.Entry {
	e := program.Entry{Opcode: nicspec.OpcodeNop, Complete: g.maybe(50), Frame: g.idFrame(), Blocks: g.blocks()}
	switch g.intN(8) {
	case 0:
		e.Opcode = nicspec.Opcode(5 + g.intN(251))
	case 1, 2: // a port that does not exist
		e = g.sendOf(g.Sizes.Ports+g.intN(250), 60+g.intN(300))
	case 3:
		if g.Sizes.Ports == 1 {
			break
		}
		e = g.sendOf(1-port, 60+g.intN(300)) // fails its checks, so nothing leaves on that port
		switch e.Pad = false; g.intN(3) {
		case 0:
			e.Inline, e.Pieces = 0, nil
		case 1:
			e.UDPCsum, e.UDPZero = true, true
		default:
			e.Inline, e.Pieces = 0,
				[]program.Piece{{Key: pick(g, g.keyInvalid, g.keyUnset, g.keyNoRead), Len: uint32(e.Frame.Len)}}
		}
	case 4:
		if g.Sizes.Has(nicspec.PartCopy) {
			e = g.goodCopy()
		}
	}
	return e
}
