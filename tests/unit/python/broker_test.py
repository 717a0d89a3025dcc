# SPDX-License-Identifier: Apache-2.0
"""The calls, to a real mcastd (F9, F16)."""
import gc
import os
import pickle
import unittest.mock

import case
import mcast


class Jobs(case.Case):
    def test_reserve_show_release(self):
        made = self.reserve("fA", vnis=2, hwcoll="on", traffic_classes=["low_latency"])
        self.assertEqual((made.cluster, made.job, made.state), ("elcap", "fA", "active"))
        self.assertEqual(len(made.vnis), 2)
        self.assertEqual(made.addresses, 23)
        self.assertEqual(made.traffic_classes, ["low_latency"])
        shown = self.broker.show("elcap", "fA")
        self.assertEqual(shown.vnis, made.vnis)
        self.assertIsNone(shown.released)
        self.assertIsNone(shown.something_of_a_later_release)
        with self.assertRaisesRegex(mcast.Refused, "has reservation"):
            self.broker.release("elcap", "fA", number=shown.number + 1)
        self.assertEqual(self.broker.release("elcap", "fA", shown.number).state, "releasing")
        case.wait_until("it is gone", lambda: self.broker.list(state="active") == [])

    def test_ineligible_says_why(self):
        made = self.reserve("fB", nodes="n1")
        self.assertEqual(made.hwcoll["state"], "ineligible")
        self.assertIn("need at least 2", made.hwcoll["reason"])
        self.assertEqual(made.addresses, 0)
        self.assertEqual(made.env, {})

    def test_secrets_are_used_and_not_shown(self):
        made = self.reserve("fC")
        token = made.env["FI_CXI_COLL_MCAST_TOKEN"]
        self.assertGreater(len(token), 8)
        self.assertEqual(made.env.secret, {"FI_CXI_COLL_MCAST_TOKEN"})
        env = self.broker.env("elcap", "fC", "/fC/fD")
        self.assertEqual(env["FI_CXI_COLL_JOB_STEP_ID"], "/fC/fD")
        own = mcast.Broker(self.url, token=token)
        self.assertEqual(own.own().job, "fC")
        for shown in (made, made.env, made.fields, env, own, {"env": env}, [made.env]):
            for text in (repr(shown), str(shown), "%s" % (shown,), "{}".format(shown)):
                self.assertNotIn(token, text)
        self.assertIn("***", repr(env))
        with self.assertRaises(TypeError):
            pickle.dumps(env)
        with self.assertRaises(mcast.Refused) as caught:
            mcast.Broker(self.url, token=token[:-1] + "x").own()
        self.assertNotIn(token[:-1], str(caught.exception))
        own.close()

    def test_list(self):
        for job, nodes in (("f1", "n1"), ("f2", "n[1-2]"), ("f3", "n3")):
            self.reserve(job, nodes=nodes)
        self.assertEqual([one.job for one in self.broker.list()], ["f1", "f2", "f3"])
        self.assertEqual([one.job for one in self.broker.list(limit=2)], ["f1", "f2"])
        self.assertEqual([one.job for one in self.broker.list(node="n1")], ["f1", "f2"])
        self.assertEqual(self.broker.list(uid=os.getuid() + 1), [])

    def test_others(self):
        self.assertEqual(self.broker.whoami()["uid"], os.getuid())
        self.assertEqual(self.broker.options()["hwcoll"]["min_nodes"], 2)
        self.assertIn("findings", self.broker.doctor())
        made = self.broker.vni_create("daos", users=[4711], any_user=False)
        self.assertEqual(self.broker.vni("daos")["vni"], made["vni"])
        self.assertEqual([one["name"] for one in self.broker.vnis()], ["daos"])
        self.assertEqual(self.reserve("fS", shared_vnis=["daos"]).vnis[-1], made["vni"])
        self.assertEqual(self.broker.release("elcap", "fS").state, "releasing")
        self.broker.vni_remove("daos", when_unused=True)
        self.assertEqual(self.broker.nodes(), [])


class Errors(case.Case):
    def test_words_are_the_brokers(self):
        with self.assertRaises(mcast.NotFound) as caught:
            self.broker.show("elcap", "f9")
        self.assertEqual(caught.exception.status, 404)
        self.assertFalse(caught.exception.later)
        with self.assertRaises(mcast.Refused) as caught:
            self.reserve("fA", traffic_classes=["best_efort"])
        self.assertEqual(caught.exception.field, "traffic_classes[0]")
        self.assertIn("low_latency", str(caught.exception))
        with self.assertRaises(mcast.UsageError) as caught:
            self.broker.show("No Cluster", "f9")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(mcast.UsageError):
            mcast.Broker("gopher://x")

    def test_broker_that_is_away(self):
        away = mcast.Broker("unix:" + self.path("nobody"))
        with self.assertRaises(mcast.Unreachable) as caught:
            away.status()
        self.assertEqual(caught.exception.word, "no-connection")
        self.assertTrue(caught.exception.later)
        away.close()

    def test_closed_and_wrong_types(self):
        with mcast.Broker(self.url) as broker:
            broker.status()
        with self.assertRaises(ValueError):
            broker.status()
        with self.assertRaises(TypeError):
            self.reserve("fA", traffic_classes="low_latency")
        with self.assertRaises(ValueError):
            self.broker.show("elcap", "f\0")

    def test_failure_in_a_callback_is_raised(self):
        self.reserve("fA")
        with unittest.mock.patch("mcast.reservation.read", side_effect=ZeroDivisionError):
            with self.assertRaises(ZeroDivisionError):
                self.broker.list()

    def test_answers_are_freed(self):
        """Each is more than 1,000 bytes, twice."""
        self.reserve("fA")

        def resident(calls):
            for _ in range(calls):
                self.broker.show("elcap", "fA")
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        before = resident(500)
        self.assertLess(resident(4000) - before, 2000000)

    def test_many_handles_are_freed(self):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(50):
            mcast.Broker(self.url).status()
        gc.collect()
        self.assertLess(len(os.listdir("/proc/self/fd")), before + 10)


if __name__ == "__main__":
    case.run()
