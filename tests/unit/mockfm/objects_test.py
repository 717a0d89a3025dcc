# SPDX-License-Identifier: Apache-2.0
"""The rules of the mock fabric manager (reservations, trees, roots, the three kinds of 507), its
state file, and states that are put back."""

import os
import stat
import unittest

from case import Case

from mock_fm.journal import Journal
from mock_fm.objects import MCAST_IDS, Objects, Replica, nic_long, nic_parse, nic_short


def job(job_id, serial, limit=4, token="sess-1", at=7):
    return {"op": "job", "at": at, "job": job_id, "token": token, "limit": limit, "serial": serial,
            "version": 0}


def tree(job_id, step, macs, mcast_id=None, root=None, at=8):
    change = {"op": "tree", "at": at, "job": job_id, "step": step, "vni": 1024,
              "timeout": 20000000, "macs": list(macs)}
    return change if mcast_id is None else {**change, "mcastID": mcast_id, "root": root}


def gone(job_id):
    return {"op": "job-gone", "at": 0, "job": job_id}


class Rules(Case):
    def reserve(self, objects, job_id, limit):
        objects.may_reserve(job_id, limit)
        objects.apply(job(job_id, objects.last_serial + 1, limit))

    def grow(self, objects, job_id, step, first, count):
        """Makes a tree over NICs first … first + count - 1, and returns it."""
        change = tree(job_id, step, range(first, first + count))
        objects.may_grow(change)
        objects.apply(change)
        return objects.trees[change["mcastID"]]

    def test_job__id_exists_once(self):
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 10)
        self.assert_refused(409, "job c-1 exists", self.reserve, objects, "c-1", 10)
        objects.apply(gone("c-1"))
        self.assertEqual(objects.jobs, {})
        self.reserve(objects, "c-1", 10)

    def test_job__bad_ids_and_limits_are_refused(self):
        objects = Objects(100, False)
        for bad in ("", 'a"b', "a\\b", "a/b", "a\nb", "x" * 256, "é" * 128):
            self.assert_refused(400, "jobID", objects.may_reserve, bad, 1)
        objects.may_reserve("x" * 255, 1)
        for limit in (0, -5, MCAST_IDS + 1):
            self.assert_refused(400, "mcastLimit", objects.may_reserve, "c-1", limit)

    def test_job__pool_is_reserved_exactly(self):
        objects = Objects(46, False)
        self.reserve(objects, "c-1", 23)
        self.assert_refused(507, "02:", self.reserve, objects, "c-2", 24)
        self.reserve(objects, "c-2", 23)
        self.assert_refused(507, "02:", self.reserve, objects, "c-3", 1)
        objects.apply(gone("c-1"))
        self.assertEqual(objects.reserved, 23)
        self.reserve(objects, "c-3", 1)

    def test_job__many_are_found_in_the_order_made(self):
        objects = Objects(MCAST_IDS, False)
        for i in range(5000):
            self.reserve(objects, "c-%d" % i, 1)
        for i in range(0, 5000, 2):
            objects.apply(gone("c-%d" % i))
        self.assertEqual(list(objects.jobs), ["c-%d" % i for i in range(1, 5000, 2)])

    def test_tree__root_is_one_of_its_nics(self):
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 10)
        self.assertEqual(self.grow(objects, "c-1", "0", 500, 3).root, 500)
        # A NIC is the root of one tree only, so the next tree has the next one.
        self.assertEqual(self.grow(objects, "c-1", "0", 500, 3).root, 501)

    def test_tree__limit_of_the_job_is_507_01(self):
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 2)
        first = self.grow(objects, "c-1", "0", 100, 4)
        self.grow(objects, "c-1", "0", 100, 4)
        self.assert_refused(507, "01:", self.grow, objects, "c-1", "0", 100, 4)
        objects.apply({"op": "tree-gone", "at": 0, "mcastID": first.mcast_id})
        self.grow(objects, "c-1", "0", 100, 4)

    def test_tree__empty_pool_is_507_02(self):
        objects = Objects(2, True)
        self.reserve(objects, "c-1", 2)
        self.reserve(objects, "c-2", 2)
        self.grow(objects, "c-1", "0", 100, 4)
        self.grow(objects, "c-1", "0", 100, 4)
        self.assert_refused(507, "02:", self.grow, objects, "c-2", "0", 200, 4)

    def test_tree__no_free_root_is_507_03_or_400(self):
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 10)
        self.reserve(objects, "c-2", 10)
        self.grow(objects, "c-1", "0", 100, 1)
        self.assert_refused(507, "03:", self.grow, objects, "c-2", "0", 100, 1)
        self.assert_refused(400, "hw root in use", self.grow, objects, "c-1", "1", 100, 1)
        # The other job's deletion gives its root back.
        objects.apply(gone("c-1"))
        self.grow(objects, "c-2", "0", 100, 1)

    def test_tree__nics_are_named_once(self):
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 10)
        self.assert_refused(400, "macs names 0:00:07 twice", objects.may_grow,
                            tree("c-1", "0", [7, 9, 7]))

    def test_tree__ids_go_round(self):
        objects = Objects(3, False)
        self.reserve(objects, "c-1", 3)
        first = self.grow(objects, "c-1", "0", 100, 4).mcast_id
        objects.apply({"op": "tree-gone", "at": 0, "mcastID": first})
        self.assertNotEqual(self.grow(objects, "c-1", "0", 100, 4).mcast_id, first)

    def test_step__goes_alone(self):
        """F19: cleaning up one step touches no other, nor another job's of the same name."""
        objects = Objects(100, False)
        self.reserve(objects, "c-1", 10)
        self.reserve(objects, "c-2", 10)
        self.grow(objects, "c-1", "/fA", 100, 4)
        kept = self.grow(objects, "c-1", "/fA/fB", 100, 4)
        self.grow(objects, "c-1", "/fA", 100, 4)
        other = self.grow(objects, "c-2", "/fA", 200, 4)
        objects.apply({"op": "step-gone", "at": 0, "job": "c-1", "step": "/fA"})
        self.assertEqual(objects.jobs["c-1"].trees, [kept])
        self.assertEqual(sorted(objects.trees), sorted([kept.mcast_id, other.mcast_id]))

    def test_change__that_contradicts_is_refused(self):
        objects = Objects(100, False)
        grown = tree("c-9", "0", [5], 0, 5)
        for change in (grown, gone("c-9"), {"op": "tree-gone", "at": 0, "mcastID": 3}, None, {},
                       {"op": "other"}, {**job("c-1", 1), "limit": True}):
            self.assertRaises(ValueError, objects.apply, change)
        self.reserve(objects, "c-9", 10)
        objects.apply(grown)
        # Another id, but the same root; or a serial that was.
        self.assertRaises(ValueError, objects.apply, {**grown, "mcastID": 1})
        self.assertRaises(ValueError, objects.apply, job("c-1", 1))

    def test_nic__has_three_groups_of_20_bits(self):
        self.assertEqual(nic_parse("F:AB:cd"), 0xFABCD)
        self.assertEqual(nic_short(0xFABCD), "F:AB:CD")
        self.assertEqual(nic_long(0xFABCD), "00:00:00:0F:AB:CD")
        for bad in ("", "1:12", "1:12:00:00", "10:12:00", "1:123:0", "1:-1:00", "1: 1:00",
                    "0x1:12:00", "1:12:0g", "1:12:00 ", "1::00", ":12:00", "1:0x1:00", "1.12.00",
                    "1:12:00\n", 7, None):
            self.assertIsNone(nic_parse(bad))

    def test_replica__knows_what_was(self):
        objects = Objects(100, False)
        objects.apply(job("c-0", 1))
        replica = Replica(objects)
        for change in (job("c-1", 2, at=5000), gone("c-0"), job("c-2", 3, at=9000)):
            replica.add(change)
        seen = [((0, 0), 9000, ["c-1", "c-2"]), ((0, 1), 9000, ["c-1"]),
                ((0, 2), 9000, ["c-0", "c-1"]), ((0, 99), 9000, ["c-0"]),
                ((1, 0), 9999, ["c-1"]), ((1, 0), 10000, ["c-1", "c-2"]),
                ((5, 0), 9000, ["c-0"]), ((5, 1), 20000, ["c-1"])]
        for lag, now_us, jobs in seen:
            self.assertEqual(list(replica.objects(lag, now_us).jobs), jobs)


class State(Case):
    def setUp(self):
        self.path = os.path.join(self.make_folder(), "state")

    def open(self):
        journal = Journal(self.path, Objects(100, False))
        return journal, journal.objects

    def make(self, journal, *changes):
        for change in changes:
            journal.append(change)
            journal.objects.apply(change)

    def lines(self):
        with open(self.path, "rb") as file:
            return file.read().count(b"\n")

    def append_text(self, text):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text)

    def test_objects__are_there_again(self):
        journal, objects = self.open()
        self.make(journal, job("c-1", 1, token="sess-secret"), job("c-2", 2), job("c-3", 3),
                  tree("c-1", "/fA/fB", [7, 0xFABCD], 7, 7), tree("c-2", "0", [8], 8, 8),
                  tree("c-3", "0", [9], 9, 9), {"op": "tree-gone", "at": 9000, "mcastID": 8},
                  gone("c-3"))
        version = objects.jobs["c-2"].version
        os.close(journal.fd)
        # Twice: the second start reads what the first one rewrote.
        for _ in range(2):
            journal, objects = self.open()
            first, second = objects.jobs.values()
            self.assertEqual((objects.last_serial, objects.next_mcast_id), (3, 10))
            self.assertEqual((first.id, first.token, first.limit), ("c-1", "sess-secret", 4))
            self.assertEqual((second.id, second.version, second.updated_us), ("c-2", version, 9000))
            (grown,) = objects.trees.values()
            self.assertEqual((grown.job, grown.mcast_id, grown.step, grown.root, grown.vni,
                              grown.timeout_us, grown.macs),
                             (first, 7, "/fA/fB", 7, 1024, 20000000, [7, 0xFABCD]))
            os.close(journal.fd)

    def test_line__cut_short_is_dropped(self):
        """A kill in the middle of a write leaves half a line, which was never acknowledged."""
        journal, _ = self.open()
        self.make(journal, job("c-1", 1))
        os.close(journal.fd)
        self.append_text('{"op":"job-gone","jo')
        journal, objects = self.open()
        self.assertIn("c-1", objects.jobs)
        self.make(journal, job("c-2", 2))
        os.close(journal.fd)
        self.assertEqual(list(self.open()[1].jobs), ["c-1", "c-2"])

    def test_file__damaged_is_refused_by_line(self):
        damages = ["nonsense", '{"op":"other","at":1}', '{"op":"job-gone","job":"x","at":1}',
                   '{"op":"tree","job":"c-1","step":"0","mcastID":9999,"root":1,"vni":1,'
                   '"timeout":1,"macs":[1],"at":1}',
                   '{"op":"tree","job":"c-1","step":"0","mcastID":9,"root":1,"vni":1,"timeout":1,'
                   '"macs":[1048576],"at":1}']
        for damage in damages:
            if os.path.exists(self.path):
                os.unlink(self.path)
            journal, _ = self.open()  # writes one line
            self.make(journal, job("c-1", 1))
            os.close(journal.fd)
            self.append_text(damage + "\n")
            self.assert_refused(500, self.path + ":3:", self.open)

    def test_file__belongs_to_one_process_and_its_owner(self):
        self.open()
        self.assert_refused(500, "in use", self.open)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assert_refused(500, "/nonexistent/state", Journal, "/nonexistent/state", None)

    def test_file__stays_short(self):
        journal, _ = self.open()
        self.make(journal, job("stays", 1))
        for serial in range(2, 60002):
            self.make(journal, job("c-1", serial), gone("c-1"))
        self.assertLess(self.lines(), 60000)
        os.close(journal.fd)
        _, objects = self.open()
        self.assertEqual((list(objects.jobs), objects.last_serial), (["stays"], 60001))
        self.assertEqual(self.lines(), 2)


if __name__ == "__main__":
    unittest.main()
