# SPDX-License-Identifier: Apache-2.0
"""Checks the ICRC of every frame of a capture against scapy, which has its own implementation for IPv4.

For IPv6, where scapy has none, the packet is built by scapy's layers with the variant fields as ones, and the CRC is
zlib's. Prints one line; exit code 1 and the first differences when a frame is wrong.
"""
import sys
import zlib

from scapy.compat import raw
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

ICRC_SIZE = 4


def expected_v4(packet):
    rebuilt = packet.copy()
    rebuilt[BTH].icrc = None
    return raw(rebuilt)[-ICRC_SIZE:]


def expected_v6(packet):
    masked = packet[IPv6].copy()
    masked.tc, masked.fl, masked.hlim = 0xFF, 0xFFFFF, 0xFF
    masked[UDP].chksum = 0xFFFF
    covered = bytearray(raw(masked)[:-ICRC_SIZE])
    covered[40 + 8 + 4] = 0xFF  # FECN, BECN and the reserved bits beside them
    return zlib.crc32(b"\xff" * 8 + bytes(covered)).to_bytes(ICRC_SIZE, "little")


def main():
    counts = {"IPv4": 0, "IPv6": 0}
    wrong = []
    for number, (frame, _) in enumerate(RawPcapNgReader(sys.argv[1]), 1):
        packet = Ether(frame)
        if BTH not in packet:
            wrong.append(f"frame {number}: not RoCEv2 for scapy")
            continue
        version = "IPv4" if IP in packet else "IPv6"
        counts[version] += 1
        expected = expected_v4(packet) if version == "IPv4" else expected_v6(packet)
        if frame[-ICRC_SIZE:] != expected:
            wrong.append(f"frame {number}, opcode {packet[BTH].opcode:#x}: {frame[-4:].hex()} is not {expected.hex()}")
    print(f"{counts['IPv4']} IPv4 and {counts['IPv6']} IPv6 frames, {len(wrong)} wrong")
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


sys.exit(main())
