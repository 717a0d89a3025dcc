# SPDX-License-Identifier: Apache-2.0
"""What the fabric consists of: its switches, ports, links, VNI partitions and the like, to be read.

A synthetic dragonfly (docs/mock-fm.md), computed from its size at each request; only what the
control has changed is kept. What of it is inferred and what is invented is said there, too."""

import itertools
import re
from collections import namedtuple

from mock_fm.message import Problem, below, list_page, with_tail
from mock_fm.objects import nic_long

# What the DFA has bits for: (group << 23) | (switch << 18) | (port << 12) in 32 bits.
MOST = (512, 32, 64)
NAME = re.compile(r"g(\d{1,9})s(\d{1,9})(?:p(\d{1,9}))?")
BLOCK = {"partitionName": "default", "vniRanges": ["1024-65535"]}  # Slurm's default


# Lists whose members have a state, which the control can change.
STATEFUL = ("/fabric/switches", "/fabric/ports", "/fabric/links")
Change = namedtuple("Change", "state version updated_us")
UNCHANGED = Change("ONLINE", 0, 0)


class Port(namedtuple("Port", "group switch number")):
    __slots__ = ()

    def dfa(self):
        return self.group << 23 | self.switch << 18 | self.number << 12

    def switch_name(self):
        return "g%ds%d" % self[:2]

    def name(self):
        return "g%ds%dp%d" % self

    def switch_link(self):
        return "/fabric/switches/" + self.switch_name()

    def link(self):
        return "/fabric/ports/" + self.name()


def other_at(rank, itself):
    """The others of a switch or group, itself left out, are counted from 0 on."""
    return rank if rank < itself else rank + 1


def rank_of(other, itself):
    return other if other < itself else other - 1


def link_name(port, peer):
    """Named after its end with the lower DFA."""
    return "-".join(end.name() for end in sorted((port, peer)))


class Inventory:
    def __init__(self, text):
        """GROUPSxSWITCHESxPORTS: at least one of each, and a port for each link, with an edge port
        left on each switch."""
        match = re.fullmatch(r"([0-9]{1,9})x([0-9]{1,9})x([0-9]{1,9})", text)
        size = tuple(map(int, match.groups())) if match else (0, 0, 0)
        if not all(1 <= number <= most for number, most in zip(size, MOST)):
            raise Problem(400, "--fabric must be GROUPSxSWITCHESxPORTS, at most %dx%dx%d, as "
                          "2x2x4, not '%.64s'" % (*MOST, text))
        self.groups, self.switches, self.ports = size
        self.others = {}  # VNI ranges of partitions besides the default one, by name
        self.changed = {}  # what the control has done to a member, by its path
        self.versions = {}  # of lists that have changed, by path: number of changes, time
        # Local ports, the busiest switch's share of the global ones rounded up, and an edge port.
        needed = self.switches - 1 + -(-(self.groups - 1) // self.switches) + 1
        if self.ports < needed:
            raise Problem(400, "--fabric %dx%d needs at least %d ports per switch for its links "
                          "and an edge port, not %d" %
                          (self.groups, self.switches, needed, self.ports))

    def port_at(self, place):
        switch, number = divmod(place, self.ports)
        return Port(*divmod(switch, self.switches), number)

    def peer_of(self, port):
        """The port at the other end; None: an edge port, which has none."""
        local = self.switches - 1
        if port.number < local:
            switch = other_at(port.number, port.switch)
            return Port(port.group, switch, rank_of(port.switch, switch))
        rank = (port.number - local) * self.switches + port.switch
        if rank + 1 >= self.groups:
            return None
        group = other_at(rank, port.group)
        hop, switch = divmod(rank_of(port.group, group), self.switches)
        return Port(group, switch, local + hop)

    def all_ports(self, first=0):
        """Pairs of a place and the port there."""
        places = self.groups * self.switches * self.ports
        return ((place, self.port_at(place)) for place in range(first, places))

    def port_of(self, name):
        """The port, or the first one of the switch, that the name begins with; or None."""
        match = NAME.match(name)
        port = Port(*(int(number or 0) for number in match.groups())) if match else None
        inside = port and port.group < self.groups and port.switch < self.switches and \
            port.number < self.ports
        return port if inside else None

    # The members of a list, from a place on: pairs of a place and a name.

    def partition_members(self, first):
        return enumerate(["default", *sorted(self.others)][first:], first)

    def default_members(self, first):
        return enumerate(["default"][first:], first)

    def policy_members(self, first):
        return enumerate(["edge", "fabric"][first:], first)

    def switch_members(self, first):
        return ((place, self.port_at(place * self.ports).switch_name())
                for place in range(first, self.groups * self.switches))

    def port_members(self, first):
        return ((place, port.name()) for place, port in self.all_ports(first))

    def link_members(self, first):
        """Each at the place of its lower end."""
        for place, port in self.all_ports(first):
            peer = self.peer_of(port)
            if peer and port <= peer:
                yield place, link_name(port, peer)

    # The document of a member, without the fields that are the same everywhere; None: there is
    # none of this name.

    def partition(self, name):
        if name in self.others:
            return {"partitionName": name, "vniRanges": self.others[name], "edgePortDFA": []}
        return {**BLOCK, "edgePortDFA": [port.dfa() for _, port in self.all_ports()
                                         if not self.peer_of(port)]} if name == "default" else None

    def block(self, name):
        return dict(BLOCK) if name == "default" else None

    def switch(self, name):
        port = self.port_of(name)
        if not port or port.switch_name() != name:
            return None
        return {"groupNumber": port.group, "switchNumber": port.switch, "portLinks": [
            port._replace(number=number).link() for number in range(self.ports)]}

    def port(self, name):
        port = self.port_of(name)
        if not port or port.name() != name:
            return None
        peer = self.peer_of(port)
        kind = "fabric" if peer else "edge"
        document = {"groupNumber": port.group, "switchNumber": port.switch,
                    "portNumber": port.number, "DFA": port.dfa(), "portType": kind,
                    "portPolicyLink": "/fabric/port-policies/" + kind,
                    "switchLink": port.switch_link()}
        if peer:
            document["linkLink"] = "/fabric/links/" + link_name(port, peer)
        else:  # the 20 bits by which a tree's macs name a NIC are as many as those of the DFA
            document["macAddress"] = nic_long(port.dfa() >> 12)
        return document

    def link(self, name):
        port = self.port_of(name)
        peer = self.peer_of(port) if port else None
        if not peer or port > peer or link_name(port, peer) != name:
            return None
        return {"linkType": "local" if port.group == peer.group else "global",
                "portLinks": [port.link(), peer.link()]}

    def topology(self, name):
        return {"topology": "dragonfly", "groups": self.groups, "switchesPerGroup": self.switches,
                "portsPerSwitch": self.ports} if name == "default" else None

    def policy(self, name):
        return {"portType": name} if name in ("edge", "fabric") else None

    def telemetry(self, name):
        port = self.port_of(name)
        if not port or port.switch_name() != name:
            return None
        return {"switchLink": port.switch_link(), "portsOnline": self.ports}

    COLLECTIONS = (
        ("/fabric/vni/partitions", "VniPartition", partition_members, partition),
        ("/fabric/vni/blocks", "VniBlock", default_members, block),
        ("/fabric/switches", "Switch", switch_members, switch),
        ("/fabric/ports", "Port", port_members, port),
        ("/fabric/links", "Link", link_members, link),
        ("/fabric/topology-maps", "TopologyMap", default_members, topology),
        ("/fabric/port-policies", "PortPolicy", policy_members, policy),
        ("/switch-telemetry", "SwitchTelemetry", switch_members, telemetry),
    )

    def document_of(self, collection, name):
        """None: there is none of this name, or the control has taken it away."""
        base, kind, _, describe = collection
        path = "%s/%s" % (base, name)
        change = self.changed.get(path, UNCHANGED)
        document = None if change.state == "absent" else describe(self, name)
        if document is None:
            return None
        if base in STATEFUL:
            document["state"] = change.state
        document["documentSelfLink"] = path
        return with_tail(document, "com:mock-fm:fabric:" + kind, change.version, change.updated_us)

    def list_of(self, collection, request):
        base, _, members, _ = collection
        # The key of the page is one more than the place.
        after = request.after + (1 if request.shifting and request.after else 0)
        rows = ((place + 1, name) for place, name in members(self, after)
                if "%s/%s" % (base, name) not in self.changed or
                self.document_of(collection, name) is not None)
        if request.half:
            whole = sum(1 for _ in members(self, 0))
            rows = itertools.islice(rows, max(whole // 2 - request.after, 0))
        version, updated_us = self.versions.get(base, (1, 0))
        page = list_page(request, base, rows, version, updated_us)
        if request.expand:
            page["documents"] = {link: self.document_of(collection, below(link, base))
                                 for link in page["documentLinks"]}
        return page

    def read(self, path, request):
        """The list of links, a page of it if the request says so; or the document of a member."""
        collection = find_collection(path)
        name = below(path, collection[0])
        if not name:
            return self.list_of(collection, request)
        document = self.document_of(collection, name)
        if document is None:
            raise Problem(404, "nothing of this name in %s: %.64s" % (collection[0], name))
        return document

    def set_others(self, others, now_us):
        self.others = others
        self.versions["/fabric/vni/partitions"] = (
            self.versions.get("/fabric/vni/partitions", (1, 0))[0] + 1, now_us)

    def change(self, path, state, now_us):
        """What the control does: a switch, port or link has another state, or is absent."""
        collection = find_collection(path)
        if not collection or collection[0] not in STATEFUL or \
                collection[3](self, below(path, collection[0])) is None:
            raise Problem(404, "there is no switch, port or link %.128s" % path)
        version = self.versions.get(collection[0], (1, 0))[0] + 1
        self.changed[path] = Change(state, self.changed.get(path, UNCHANGED).version + 1, now_us)
        self.versions[collection[0]] = (version, now_us)


def find_collection(path):
    for collection in Inventory.COLLECTIONS:
        if below(path, collection[0]) is not None:
            return collection
    return None


def owns(path):
    """Whether this path (without the gateway's prefix) is a list such as /fabric/switches, or
    below one."""
    return find_collection(path) is not None
