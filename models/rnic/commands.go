package rnic

import (
	"nictwin/models/rnic/core"
	"nictwin/models/rnic/rnicspec"
	"nictwin/models/sim/simcore"
)

// runCommand executes the command in the command window of the register space.
func (c *Comp) runCommand() {
	cmd, seq, err := rnicspec.DecodeCommand(c.command[:])
	c.result = rnicspec.Result{Seq: seq}
	code := rnicspec.RefusedCommand
	if err == nil {
		code = c.execute(cmd)
	}
	c.result.Code = uint16(code)
}

func (c *Comp) execute(cmd rnicspec.Command) rnicspec.Refusal {
	switch x := cmd.(type) {
	case *rnicspec.SetPort:
		return c.setPort(x)
	case *rnicspec.SetContext:
		if x.Addr%ctxBytes != 0 || x.Bytes%ctxBytes != 0 {
			return rnicspec.RefusedValue
		}
		c.context.addr, c.context.bytes = x.Addr, x.Bytes
	case *rnicspec.CreateCQ:
		if c.cqs[x.CQN] != nil {
			return rnicspec.RefusedNumber
		}
		if x.Log > rnicspec.MaxLogRing || x.Addr%rnicspec.CQEBytes != 0 {
			return rnicspec.RefusedValue
		}
		c.cqs[x.CQN] = &cq{addr: x.Addr, log: x.Log}
	case *rnicspec.CreateMR:
		if x.PageLog < 12 || x.PageLog > 30 || x.Bytes == 0 || x.VA+x.Bytes < x.VA || x.Bus+x.Bytes < x.Bus {
			return rnicspec.RefusedValue
		}
		if !c.dev.Register(core.Region{Key: x.Key, Access: x.Access, PageLog: x.PageLog, VA: x.VA, Bus: x.Bus,
			Bytes: x.Bytes}) {
			return rnicspec.RefusedNumber
		}
	case *rnicspec.DestroyMR:
		return c.destroyMR(x.Key)
	case *rnicspec.CreateAH:
		return c.createAH(x)
	case *rnicspec.CreateQP:
		return c.createQP(x)
	case *rnicspec.ModifyQP:
		return c.modifyQP(x)
	case *rnicspec.DestroyQP:
		return c.destroyQP(x.QPN)
	case *rnicspec.CreateSRQ:
		return c.createSRQ(x)
	case *rnicspec.ModifySRQ:
		return c.modifySRQ(x)
	case *rnicspec.DestroySRQ:
		return c.destroySRQ(x.SRQN)
	case *rnicspec.SetAccount:
		return c.setAccount(x)
	case *rnicspec.QueryQP:
		q := c.dev.QP(x.QPN)
		if q == nil {
			return rnicspec.RefusedNumber
		}
		c.result.Value = uint32(q.State)
	}
	return rnicspec.Done
}

// destroyMR removes a region. It refuses one into which slow packets are still to be copied, which it begins: they have
// been acknowledged. No request can use that region any more.
func (c *Comp) destroyMR(key uint32) rnicspec.Refusal {
	r := c.dev.Close(key)
	if r == nil {
		return rnicspec.RefusedNumber
	}
	code := rnicspec.Done
	for _, a := range c.accounts {
		if a.owes(r) {
			a.flush()
			code = rnicspec.RefusedState
		}
	}
	if code == rnicspec.Done {
		c.dev.Deregister(key)
	}
	return code
}

func (c *Comp) setPort(x *rnicspec.SetPort) rnicspec.Refusal {
	if int(x.Port) >= len(c.ports) {
		return rnicspec.RefusedValue
	}
	c.ports[x.Port].address = core.Address{Port: int(x.Port), V6: x.V6, SrcMAC: x.MAC, SrcIP: x.IP}
	return rnicspec.Done
}

func (c *Comp) createAH(x *rnicspec.CreateAH) rnicspec.Refusal {
	if c.handles[x.Handle] != nil {
		return rnicspec.RefusedNumber
	}
	if int(x.Port) >= len(c.ports) || x.V6 != c.ports[x.Port].address.V6 {
		return rnicspec.RefusedValue
	}
	a := c.ports[x.Port].address
	a.DstMAC, a.DstIP, a.UDPPort, a.TOS, a.TTL = x.MAC, x.IP, x.UDPPort, x.TOS, x.TTL
	c.handles[x.Handle] = &a
	return rnicspec.Done
}

func (c *Comp) createQP(x *rnicspec.CreateQP) rnicspec.Refusal {
	if x.QPN >= rnicspec.MaxQPs || c.qps[x.QPN] != nil || c.cqs[x.SendCQ] == nil || c.cqs[x.RecvCQ] == nil {
		return rnicspec.RefusedNumber
	}
	if x.Type >= rnicspec.NumQPTypes || x.SendLog > rnicspec.MaxLogRing || x.RecvLog > rnicspec.MaxLogRing ||
		x.SendAddr%rnicspec.WQEBytes != 0 || x.RecvAddr%rnicspec.RecvBytes != 0 || int(x.Port) >= len(c.ports) {
		return rnicspec.RefusedValue
	}
	if x.Type == rnicspec.Raw && (c.ports[x.Port].rawQP != nil || x.SRQ != 0) || x.SRQ != 0 && c.srqs[x.SRQ] == nil {
		return rnicspec.RefusedNumber
	}
	q := &qpair{
		endpoint: endpoint(x.SendAddr), port: int(x.Port),
		send: ring{addr: x.SendAddr, log: x.SendLog, entry: rnicspec.WQEBytes},
		recv: ring{addr: x.RecvAddr, log: x.RecvLog, entry: rnicspec.RecvBytes},
	}
	if !c.dev.AddAs(&q.QP, x.QPN, x.Type) {
		return rnicspec.RefusedNumber
	}
	q.cqs = [2]*cq{c.cqs[x.SendCQ], c.cqs[x.RecvCQ]}
	q.qkey = x.QKey
	if q.shared = c.srqs[x.SRQ]; q.shared != nil {
		q.Share(&q.shared.SRQ)
	}
	c.qps[x.QPN] = q
	if x.Type == rnicspec.Raw {
		c.ports[x.Port].rawQP = q
	}
	return rnicspec.Done
}

func (c *Comp) modifyQP(x *rnicspec.ModifyQP) rnicspec.Refusal {
	if x.QPN >= rnicspec.MaxQPs || c.qps[x.QPN] == nil {
		return rnicspec.RefusedNumber
	}
	q := c.qps[x.QPN]
	if x.State != rnicspec.RTR && x.State != rnicspec.RTS {
		return rnicspec.RefusedValue
	}
	starts := q.State == rnicspec.RTR && x.State == rnicspec.RTS
	if q.State != rnicspec.Init && !starts {
		return rnicspec.RefusedState
	}
	if !starts && (!ValidPMTU(int(x.PMTU)) || int(x.PMTU) > c.spec.PMTU) || x.MaxRead < 1 ||
		x.MaxRead > rnicspec.MaxRead || x.MinRNR > 31 ||
		x.Retries > 7 || x.RNRRetry > 7 || x.Timeout > 31 {
		return rnicspec.RefusedValue
	}
	a := core.Attributes{
		DestQP: x.DestQP, SendPSN: x.SendPSN, RecvPSN: x.RecvPSN, PMTU: int(x.PMTU), Access: x.Access,
		MaxRead: int(x.MaxRead),
		MinRNR:  x.MinRNR, Retries: int(x.Retries), RNRRetry: int(x.RNRRetry), QKey: q.qkey,
	}
	if x.Timeout > 0 {
		const unit = 4096 * simcore.Nanosecond // IBTA 9.7.6.1.3
		a.Timeout = int64(unit) << x.Timeout
	}
	if starts {
		q.Start(a)
		return rnicspec.Done
	}
	if q.Type == rnicspec.RC || q.Type == rnicspec.UC {
		h := c.handles[x.Handle]
		if h == nil {
			return rnicspec.RefusedNumber
		}
		a.Address = *h
		q.port = h.Port
	} else {
		a.Address = c.ports[q.port].address
	}
	c.control(q, &a)
	q.Connect(x.State, a)
	return rnicspec.Done
}

// destroyQP ends a queue pair; it refuses one with packets, entries or reads in flight.
func (c *Comp) destroyQP(qpn uint32) rnicspec.Refusal {
	if qpn >= rnicspec.MaxQPs || c.qps[qpn] == nil {
		return rnicspec.RefusedNumber
	}
	q := c.qps[qpn]
	if q.refs > 0 || !q.Idle() {
		return rnicspec.RefusedState
	}
	if p := &c.ports[q.port]; p.rawQP == q {
		p.rawQP = nil
	}
	if a := q.account; a != nil {
		if a.line.Len() > 0 {
			a.flush() // nobody asks for copies of a message without an end
			return rnicspec.RefusedState
		}
		c.accounts[a.number] = nil
	}
	c.dev.Remove(qpn)
	c.qps[qpn] = nil
	return rnicspec.Done
}
