/// Ingress of all ports: one nic_rxport for each, with shared rules and hash. Frames end up in
/// their port's receive buffer, together with everything known about them.

module nic_ingress
  import nic_int_pkg::*;
  import nic_pkg::*;
  import nic_rx_pkg::*;
#(
  // Number of Ethernet ports, 1 or 2.
  parameter int Ports = 1,
  // Number of receive queues.
  parameter int NumRxq = 64,
  // Number of steering rules, 4..256.
  parameter int NumRules = 64,
  // Optional parts in this build, as the bits of register CAP1.
  parameter int unsigned Parts = PartsDefault
) (
  input  logic                             clk,
  input  logic                             rst,
  input  cfg_t                             cfg_i,
  input  rss_key_t                         rss_key_i,
  input  tbl_req_t                         tbl_i,
  output tbl_rsp_t                         tbl_o,
  input  logic [Ports*EthW-1:0]            s_axis_eth_tdata,
  input  logic [Ports*EthB-1:0]            s_axis_eth_tkeep,
  input  logic [Ports-1:0]                 s_axis_eth_tlast,
  input  logic [Ports-1:0]                 s_axis_eth_tvalid,
  // Frames that are kept, in order for each port.
  output logic       [Ports-1:0]           frame_valid_o,
  input  logic       [Ports-1:0]           frame_ready_i,
  output rx_place_t  [Ports-1:0]           frame_place_o,
  output rx_info_t   [Ports-1:0]           frame_info_o,
  // Read of lines read_line_i and the next; data from the next cycle on.
  input  logic       [Ports-1:0]           read_i,
  input  logic       [LineW-1:0]           read_line_i,
  output logic       [Ports-1:0][EthW-1:0] even_o,
  output logic       [Ports-1:0][EthW-1:0] odd_o,
  // Pulse: frees free_lines_i lines of the port's buffer.
  input  logic       [Ports-1:0]           free_i,
  input  logic       [7:0]                 free_lines_i,
  // Lines in use in each buffer.
  output logic       [Ports-1:0][LineW:0]  used_o,
  // Which pause frames each port honours.
  input  pause_cfg_t [Ports-1:0]           pause_cfg_i,
  // Pause frames that were honoured.
  output pause_t     [Ports-1:0]           pause_o,
  // Pulses of the ports' counters; bytes_o is added to RX_BYTES.
  output logic       [Ports-1:0][31:0]     port_evt_o,
  output logic       [Ports-1:0][31:0]     bytes_o,
  // Rule whose hit count is on hits_o in the next cycle.
  input  logic       [7:0]                 hits_index_i,
  output logic       [63:0]                hits_o,
  output logic                             busy_o
);
  logic       [Ports-1:0]      key_valid, hit_valid, port_busy;
  steer_key_t [Ports-1:0]      key;
  rx_steer_t  [Ports-1:0]      steer;
  rx_fate_t   [Ports-1:0]      fate;
  logic       [Ports-1:0][7:0] hit_rule;
  tbl_rsp_t                    rule_rsp, rss_rsp;

  // Reset of all but arriving frames and their ordinals, which a function-level reset leaves alone.
  logic rst_work;
  assign rst_work = rst || cfg_i.clear;

  for (genvar p = 0; p < Ports; p++) begin : g_port
    nic_rxport #(.Port(p), .Parts(Parts)) u_port (
      .clk, .rst, .cfg_i,
      .s_axis_eth_tdata  (s_axis_eth_tdata[p*EthW +: EthW]),
      .s_axis_eth_tkeep  (s_axis_eth_tkeep[p*EthB +: EthB]),
      .s_axis_eth_tlast  (s_axis_eth_tlast[p]),
      .s_axis_eth_tvalid (s_axis_eth_tvalid[p]),
      .key_valid_o   (key_valid[p]),
      .key_o         (key[p]),
      .fate_i        (fate[p]),
      .hit_valid_o   (hit_valid[p]),
      .hit_rule_o    (hit_rule[p]),
      .frame_valid_o (frame_valid_o[p]),
      .frame_ready_i (frame_ready_i[p]),
      .frame_place_o (frame_place_o[p]),
      .frame_info_o  (frame_info_o[p]),
      .read_i        (read_i[p]),
      .read_line_i   (read_line_i),
      .even_o        (even_o[p]),
      .odd_o         (odd_o[p]),
      .free_i        (free_i[p]),
      .free_lines_i  (free_lines_i),
      .used_o        (used_o[p]),
      .pause_cfg_i   (pause_cfg_i[p]),
      .pause_o       (pause_o[p]),
      .port_evt_o    (port_evt_o[p]),
      .bytes_o       (bytes_o[p]),
      .busy_o        (port_busy[p])
    );
  end


  nic_steer #(
    .Ports(Ports), .NumRules(NumRules), .NumRxq(NumRxq), .Parts(Parts)
  ) u_steer (
    .clk, .rst,
    .clear_i     (cfg_i.clear),
    .tbl_i,
    .tbl_o       (rule_rsp),
    .key_valid_i (key_valid),
    .key_i       (key),
    .steer_o     (steer),
    .hit_valid_i (hit_valid),
    .hit_rule_i  (hit_rule),
    .hits_index_i, .hits_o
  );

  nic_rss #(.Ports(Ports), .NumRxq(NumRxq), .Parts(Parts)) u_rss (
    .clk, .rst(rst_work),
    .default_i   (cfg_i.rx_default),
    .rss_key_i, .tbl_i,
    .tbl_o       (rss_rsp),
    .key_valid_i (key_valid),
    .key_i       (key),
    .steer_i     (steer),
    .fate_o      (fate)
  );

  assign tbl_o  = rule_rsp.done ? rule_rsp : rss_rsp;
  assign busy_o = |port_busy;
endmodule
