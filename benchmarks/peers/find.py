"""Which peers are installed."""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.base import Peer

PEERS = {
    "pin": "pinocchio",
    "mujoco": "mujoco",
    "drake": "drake",
    "heyoka": "heyoka",
    "casadi": "casadi_c",
    "frax": "frax",
    "mjx": "mjx",
}
"""By name, their pages."""
SLOW = ("heyoka", "casadi", "frax", "mjx")
"""Those that compile, for seconds or minutes; `--quick` leaves them out."""


def installed(names: list[str]) -> tuple[list[Peer], dict[str, str]]:
    """Return those of the named peers that can be imported, and for the others why not."""
    found, absent = [], {}
    for name in names:
        try:
            found.append(import_module(f"benchmarks.peers.{PEERS[name]}").peer())
        except ImportError as error:
            absent[name] = str(error)
    return found, absent
