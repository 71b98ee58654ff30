"""The other libraries, each used only if it is installed."""

from benchmarks.peers.base import Peer
from benchmarks.peers.find import PEERS, SLOW, installed

__all__ = ["PEERS", "SLOW", "Peer", "installed"]
