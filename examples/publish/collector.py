"""A collector of reports on this machine: says where it listens, takes one report, and ends.

usage: collector.py FILE
"""

import os
import socket
import sys

with socket.create_server(("127.0.0.1", 0)) as listener:
    with open(sys.argv[1] + ".new", "w") as file:
        file.write("{} {}\n".format(*listener.getsockname()))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    peer, _ = listener.accept()
    with peer:
        report = b"".join(iter(lambda: peer.recv(4096), b""))
        peer.sendall(b"%d lines, thank you\n" % report.count(b"\n"))
