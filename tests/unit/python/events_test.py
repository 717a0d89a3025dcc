# SPDX-License-Identifier: Apache-2.0
"""Events as an iterator, to a real mcastd that is killed meanwhile (F22)."""
import gc
import os
import threading

import case
import mcast


class Events(case.Case):
    def test_those_that_are_kept(self):
        self.reserve("fA")
        self.reserve("fB", nodes="n1")
        kinds = [event["event"] for event in self.broker.events()]
        self.assertEqual(kinds, ["link-up", "reserved", "reserved"])
        one, = self.broker.events(job="fB", cluster="elcap")
        self.assertIn("need at least 2", one["detail"])
        events = self.broker.events(kinds=["reserved"])
        self.assertEqual([event["seq"] for event in events], [2, 3])
        self.assertEqual(events.last, 3)
        self.assertEqual(list(self.broker.events(after=3)), [])

    def test_follow_over_a_restart(self):
        with self.broker.events(follow=True, kinds=["reserved", "released"]) as events:
            self.reserve("fA")
            self.assertEqual(next(events)["job"], "fA")
            self.process.kill()
            self.process.wait()
            self.start_broker()
            case.wait_until("it is back", self.link_is_up)
            self.reserve("fB")
            self.assertEqual(next(events)["job"], "fB")
        self.assertEqual(list(events), [])

    def test_close_ends_it_from_another_thread_and_when_forgotten(self):
        begin = threading.active_count()
        events = self.broker.events(follow=True)
        self.assertEqual(next(events)["event"], "link-up")
        events.close()
        del events
        forgotten = self.broker.events(follow=True)
        next(forgotten)
        del forgotten
        case.wait_until("no thread is left", lambda: threading.active_count() == begin)

    def test_close_ends_a_thread_that_waits_for_the_next(self):
        events = self.broker.events(follow=True)
        self.assertEqual(next(events)["event"], "link-up")
        reader = threading.Thread(target=lambda: list(events), daemon=True)
        reader.start()
        waiters = events._stream.queue.not_empty._waiters
        case.wait_until("it waits", lambda: waiters)
        events.close()
        reader.join(60)
        self.assertFalse(reader.is_alive())

    def test_what_is_refused_leaves_nothing_open(self):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with self.assertRaises(TypeError):
                self.broker.events(kinds="reserved")
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_refusal_is_raised(self):
        with self.assertRaises(mcast.Refused) as caught:
            list(self.broker.events(after=4711))
        self.assertEqual(caught.exception.word, "no-such-event")
        with self.assertRaises(mcast.UsageError):
            list(self.broker.events(kinds=["No Word"]))

    def test_more_than_wait_for_the_program(self):
        for number in range(600):
            self.reserve("f%d" % number, nodes="n1")
            self.broker.release("elcap", "f%d" % number)
        with self.broker.events() as events:
            next(events)  # the rest waits, and is given up
        self.assertGreater(sum(1 for _ in self.broker.events()), 1000)


if __name__ == "__main__":
    case.run()
