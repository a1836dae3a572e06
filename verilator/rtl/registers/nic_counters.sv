/// The 64-bit counters of the ports and of the device. Several sources may step one counter in the
/// same cycle (contract G5).

module nic_counters
  import nic_pkg::*;
#(
  // Number of Ethernet ports.
  parameter int Ports = 1,
  // Number of sources that step the device's counters.
  parameter int Sources = 4
) (
  input  logic                     clk,
  input  logic                     rst,
  // Pulses of the ports' counters; RX_BYTES and TX_BYTES step by the byte counts beside them.
  input  logic [Ports-1:0][31:0]   port_evt_i,
  input  logic [Ports-1:0][31:0]   rx_bytes_i,
  input  logic [Ports-1:0][31:0]   tx_bytes_i,
  // Pulse: one more step of RX_DROP_DISABLED.
  input  logic [Ports-1:0]         disabled_i,
  // Bytes to add to COPY_BYTES.
  input  logic [7:0]               copy_bytes_i,
  // Bit k: pulse of counter 128 + k; one vector for each source.
  input  logic [15:0]              dev_evt_i [Sources],
  // Reads counter rd_index_i; rd_data_o holds its value in the next cycle.
  input  logic                     rd_en_i,
  input  logic [7:0]               rd_index_i,
  output logic [63:0]              rd_data_o
);
  localparam int PortCounters = CntTxPause + 1;
  localparam int DevCounters  = CntMsix - CntDeviceBase + 1;
  localparam int CopyBytes    = CntCopyBytes - CntDeviceBase;

  logic [63:0]            rd_q;
  logic [Ports-1:0][63:0] port_rd;
  logic [63:0]            dev_mem [16];
  logic [15:0]            dev_live_q, dev_any;

  assign rd_data_o = rd_q;

  // A counter not stepped since reset is marked as not live and reads 0, so the memories need no
  // reset.
  for (genvar p = 0; p < Ports; p++) begin : g_port
    logic [63:0] mem [32];
    logic [31:0] live_q, evt;

    assign evt        = port_evt_i[p];
    assign port_rd[p] = live_q[rd_index_i[4:0]] ? mem[rd_index_i[4:0]] : 64'd0;

    always_ff @(posedge clk) begin
      if (evt != 32'd0) begin
        for (int k = 0; k < PortCounters; k++) begin
          if (k != CntRxBytes && k != CntTxBytes && evt[k]) begin
            mem[k] <= (live_q[k] ? mem[k] : 64'd0) + 64'd1;
          end
        end
      end
      if (disabled_i[p]) begin
        mem[CntRxDropDisabled] <= (live_q[CntRxDropDisabled] ? mem[CntRxDropDisabled] : 64'd0) +
                                  64'd1 + 64'(evt[CntRxDropDisabled]);
      end
      if (rx_bytes_i[p] != 32'd0) begin
        mem[CntRxBytes] <= (live_q[CntRxBytes] ? mem[CntRxBytes] : 64'd0) + 64'(rx_bytes_i[p]);
      end
      if (tx_bytes_i[p] != 32'd0) begin
        mem[CntTxBytes] <= (live_q[CntTxBytes] ? mem[CntTxBytes] : 64'd0) + 64'(tx_bytes_i[p]);
      end
      live_q <= live_q | evt | 32'(disabled_i[p]) << CntRxDropDisabled |
                32'(rx_bytes_i[p] != 32'd0) << CntRxBytes |
                32'(tx_bytes_i[p] != 32'd0) << CntTxBytes;
      if (rst) live_q <= '0;
    end
  end

  always_comb begin
    dev_any = '0;
    for (int s = 0; s < Sources; s++) dev_any |= dev_evt_i[s];
  end

  always_ff @(posedge clk) begin
    if (dev_any != 16'd0) begin
      for (int k = 0; k < DevCounters; k++) begin
        if (dev_any[k]) begin
          logic [63:0] sum;
          sum = dev_live_q[k] ? dev_mem[k] : 64'd0;
          for (int s = 0; s < Sources; s++) sum = sum + 64'(dev_evt_i[s][k]);
          dev_mem[k] <= sum;
        end
      end
      dev_live_q <= dev_live_q | dev_any;
    end
    if (copy_bytes_i != 8'd0) begin
      dev_mem[CopyBytes]    <= (dev_live_q[CopyBytes] ? dev_mem[CopyBytes] : 64'd0) +
                               64'(copy_bytes_i);
      dev_live_q[CopyBytes] <= 1'b1;
    end
    if (rst) dev_live_q <= '0;
  end

  always_ff @(posedge clk) begin
    if (rd_en_i) begin
      rd_q <= 64'd0;
      for (int p = 0; p < Ports; p++) if (rd_index_i[7:5] == 3'(p)) rd_q <= port_rd[p];
      if (rd_index_i[7:4] == 4'(CntDeviceBase >> 4) && dev_live_q[rd_index_i[3:0]]) begin
        rd_q <= dev_mem[rd_index_i[3:0]];
      end
    end
  end
endmodule
