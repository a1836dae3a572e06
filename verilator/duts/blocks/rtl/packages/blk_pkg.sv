/// Requests and results common to several test devices; byte 0 of a packet is in the low bits.

package blk_pkg;
  import nic_int_pkg::*;

  // Request: a table command.
  typedef struct packed {
    logic [1023:0] wdata;
    logic [15:0]   rsvd1;
    logic [15:0]   index;
    logic [7:0]    rsvd0;
    logic [7:0]    id;
    logic [7:0]    write;
    logic [7:0]    op;
  } table_op_t;

  // Result of a table command.
  typedef struct packed {
    logic [1023:0] rdata;
    logic [47:0]   rsvd;
    logic [7:0]    status;
    logic [7:0]    op;
  } table_res_t;

  function automatic tbl_req_t table_req(input table_op_t t);
    logic unused_bits;
    unused_bits = ^t;
    table_req   = '{valid: 1'b1, write: t.write[0], id: t.id, index: t.index, wdata: t.wdata};
  endfunction

  function automatic table_res_t table_res(input logic [7:0] op, input tbl_rsp_t r);
    logic unused_bits;
    unused_bits = r.done;
    table_res   = '{rdata: r.rdata, rsvd: '0, status: 8'(r.status), op: op};
  endfunction
endpackage
