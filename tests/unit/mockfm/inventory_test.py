# SPDX-License-Identifier: Apache-2.0
"""The synthetic fabric that the mock fabric manager lets one read."""

import unittest

from case import Case

from mock_fm.inventory import Inventory, owns
from mock_fm.message import Request

BASES = ("/fabric/vni/partitions", "/fabric/vni/blocks", "/fabric/switches", "/fabric/ports",
         "/fabric/links", "/fabric/topology-maps", "/fabric/port-policies", "/switch-telemetry")


def read(inventory, path, **query):
    return inventory.read(path, Request("GET", path, **query))


def links(inventory, base):
    document = read(inventory, base)
    assert document["documentCount"] == len(document["documentLinks"])
    return document["documentLinks"]


class Fabric(Case):
    def test_list__is_as_long_as_the_size_says(self):
        small, one, large = Inventory("2x2x4"), Inventory("1x1x1"), Inventory("9x4x12")
        self.assertEqual([len(links(small, base)) for base in BASES], [1, 1, 4, 16, 3, 1, 2, 4])
        self.assertEqual((len(links(one, "/fabric/ports")), links(one, "/fabric/links")), (1, []))
        # Six pairs of switches in each group, and 36 pairs of groups.
        self.assertEqual(len(links(large, "/fabric/links")), 9 * 6 + 36)

    def test_member__is_what_its_link_says(self):
        inventory = Inventory("5x3x6")
        for base in BASES:
            for link in links(inventory, base):
                shown = read(inventory, link)
                self.assertEqual(shown["documentSelfLink"], link)
                self.assertTrue(shown["documentKind"].startswith("com:mock-fm:fabric:"))

    def test_link__joins_two_ports_that_know_it(self):
        """Both ends of a link name it, so no port is the end of two."""
        inventory = Inventory("9x4x12")
        for link in links(inventory, "/fabric/links"):
            shown = read(inventory, link)
            ends = [read(inventory, port) for port in shown["portLinks"]]
            for end in ends:
                self.assertEqual((end["linkLink"], end["portType"]), (link, "fabric"))
                self.assertNotIn("macAddress", end)
            self.assertLess(ends[0]["DFA"], ends[1]["DFA"])
            local = ends[0]["groupNumber"] == ends[1]["groupNumber"]
            self.assertEqual(shown["linkType"], "local" if local else "global")

    def test_port__has_its_dfa(self):
        """(group << 23) | (switch << 18) | (port << 12), up to the last bit."""
        inventory = Inventory("512x32x64")
        last = read(inventory, "/fabric/ports/g511s31p63")
        self.assertEqual((last["DFA"], last["macAddress"], last["switchLink"]),
                         (0xFFFFF000, "00:00:00:0F:FF:FF", "/fabric/switches/g511s31"))
        self.assertEqual(last["portPolicyLink"], "/fabric/port-policies/edge")
        other = read(inventory, "/fabric/ports/g3s2p1")
        self.assertEqual(other["DFA"], 3 << 23 | 2 << 18 | 1 << 12)

    def test_partition__has_every_edge_port_and_no_other(self):
        inventory = Inventory("2x2x4")
        partition = read(inventory, "/fabric/vni/partitions/default")
        ports = [read(inventory, link) for link in links(inventory, "/fabric/ports")]
        edge = [port["DFA"] for port in ports if port["portType"] == "edge"]
        self.assertEqual((partition["partitionName"], partition["vniRanges"]),
                         ("default", ["1024-65535"]))
        self.assertEqual(partition["edgePortDFA"], edge)
        self.assertEqual(len(edge), 16 - 2 * 3)  # two ends of each of three links

    def test_member__that_is_unknown_is_404(self):
        inventory = Inventory("2x2x4")
        for path in ("/fabric/switches/g2s0", "/fabric/switches/g0s0p0", "/fabric/switches/g0s00",
                     "/fabric/ports/g0s0", "/fabric/ports/g0s0p4", "/fabric/ports/g0s2p0",
                     "/fabric/ports/g0s0p0x", "/fabric/links/g0s0p0", "/fabric/links/g0s0p2-g1s0p2",
                     "/fabric/links/g0s1p0-g0s0p0", "/fabric/vni/partitions/other",
                     "/fabric/vni/blocks/x", "/fabric/topology-maps/x", "/fabric/port-policies/x",
                     "/switch-telemetry/g9s9"):
            self.assert_refused(404, "nothing of this name", read, inventory, path)

    def test_path__of_another_sort_is_not_in_it(self):
        for path in ("/fabric/switchesx", "/fabric/vni", "/fabric"):
            self.assertFalse(owns(path))
        self.assertEqual(len(links(Inventory("2x2x4"), "/fabric/switches/")), 4)

    def test_list__comes_in_pages(self):
        """Also where places are empty, as most of those of links are."""
        inventory, seen, after = Inventory("9x4x12"), [], 0
        whole = links(inventory, "/fabric/links")
        while after is not None and len(seen) <= len(whole):
            page = read(inventory, "/fabric/links", page_size=7, after=after)
            self.assertTrue(1 <= len(page["documentLinks"]) <= 7)
            seen += page["documentLinks"]
            following = page.get("nextPageLink")
            after = int(following.rpartition("=")[2]) if following else None
        self.assertEqual(seen, whole)


if __name__ == "__main__":
    unittest.main()
