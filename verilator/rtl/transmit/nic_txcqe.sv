/// Ends work entries: ports and copy engine take turns; each ended entry steps its queue's indices
/// and counters and sends a completion entry if one is due (contract T10). A queue's entries end in
/// order because only one source at a time has entries of it.

`include "nic_assert.svh"

module nic_txcqe
  import nic_pkg::*, nic_int_pkg::*, nic_tx_pkg::*;
#(
  // Number of transmit queues, a power of two.
  parameter int NumTxq = 64,
  // Number of sources of ended entries.
  parameter int Sources = 2,
  localparam int Qw = $clog2(NumTxq)
) (
  input  logic          clk,
  input  logic          rst,
  // Entries that may end, in order for each source; len_i: bytes of the frame, 0 without one.
  input  logic [Sources-1:0] valid_i,
  output logic [Sources-1:0] ready_o,
  input  tx_id_t        id_i  [Sources],
  input  logic [13:0]   len_i [Sources],
  // Queue of the entry that ends; the inputs below are its context, in the same cycle.
  output logic [Qw-1:0] q_o,
  input  logic [63:0]   base_i,
  input  logic [3:0]    log_i,
  input  logic [15:0]   cqi_i,
  // Pulse: an entry or an Event of queue q_o ends.
  output logic          end_o,
  // With end_o: high for an entry, low for an Event.
  output logic          end_wqe_o,
  // Blocks of the entry beyond its first.
  output logic [1:0]    end_more_o,
  // With end_o: high if a completion entry is written for the entry or Event.
  output logic          end_cqe_o,
  // With end_o: high for an entry whose status is not Ok. Steps the counter TX_ERR.
  output logic          end_bad_o,
  // Completion entries, as write TLPs.
  output tlp_beat_t     tlp_o,
  output logic          tlp_valid_o,
  input  logic          tlp_ready_i,
  // Queue of the completion entry at tlp_o.
  output logic [Qw-1:0] tlp_q_o
);
  localparam int Sw = $clog2(Sources);

  tx_id_t        id;
  logic [13:0]   len;
  logic          any, cqe, go;
  logic [Sw-1:0] turn;
  tlp_beat_t     tlp_q;
  logic          tlp_valid_q;
  logic [Qw-1:0] tlp_qid_q;
  logic          unused_port;

  nic_arb #(.Num(Sources)) u_arb (
    .clk, .rst, .req_i(valid_i), .take_i(go), .valid_o(any), .index_o(turn)
  );

  always_comb begin
    ready_o       = '0;
    ready_o[turn] = go;
  end

  assign id          = id_i[turn];
  assign len         = len_i[turn];
  assign unused_port = ^{id.port, id.no_port};

  assign cqe         = id.is_event || id.complete || id.status != 8'(StatusOk);
  assign go          = any && (!cqe || !tlp_valid_q || tlp_ready_i);
  assign q_o         = id.qid[Qw-1:0];
  assign end_o       = go;
  assign end_wqe_o   = go && !id.is_event;
  assign end_more_o  = id.more;
  assign end_cqe_o   = go && cqe;
  assign end_bad_o   = end_wqe_o && id.status != 8'(StatusOk);
  assign tlp_o       = tlp_q;
  assign tlp_valid_o = tlp_valid_q;
  assign tlp_q_o     = tlp_qid_q;

  always_ff @(posedge clk) begin
    tx_cqe_t     c;
    logic [63:0] addr;
    if (go && cqe) begin
      c           = '0;
      c.type_f    = id.is_event ? CqeTypeEvent : CqeTypeTx;
      c.status    = status_e'(id.status);
      c.queue_f   = 16'(id.qid);
      c.index     = id.index;
      c.wqe_id    = id.wqe_id;
      c.frame_len = 16'(len);
      c.phase     = !cqi_i[log_i];
      addr        = base_i + {42'd0, cqi_i & ~(16'hffff << log_i), 6'd0};
      tlp_qid_q   <= q_o;
      tlp_q       <= '{entry: 1'b1, last: 1'b1, hdr: mem_hdr(1'b1, addr, 11'd16, 4'hf, 4'hf, 8'd0),
                       keep: TlpD'(16'hffff), data: TlpW'(c)};
    end
    if (go && cqe)        tlp_valid_q <= 1'b1;
    else if (tlp_ready_i) tlp_valid_q <= 1'b0;
    if (rst) begin
      tlp_valid_q <= 1'b0;
    end
  end

  `NIC_HELD(a_tlp_held, tlp_valid_o, tlp_ready_i, tlp_o)
endmodule
