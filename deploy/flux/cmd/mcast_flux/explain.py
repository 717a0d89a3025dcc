# SPDX-License-Identifier: Apache-2.0
"""Why a job has what it has. Nothing is asked here: of facts, sentences are made."""
import difflib

SLOWER = "without them the job runs as well: its collectives are made by software, and slower"


class Facts:
    """What is known of a job; what could not be learnt is None."""

    def __init__(self, job, level=0, hooks=None, cluster=None, reservation=None, trouble=None,
                 options=None, status=None, events=()):
        self.job = job
        self.level = level              # of the instance: 0 is the system's
        self.hooks = hooks              # "plugin", "scripts", or None: not known
        self.cluster = cluster
        self.reservation = reservation  # the fields of the broker's answer
        self.trouble = trouble          # why there is none: mcast.Error
        self.options = options          # what a job may ask for
        self.status = status            # of the broker
        self.events = list(events)      # the broker's, of this job

    @property
    def away(self):
        return self.trouble is not None and self.trouble.status == 0

    @property
    def known(self):
        """Fields of the reservation: now, or as the job was told at its start."""
        told = self.job.published or self.job.memo
        if self.reservation and self.reservation.get("state") != "gone":
            if self.reservation.get("state") == "active" or self.reservation.get("vnis"):
                return self.reservation
            return dict(self.reservation, vnis=told.get("vnis", []))  # which it has no more
        if self.job.published.get("job"):
            return self.job.published
        memo = self.job.memo
        if not memo:
            return None
        hwcoll = {"state": memo.get("hwcoll", "off"), "reason": memo.get("reason"),
                  "addresses": memo.get("addresses", 0)}
        return {"vnis": memo.get("vnis", []), "hwcoll": hwcoll, "warning": memo.get("warning"),
                "number": memo.get("number")}

    @property
    def link(self):
        return ((self.status or {}).get("fabric_manager") or {}).get("link")


LONGEST = 600


def shortened(text):
    """What others wrote may be as long as they like."""
    return text if len(text) <= LONGEST else text[:LONGEST - 1] + "\u2026"


class Part:
    """One subject: a finding, and what the user can do."""

    def __init__(self, subject, finding, *steps):
        self.subject, self.finding = subject, shortened(finding)
        self.steps = [shortened(one) for one in steps if one]

    def lines(self):
        yield "%-12s %s" % (self.subject, self.finding)
        for step in self.steps:
            yield "%-12s -> %s" % ("", step)

    def json(self):
        return {"subject": self.subject, "finding": self.finding, "next": self.steps}


def _numbers(numbers):
    return ", ".join(str(number) for number in numbers)


def _is_off(option):
    return option == "off"


# ---- a job that has no reservation

def _chosen(option):
    wishes = ["-o mcast.%.20s=%.40s" % one for one in option.items()] if isinstance(option, dict) else []
    return ", this one by its " + ", ".join(wishes[:6]) if wishes else ""


def _nothing(facts):
    job = facts.job
    if _is_off(job.option):
        return Part("Reservation", "none: the job was submitted with -o mcast=off",
                    "submit it without that option")
    if facts.level > 0:
        return Part("Reservation",
                    "none of its own: this Flux runs within a job of another one, and jobs here use "
                    "what that job has" + _chosen(job.option),
                    "ask there: flux --parent mcast explain $(flux getattr jobid)")
    if job.on_hold:
        return Part("Reservation", "none yet: the job is held (urgency 0), and it is made when the job "
                    "has got its resources", "let it go: flux job urgency %s default" % job.id)
    if job.state.startswith("waiting"):
        return Part("Reservation", "none yet: it is made when the job has got its resources, before "
                    "its tasks start", "flux resource list shows what is free, and flux resource drain which "
                    "nodes are out of use, and why" if job.has("depend") else
                    "flux jobs shows what it depends on")
    if job.state == "starting" and (job.by_plugin or job.by_script):
        return _held(facts)
    if job.exception.get("type") != "mcast" and not job.has("start"):
        return Part("Reservation", "none: the job ended before it got its resources")
    if job.exception.get("type") == "mcast":
        return None
    without = job.event("without")
    if job.by_plugin or without:
        return Part("Reservation",
                    "none: mcastd did not answer while the job started%s; this Flux lets jobs start "
                    "without it then (optional)"
                    % (" (%s)" % without["reason"] if without.get("reason") else ""),
                    _broker_step(facts) or "mcastd answers now: submit the job again, or let it run "
                    "without",
                    "have it refused instead of that: -o mcast.hwcoll=required")
    return _no_hook(facts)


def _held(facts):
    held = [one for one in facts.job.held() if one in ("mcast", "job-manager.prolog")]
    if not held:
        return Part("Reservation", "not known yet: the job is just starting", "ask again")
    what = ("mcastd's answer" if "mcast" in held else
            "its prolog, which asks mcastd" if facts.hooks == "scripts" else "its prolog")
    return Part("Reservation", "none yet: the job's start waits for " + what,
                "mcastd does not answer: the job starts when it does, or is refused after the time "
                "that the site has set; it can be cancelled" if facts.away else
                "ask again in a moment")


def _no_hook(facts):
    job = facts.job
    if facts.reservation and facts.reservation.get("state") == "gone":
        return Part("Reservation", "given back: the job is over, and what it had is no longer known")
    if facts.hooks is None and not job.by_script:
        return Part("Reservation",
                    "none: no prolog asked mcastd for one when the job started. This Flux is not "
                    "set up for mcastd, or was not then",
                    "for the administrator: flux-config-mcast(5), and %s" % CHECK)
    return Part("Reservation",
                "none is known: nobody was told of one when the job started. Either mcastd did not "
                "answer then and this Flux lets jobs start without it (optional), or another "
                "prolog than mcastd's ran", _broker_step(facts),
                "for the administrator: journal of flux.service (\"runs without\"), and %s" % CHECK)


FREE = ("wait until other jobs have ended, and their nodes are clean, and submit it again: flux mcast "
        "status shows how many are free")
CHECK = "libexec/mcastd/flux/check --cluster NAME"


def _broker_step(facts):
    """What is wrong with mcastd now has a part of its own."""
    return "mcastd does not answer now either: tell the administrator" if facts.away else None


# ---- why it ended

def _remedy(facts, words):
    """What can be done about a refusal, by its words."""
    if "instance around this job" in words:
        return ["it is chosen when the instance is submitted: flux batch -o mcast…, flux alloc -o mcast…"]
    if "this Flux did not ask mcastd" in words:
        return ["for the administrator: flux-config-mcast(5), and %s" % CHECK]
    if "hardware collectives are required" in words:
        more = (_budget_steps(words) if "in use" in words else _size_step(facts, words) or
                [_link_step(facts, "wait until it is up, see flux mcast status, and submit the job again")])
        return [one for one in more[:1] if one] + ["with -o mcast.hwcoll=on it would have run, without them"]
    if words.startswith("traffic_classes"):
        return ["that is -o mcast.tc, such as -o mcast.tc=low_latency:best_effort"]
    if words.startswith("-o mcast"):
        return ["flux-shell-mcast(1) has all options"]
    if "which is drained now" in words:
        return ["it is the node that is at fault, and no job gets it until it is mended: submit the "
                "job again"]
    if "cannot reach mcastd" in words or "no connection" in words or "did not answer" in words:
        return [_broker_step(facts) or "mcastd answers now: submit the job again"]
    if words.startswith("failed to reserve"):
        return [FREE, "a job that needs none: -o mcast.vnis=0"]
    if "nodes could not be prepared" in words:
        return ["it is the node that is at fault: submit the job again, on others "
                "(--requires=-host:NODE), and tell the administrator what stands here"]
    return []


def _ending(facts):
    job = facts.job
    why = job.exception
    if why.get("type") == "mcast" and _was_lost(facts):
        return Part("Ended", "because its multicast addresses were lost")
    if why.get("type") == "mcast":
        note = why.get("note") or "without words"
        return Part("Refused", note, *_remedy(facts, note))
    note = why.get("note") or ""
    if note.startswith(("mcast: -o mcast", "mcast: hardware collectives are required")):
        return Part("Refused", note[7:], *_remedy(facts, note[7:]))
    if note.startswith("mcast: "):
        return Part("Ended", "before its tasks began, by mcastd's part on a node: " + note[7:],
                    "submit the job again; if it happens again, tell the administrator these words")
    if why and why.get("type") != "mcast":
        return Part("Ended", "by an exception of type %s, not by mcastd%s"
                    % (why.get("type"), ": " + note if note else ""))
    return None


# ---- collectives

def _was_lost(facts):
    note = facts.job.exception.get("note") or ""
    known = facts.known or {}
    return ((known.get("hwcoll") or {}).get("state") == "lost" or
            any(event.get("event") == "lost" for event in facts.events) or
            "no longer has its reservation" in note or "another reservation under its name" in note)


def _lost(facts):
    steps = ["submit the job again: others may be given what its tasks used, so they had to end",
             "a job without addresses cannot lose them: -o mcast.hwcoll=off",
             "for the administrator: mcastctl events --job %s, and the fabric manager's log"
             % facts.job.id]
    for event in facts.events:
        if event.get("event") == "lost":
            return Part("Collectives", "lost at %s: %s" % (event.get("time"), event.get("detail")),
                        *steps)
    note = facts.job.exception.get("note") or (facts.known or {}).get("hwcoll", {}).get("reason")
    return Part("Collectives", "lost: %s" % note, *steps)


def _size_step(facts, reason):
    smallest = ((facts.options or {}).get("hwcoll") or {}).get("min_nodes")
    if "need at least" in reason:
        return ["to have them, submit it on at least %s nodes (-N)" % (smallest or "so many"), SLOWER]
    if "no minimum size is set" in reason:
        return ["ask for them: -o mcast.hwcoll=on"]
    return []


def _budget_steps(reason):
    shown = "" if "cluster" in reason else ": flux mcast status shows how many are left"
    return ["wait until jobs that have addresses end, and submit it again" + shown,
            "not to run without them: -o mcast.hwcoll=required, which refuses the job", SLOWER]


def _link_step(facts, down):
    return "it is reached now: submit the job again" if facts.link == "up" else facts.link and down


def _missing(facts, state, reason):
    """Of a job that runs without: (what, next steps)."""
    job = facts.job
    if state == "off":
        if job.wish("hwcoll") == "off":
            return "the job was submitted with -o mcast.hwcoll=off", ["leave that option out"]
        if job.has("cray-slingshot") and not job.has("mcast"):
            return "the job began with flux-coral2's cray-slingshot, which gives none", [SLOWER]
        profile = job.wish("profile")
        by = "the profile %s" % profile if profile else "the site's default"
        return reason or by + " is off", ["ask for them: -o mcast.hwcoll=on"]
    if state == "ineligible":
        return reason, _size_step(facts, reason or "")
    if state == "denied":
        if "in use" in (reason or ""):
            return reason, _budget_steps(reason)
        return reason, ["submit it again later, or ask the administrator", SLOWER]
    if state in ("timeout", "unavailable"):
        now = _link_step(facts, "it is not reached now either: tell the administrator")
        return "at the job's start: %s" % reason, [now, SLOWER]
    if state == "wanted":
        return "the fabric manager is just asked for them", ["ask again in a moment"]
    return reason or state, []


def _collectives(facts, known):
    hwcoll = known.get("hwcoll") or {}
    state, reason = hwcoll.get("state", "off"), hwcoll.get("reason")
    if _was_lost(facts):
        return _lost(facts)
    if state in ("reserved", "released"):
        had = facts.job.state == "over" or state == "released"
        return Part("Collectives", "%s%s multicast addresses"
                    % ("had " if had else "", hwcoll.get("addresses")),
                    None if had else _trees(hwcoll))
    why, steps = _missing(facts, state, reason)
    return Part("Collectives", "none: %s" % why, *steps)


def _trees(hwcoll):
    trees = hwcoll.get("trees")
    if trees == 0 and hwcoll.get("trees_known") == "all":
        return ("none of them is used: MPI makes a tree for a communicator when it is told to; see "
                "fi_cxi(7), FI_CXI_COLL")
    return None


# ---- VNIs

def _vnis(facts, known):
    job, vnis = facts.job, known.get("vnis") or []
    if vnis:
        shared = known.get("shared_vnis") or []
        return Part("VNIs", ("had " if job.state == "over" else "") + _numbers(vnis) +
                    (" (the last: shared %s)" % _numbers(shared) if shared else ""))
    if known.get("warning"):
        return Part("VNIs", "none: %s" % known["warning"], FREE)
    if job.wish("vnis") == 0:
        return Part("VNIs", "none: the job was submitted with -o mcast.vnis=0")
    if job.wish("single-node") == "off":
        return Part("VNIs", "none: the job was submitted with -o mcast.single-node=off, and has one "
                    "node")
    if known.get("interconnect") not in (None, "slingshot"):
        return Part("VNIs", "none: its interconnect is %s" % known["interconnect"])
    limits = (facts.options or {}).get("vnis") or {}
    if limits.get("default_single_node") == 0 and known.get("node_count") == 1:
        return Part("VNIs", "none: the site gives none to jobs on one node",
                    "ask for one: -o mcast.single-node=on")
    return Part("VNIs", "none: the site's default", "ask for one: -o mcast.vnis=1")


# ---- all of it

def _misspelt(facts):
    """Flux takes any shell option, whether somebody reads it or not."""
    for name in facts.job.shell_options:
        if name != "mcast" and difflib.get_close_matches(name, ["mcast"], cutoff=0.7):
            return Part("Options", "-o %.40s is not one of mcastd's, which begin with -o mcast" % name,
                        "flux-shell-mcast(1) has all options")
    return None


def explain(facts):
    """Parts, in the order of what matters."""
    parts = [_ending(facts), _misspelt(facts)]
    known = facts.known
    if known and not _is_off(facts.job.option):
        if facts.job.state in ("over", "ending"):
            parts.append(Part("Reservation", _given_back(facts)))
        parts += [_vnis(facts, known), _collectives(facts, known)]
    elif facts.level == 0 or not parts[0] or parts[0].subject != "Refused":
        parts.append(_nothing(facts))
    if facts.away:
        parts.append(Part("mcastd", "does not answer now: %s" % facts.trouble,
                          "the rest is what Flux knows of the job; ask again later"))
    elif facts.link and facts.link != "up" and not _tells_of_link(known):
        parts.append(Part("mcastd", "does not reach the fabric manager now (link %s): jobs that start "
                          "now get VNIs and no multicast addresses" % facts.link,
                          "tell the administrator"))
    return [part for part in parts if part]


def _tells_of_link(known):
    return ((known or {}).get("hwcoll") or {}).get("state") in ("timeout", "unavailable")


def _given_back(facts):
    state = (facts.reservation or {}).get("state")
    kept = facts.job.event("unreleased")
    if kept and state != "releasing":
        return "mcastd did not take it back at the job's end (%s): that follows" % kept.get("reason")
    if facts.away:
        return "the job is over; whether it is given back is not known"
    if state == "active":
        return "not given back yet, although the job is over: that follows within minutes"
    if state == "releasing" and (facts.reservation or {}).get("waiting_for"):
        return "given back; its VNIs are kept from others until its nodes have said they are clean"
    return "given back"
