/// Picks the next frame from the ports' receive buffers, ports in turn. In builds with part
/// accounts, nic_account then chooses the queue of frames with an account.

module nic_rxpick
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                  clk,
  input  logic                  rst,
  input  tbl_req_t              tbl_i,
  output tbl_rsp_t              tbl_o,
  input  reg_bus_t              reg_i,
  output logic [63:0]           reg_rdata_o,
  // Frames of the ports, from their receive buffers.
  input  logic      [Ports-1:0] frame_valid_i,
  output logic      [Ports-1:0] frame_ready_o,
  input  rx_place_t [Ports-1:0] frame_place_i,
  input  rx_info_t  [Ports-1:0] frame_info_i,
  // Frames in the order in which they are delivered.
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output rx_frame_t             out_o,
  // Pulse: the latest forwarded frame that uses an account was delivered or dropped.
  input  logic                  settled_i,
  // With settled_i: high if the frame that it reports was delivered, low if it was dropped.
  input  logic                  passed_i,
  output logic                  busy_o
);
  logic      pick, turn_q, ready;
  rx_frame_t picked;

  always_comb begin
    pick = 1'b0;
    if (Ports == 2) pick = turn_q ? frame_valid_i[Ports-1] : !frame_valid_i[0];
    frame_ready_o = '0;
    frame_ready_o[Ports == 2 ? pick : 1'b0] = ready;
    picked       = '0;
    picked.port  = pick;
    picked.place = frame_place_i[pick];
    picked.info  = frame_info_i[pick];
  end

  always_ff @(posedge clk) begin
    if (|frame_valid_i && ready) turn_q <= !pick;
    if (rst) turn_q <= 1'b0;
  end

  if ((Parts & PartAccounts) != 0) begin : g_account
    nic_account u_account (
      .clk, .rst, .tbl_i,
      .tbl_o       (tbl_o),
      .reg_i,
      .rdata_o     (reg_rdata_o),
      .in_valid_i  (|frame_valid_i),
      .in_ready_o  (ready),
      .in_i        (picked),
      .out_valid_o (out_valid_o),
      .out_ready_i (out_ready_i),
      .out_o       (out_o),
      .settled_i   (settled_i),
      .passed_i    (passed_i),
      .busy_o      (busy_o)
    );
  end else begin : g_no_account
    logic unused_account;
    assign unused_account = ^{tbl_i, reg_i, settled_i, passed_i};
    assign tbl_o          = '0;
    assign reg_rdata_o    = '0;
    assign out_valid_o    = |frame_valid_i;
    assign ready          = out_ready_i;
    assign out_o          = picked;
    assign busy_o         = 1'b0;
  end
endmodule
