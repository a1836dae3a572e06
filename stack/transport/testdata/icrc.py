"""Prints, for each packet of a capture: opcode, the ICRC that it has, and the one that scapy computes."""
import sys

from scapy.all import Ether, PcapReader, raw
from scapy.contrib.roce import BTH

for packet in PcapReader(sys.argv[1]):
    frame = raw(packet)
    packet = Ether(frame)
    if BTH not in packet:
        print("none none none")
        continue
    opcode = packet[BTH].opcode
    packet[BTH].icrc = None  # scapy fills it in
    print(opcode, frame[-4:].hex(), raw(packet)[-4:].hex())
