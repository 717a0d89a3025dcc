# SPDX-License-Identifier: Apache-2.0
"""The broker's events as an iterator."""
import ctypes
import json
import queue
import threading

from . import cdecl
from .error import Stopped
from .library import call, lib, text_of, words_of

_AHEAD = 1000  # events that wait for the program
_END = object()


class _Stream:
    """What the thread and the iterator share; the iterator is not in it, so that one that is
    forgotten ends its thread."""

    def __init__(self, handle):
        self.handle = handle
        self.queue = queue.Queue(_AHEAD)
        self.over = threading.Event()

    def put(self, item):
        while not self.over.is_set():
            try:
                return self.queue.put(item, timeout=1)
            except queue.Full:
                pass

    def run(self, after, flags, selection):
        failed = []

        def each(event, _):
            try:
                self.put(json.loads(event.contents.json.decode("utf-8", "replace")))
            except BaseException as error:  # nothing may leave a callback of C
                failed.append(error)
            return 1 if failed or self.over.is_set() else 0

        try:
            call("mcast_events_filtered", self.handle, after, flags, ctypes.byref(selection),
                 cdecl.TYPES["mcast_event_fn"](each), None)
            end = failed[0] if failed else _END
        except Exception as error:
            end = error
        self.put(end)


class Events:
    """Iterates over events, each a dict as GET /v1/events has it. `last` is the number of the last
    one that was given out: begin with it as `after` the next time. To be closed, or used with
    `with`."""

    def __init__(self, open_handle, after, follow, own, cluster, job, kinds):
        self.last = after
        # The struct points to the words; both live as long as the thread does.
        words = words_of(kinds)
        selection = cdecl.struct("mcast_event_filter", cluster=text_of(cluster), job=text_of(job),
                                 kinds=words)
        flags = ((cdecl.CONSTANTS["MCAST_FOLLOW"] if follow else 0) |
                 (cdecl.CONSTANTS["MCAST_OWN_EVENTS"] if own else 0))
        self._stream = _Stream(open_handle())
        self._thread = threading.Thread(target=self._stream.run, args=(after, flags, selection),
                                        daemon=True)
        self._thread.start()

    def __iter__(self):
        return self

    def __next__(self):
        stream = self._stream
        if stream is None:
            raise StopIteration
        event = stream.queue.get()
        if isinstance(event, dict):
            self.last = event.get("seq") or self.last
            return event
        self.close()
        if event is _END or isinstance(event, Stopped):
            raise StopIteration
        raise event

    def close(self):
        stream, self._stream = getattr(self, "_stream", None), None
        if stream is None:
            return
        stream.over.set()
        lib().mcast_stop(stream.handle)
        while self._thread.is_alive():
            try:
                stream.queue.get_nowait()  # room for what the thread is just putting there
            except queue.Empty:
                self._thread.join(0.05)
        lib().mcast_close(stream.handle)
        try:
            stream.queue.put_nowait(_END)  # for another thread that waits in next()
        except queue.Full:
            pass  # that one has something to take

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()
