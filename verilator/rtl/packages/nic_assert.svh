/// Assertions, on clk while rst is low. They are for simulation: with SYNTHESIS they are nothing.
/// Every one has a name, which Verilator prints when it fails. Files that use them include this one.

`ifndef NIC_ASSERT_SVH
`define NIC_ASSERT_SVH

`ifdef SYNTHESIS

`define NIC_ASSERT(name, property_)
`define NIC_HELD(name, valid, ready, payload)
`define NIC_KEEP(name, valid, keep, last)

`else

// The property is true in every cycle.
`define NIC_ASSERT(name, property_) \
  name: assert property (@(posedge clk) disable iff (rst) property_);

// A stream's output: what was offered and not taken is offered again, the same.
`define NIC_HELD(name, valid, ready, payload) \
  `NIC_ASSERT(name, valid && !ready |=> valid && $stable(payload))

// A packet's bytes or DWs: kept from the first on without a gap, all of them before the last beat.
`define NIC_KEEP(name, valid, keep, last) \
  `NIC_ASSERT(name, valid |-> (keep & (keep + 1'b1)) == '0 && (last || &keep))

`endif
`endif
