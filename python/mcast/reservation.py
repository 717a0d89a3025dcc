# SPDX-License-Identifier: Apache-2.0
"""What a job has."""
import json

from . import cdecl
from .library import lib, take_text

HIDDEN = "***"


class Environment(dict):
    """Variables of a job's tasks. The values are the true ones; repr() and str() hide those that
    are secret, whose names are in `secret`."""

    def __init__(self, values=(), secret=()):
        dict.__init__(self, values)
        self.secret = frozenset(secret)

    def shown(self):
        return {name: HIDDEN if name in self.secret else value for name, value in self.items()}

    def __repr__(self):
        return repr(self.shown())

    __str__ = __repr__

    def __reduce__(self):
        raise TypeError("an environment with a token is not to be stored")


class Reservation:
    """Fields are attributes, by their names in the API (openapi.json): job, state, uid, vnis, nodes,
    hwcoll, … One that this job does not have is None. `fields` is all of them as a dict, without
    secrets; `env` has these, too."""

    def __init__(self, fields, env=None):
        self.fields = fields
        self.env = env if env is not None else Environment()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self.fields.get(name)

    @property
    def vnis(self):
        return self.fields.get("vnis") or []

    @property
    def addresses(self):
        """How many multicast addresses it holds."""
        hwcoll = self.hwcoll or {}
        return hwcoll.get("addresses", 0) if hwcoll.get("state") == "reserved" else 0

    def __repr__(self):
        return "<Reservation %s/%s %s vnis=%s addresses=%d>" % (
            self.cluster, self.job, self.state, self.vnis, self.addresses)


def _decode(pointer, flags):
    return json.loads(take_text(lib().mcast_reservation_json(pointer, flags)))


def read(pointer):
    """From the library's struct, which stays the caller's."""
    fields = _decode(pointer, 0)
    shown = fields.pop("env", None)
    if not shown:
        return Reservation(fields)
    secret = [name for name, value in shown.items() if value == HIDDEN]
    if not secret:
        return Reservation(fields, Environment(shown))
    values = _decode(pointer, cdecl.CONSTANTS["MCAST_JSON_SECRETS"])["env"]
    return Reservation(fields, Environment(values, secret))
