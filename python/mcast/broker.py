# SPDX-License-Identifier: Apache-2.0
"""The calls."""
import ctypes
import json

from . import cdecl, reservation
from .events import Events
from .library import call, call_json, lib, text_of, words_of

_ANY = 2**32 - 1


def _milliseconds(seconds):
    return max(1, int(seconds * 1000))


class Broker:
    """A broker, or several of which one leads. Nothing is sent before the first call.

    url: "unix:/path", "https://host:port", or several with commas between them; None: MCAST_URL,
    or /run/mcastd/mcastd.sock. timeout: seconds for one answer (30). retry: for so many seconds a
    call is repeated while the broker is away or says "not now" (0). cacert, cert and key: PEM
    files, for a broker over TLS. server_user: who may serve its Unix socket. token: of one job, for
    own(). node: this host's name in node lists. What is None is taken from the environment, as
    mcastctl(1) does.

    One thread at a time uses a Broker. Every call waits, and raises mcast.Error."""

    def __init__(self, url=None, timeout=None, retry=None, cacert=None, cert=None, key=None,
                 server_user=None, token=None, node=None):
        self._handle = None
        self._settings = (url, timeout, retry, cacert, cert, key, server_user, token, node)
        self._handle = self._open()

    def _open(self):
        url, timeout, retry, cacert, cert, key, server_user, token, node = self._settings
        handle = ctypes.c_void_p()
        call("mcast_open", ctypes.byref(handle), text_of(url))
        try:
            if timeout is not None:
                call("mcast_set_timeout", handle, _milliseconds(timeout))
            if retry:
                call("mcast_set_retry_timeout", handle, _milliseconds(retry),
                     cdecl.TYPES["mcast_wait_fn"](), None)
            if cacert is not None:
                call("mcast_set_cacert", handle, text_of(cacert))
            if cert is not None or key is not None:
                call("mcast_set_certificate", handle, text_of(cert), text_of(key))
            for name, value in (("server_user", server_user), ("token", token), ("node", node)):
                if value is not None:
                    call("mcast_set_" + name, handle, text_of(value))
        except BaseException:
            lib().mcast_close(handle)
            raise
        return handle

    def close(self):
        handle, self._handle = self._handle, None
        if handle:
            lib().mcast_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self):
        return "<Broker %s>" % (self._settings[0] or "by MCAST_URL")

    # ---- calls, of which the handle is the first argument

    def _call(self, name, *arguments):
        if not self._handle:
            raise ValueError("this Broker is closed")
        return call(name, self._handle, *arguments)

    def _json(self, name, *arguments):
        if not self._handle:
            raise ValueError("this Broker is closed")
        return call_json(name, self._handle, *arguments)

    def _reservation(self, name, *arguments):
        found = ctypes.c_void_p()
        self._call(name, *(arguments + (ctypes.byref(found),)))
        try:
            return reservation.read(found)
        finally:
            lib().mcast_reservation_free(found)

    def _each(self, name, arguments, kind, convert):
        """All that the function calls back with."""
        found, failed = [], []

        def each(*given):
            try:
                found.append(convert(*given[:-1]))
                return 0
            except BaseException as error:  # nothing may leave a callback of C
                failed.append(error)
                return 1

        self._call(name, *(arguments + (cdecl.TYPES[kind](each), None)))
        if failed:
            raise failed[0]
        return found

    # ---- jobs

    def reserve(self, cluster, job, uid, nodes=None, node_count=0, cores_per_node=0, vnis=None,
                hwcoll=None, traffic_classes=None, interconnect=None, tasks_per_node=0,
                cpus_per_task=0, profile=None, shared_vnis=None):
        """For resource managers: a Reservation, with `env`. The same request again gets the same
        answer. A job without multicast addresses runs as well: see hwcoll and warning."""
        request = cdecl.struct(
            "mcast_request", cluster=text_of(cluster), job=text_of(job), uid=uid,
            node_count=node_count, cores_per_node=cores_per_node,
            vni_count=-1 if vnis is None else vnis, nodes=text_of(nodes), hwcoll=text_of(hwcoll),
            traffic_classes=words_of(traffic_classes), interconnect=text_of(interconnect),
            tasks_per_node=tasks_per_node, cpus_per_task=cpus_per_task, profile=text_of(profile),
            shared_vnis=words_of(shared_vnis))
        return self._reservation("mcast_reserve", ctypes.byref(request))

    def release(self, cluster, job, number=None):
        """For resource managers: all that the job had is given back in the background. With number
        only of the reservation that has it; Refused: the job's name is another one's now."""
        if number is None:
            return self._reservation("mcast_release", text_of(cluster), text_of(job))
        return self._reservation("mcast_release_number", text_of(cluster), text_of(job),
                                 ctypes.c_uint64(number))

    def show(self, cluster, job):
        """A Reservation; NotFound: there is none, or not for the caller."""
        return self._reservation("mcast_show", text_of(cluster), text_of(job))

    def own(self):
        """The Reservation that the token is for (`token`, or MCAST_TOKEN)."""
        return self._reservation("mcast_own")

    def list(self, cluster=None, state=None, uid=None, node=None, limit=0):
        """Every Reservation that the caller may see, by number. state: "active", "releasing"."""
        selection = cdecl.struct("mcast_filter", cluster=text_of(cluster), state=text_of(state),
                                 uid=_ANY if uid is None else uid, node=text_of(node), limit=limit)
        return self._each("mcast_list", (ctypes.byref(selection),), "mcast_reservation_fn",
                          reservation.read)

    def env(self, cluster, job, step=None):
        """The Environment of the tasks of a step."""
        found = self._each("mcast_env", (text_of(cluster), text_of(job), text_of(step)),
                           "mcast_variable_fn", lambda one: (
                               one.contents.name.decode(), one.contents.value.decode(),
                               one.contents.secret))
        return reservation.Environment([one[:2] for one in found],
                                       [name for name, _, secret in found if secret])

    def topology(self, cluster=None, job=None):
        """Which groups and switches the job spans; without names: that of the token."""
        return self._json("mcast_topology", text_of(cluster), text_of(job))

    def traffic(self, cluster=None, job=None):
        """What its nodes have counted on their NICs."""
        return self._json("mcast_job_traffic", text_of(cluster), text_of(job))

    # ---- shared VNIs

    def vnis(self):
        """Those that the caller may see, each a dict."""
        return self._json("mcast_vni_list")["vnis"]

    def vni(self, name):
        return self._json("mcast_vni_show", text_of(name))

    def vni_create(self, name, uid=None, any_user=False, users=(), clusters=None, lifetime=0):
        """Makes it, or changes it to this. lifetime: seconds that it takes new jobs for; 0: until
        it is removed."""
        users = list(users)
        array = (ctypes.c_uint32 * max(1, len(users)))(*users)
        request = cdecl.struct(
            "mcast_vni_request", name=text_of(name), uid=_ANY if uid is None else uid,
            any_user=any_user, users=array if users else None, user_count=len(users),
            clusters=words_of(clusters), lifetime_s=lifetime)
        return self._json("mcast_vni_create", ctypes.byref(request))

    def vni_remove(self, name, when_unused=False):
        return self._json("mcast_vni_remove", text_of(name), when_unused)

    # ---- the broker, and the fabric

    def status(self):
        return self._json("mcast_status")

    def whoami(self):
        """Who the broker takes the caller for."""
        return self._json("mcast_whoami")

    def options(self, cluster=None):
        """What a job may ask for."""
        return self._json("mcast_options", text_of(cluster))

    def doctor(self):
        """For administrators: the broker's findings."""
        return self._json("mcast_doctor")

    def fabric(self):
        """For administrators and resource managers: what the fabric consists of."""
        return self._json("mcast_fabric")

    def node(self, name):
        """For them: a node and its NICs."""
        return self._json("mcast_node", text_of(name))

    def nodes(self, cluster=None):
        """For them: all nodes, or those of the cluster, each a dict."""
        return self._each("mcast_nodes", (text_of(cluster),), "mcast_node_fn",
                          lambda name, text: json.loads(text.decode("utf-8", "replace")))

    def events(self, after=0, follow=False, cluster=None, job=None, kinds=None, own=False):
        """Events after that number (0: all that are kept), then, with follow, those to come. own:
        those of the token's job. See Events; it has a connection of its own."""
        return Events(self._open, after, follow, own, cluster, job, kinds)
