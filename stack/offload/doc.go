// Package offload is the programmable engine of FlexiNS (FN 3.5, Table 2): handlers of applications that run on Arm
// cores beside the stack, take requests that arrive as SENDs, read and write host memory by DMA, and answer.
//
// The six calls of the paper:
//
//	register_opcode(opcode, qp, func)                  Engine.RegisterOpcode
//	register_dma_region(host_addr, size)               Engine.RegisterRegion
//	alloc_resp(ctx, size)                              Context.AllocResp
//	submit_dma(ctx, op, host_addr, arm_addr, size)     Context.SubmitDMA
//	wait_dma_finish(ctx, id)                           Context.WaitDMA
//	submit_resp(ctx, addr, size)                       Context.SubmitResp
//
// A request is the payload of a SEND to a queue pair that was given to the engine, so any client can send one, even
// through an RDMA NIC. It begins with its 16-bit code (0x1234 does not fit into the eight bits of a BTH opcode):
//
//	request   u16 code, u16 zero, u32 number of the client's choice, arguments
//	response  u16 code, u16 status, u32 that number, what the handler returns
//
// A handler is a function that runs as a coroutine: while it waits in WaitDMA, others run. Requests wait in one queue,
// first come, first served; the number of coroutines per core is limited. Coroutines are resumed in the order in which
// the DMAs they wait for have ended.
//
// A handler that misbehaves is stopped and reported ([Fault]), its client gets a response with a status, and the others
// continue. Misbehaviour is: an address outside of its region or memory, more memory or time than allowed, memory or
// DMAs left behind, two responses or none, a panic. Time is what a handler charges plus the cost of its calls: a
// function that never calls its context cannot be stopped.
//
// An [Engine] is one core. A card with several has an engine on each, which share nothing; the node that puts a card
// together gives them its queue pairs in turn.
//
// The package knows neither NIC nor transport, which are behind [Env].
//
// Invariants:
//   - Every accepted request is answered once, whatever its handler does.
//   - Everything that a handler had is freed once it and its DMAs have ended.
//   - Handlers run on the caller's goroutine, one at a time: the same requests give the same order on every run.
package offload
