/// Assertion macros, sampled on clk while rst is low. With SYNTHESIS defined they expand to
/// nothing. Each assertion has a name, which Verilator prints when it fails. Files that use the
/// macros include this one.

`ifndef NIC_ASSERT_SVH
`define NIC_ASSERT_SVH

`ifdef SYNTHESIS

`define NIC_ASSERT(name, property_)
`define NIC_HELD(name, valid, ready, payload)
`define NIC_KEEP(name, valid, keep, last)

`else

// Fails in a cycle in which the property is false.
`define NIC_ASSERT(name, property_) \
  name: assert property (@(posedge clk) disable iff (rst) property_);

// Checks a stream's output: an offered payload that was not accepted stays offered, unchanged.
`define NIC_HELD(name, valid, ready, payload) \
  `NIC_ASSERT(name, valid && !ready |=> valid && $stable(payload))

// Checks a packet's keep mask: contiguous from bit 0, and full in all beats but the last.
`define NIC_KEEP(name, valid, keep, last) \
  `NIC_ASSERT(name, valid |-> (keep & (keep + 1'b1)) == '0 && (last || &keep))

`endif
`endif
