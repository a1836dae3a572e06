// Clocks the tests of the shell's blocks until they end. Arguments: plusargs, such as +verilator+seed+1.

#include "Vshell_tests.h"
#include "verilated.h"

int main(int argc, char** argv) {
  Verilated::commandArgs(argc, argv);
  Vshell_tests top;
  while (!Verilated::gotFinish()) {
    top.clk = !top.clk;
    top.eval();
  }
  top.final();
}
