# SPDX-License-Identifier: Apache-2.0
"""Asks mcastd for jobs' VNIs and multicast addresses, through libmcast (docs/python.md).

    import mcast
    with mcast.Broker() as broker:
        print(broker.show("elcap", "f2Rs8sydSxmd").vnis)

It needs Python's standard library and libmcast.so. Python 3.6 and newer."""
from .broker import Broker
from .error import (Error, NoAnswer, NotFound, OutOfMemory, Refused, Stopped, Unclear, Unreachable,
                    UsageError)
from .events import Events
from .reservation import Environment, Reservation

__all__ = ["Broker", "Environment", "Error", "Events", "NoAnswer", "NotFound", "OutOfMemory",
           "Refused", "Reservation", "Stopped", "Unclear", "Unreachable", "UsageError", "version"]


def version():
    """The release of the libmcast that is used."""
    from .library import lib
    return lib().mcast_version().decode()
