# SPDX-License-Identifier: Apache-2.0
"""The subcommands: ask, and print."""
import argparse
import json
import os
import sys

import mcast

from . import flux
from .explain import Facts, explain


class Site:
    """The broker of this Flux, and what it calls it."""

    def __init__(self, arguments):
        self.broker = mcast.Broker(arguments.url, timeout=10)  # somebody waits for it
        self._cluster = arguments.cluster or os.environ.get("MCAST_CLUSTER")
        self._settings = None

    @property
    def settings(self):
        if self._settings is None:
            self._settings = flux.settings()
        return self._settings

    def cluster(self, job=None):
        """As it was said, as the job was told, as Flux is configured, or the only one there is."""
        if not self._cluster and job:
            self._cluster = job.published.get("cluster")
        if not self._cluster:
            self._cluster = flux.cluster_of(self.settings)
        if not self._cluster:
            self._cluster = self.broker.options().get("cluster")
        if not self._cluster:
            raise flux.Trouble("mcastd knows several clusters: say which one this Flux is, with "
                               "--cluster NAME or MCAST_CLUSTER")
        return self._cluster


def job_of(arguments):
    given = arguments.id or getattr(arguments, "jobid", None) or os.environ.get("FLUX_JOB_ID")
    if not given:
        raise flux.Trouble("of which job? flux mcast %s JOBID; within a job it is its own"
                           % arguments.command)
    return flux.Job(given)


def show(text):
    """A line of what others wrote, too: as characters that a terminal takes as such."""
    text = "".join(char if char.isprintable() else "?" for char in text)
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def print_json(value):
    print(json.dumps(value, indent=2, sort_keys=True))


# ---- explain

def attempt(function, *arguments, **options):
    """(answer, error)"""
    try:
        return function(*arguments, **options), None
    except mcast.Error as error:
        return None, error


def gather(site, job):
    facts = Facts(job, level=flux.instance_level())
    facts.status, facts.trouble = attempt(site.broker.status)
    if facts.level > 0:
        return facts
    facts.hooks = flux.hooks(site.settings)
    if facts.away:
        return facts
    facts.cluster = site.cluster(job)
    found, facts.trouble = attempt(site.broker.show, facts.cluster, job.id)
    facts.reservation = found and found.fields
    facts.options, _ = attempt(site.broker.options, facts.cluster)
    events, _ = attempt(lambda: list(site.broker.events(cluster=facts.cluster, job=job.id)))
    facts.events = events or []
    return facts


def run_explain(arguments):
    site = Site(arguments)
    job = job_of(arguments)
    facts = gather(site, job)
    parts = explain(facts)
    if arguments.json:
        print_json({"job": job.id, "state": job.state, "cluster": facts.cluster,
                    "parts": [part.json() for part in parts]})
        return
    show("%-12s %s, %s" % ("Job", flux.shown(job.id), job.state))
    for part in parts:
        for line in part.lines():
            show(line)


# ---- jobinfo

def rows_of(fields):
    hwcoll = fields.get("hwcoll") or {}
    said = hwcoll.get("state", "off")
    if said == "reserved":
        said = "%s addresses" % hwcoll.get("addresses")
    elif said == "released":
        said = "given back"
    elif hwcoll.get("reason"):
        said += ": " + hwcoll["reason"]
    rows = [("State", fields.get("state")), ("Owner (uid)", fields.get("uid")),
            ("Nodes", fields.get("nodes") or fields.get("node_count")),
            ("VNIs", ",".join(str(vni) for vni in fields.get("vnis") or []) or "-"),
            ("Shared VNIs", ",".join(fields.get("shared_vnis") or [])),
            ("Traffic classes", ",".join(fields.get("traffic_classes") or [])),
            ("Collectives", said), ("Profile", fields.get("profile")),
            ("Created", fields.get("created")), ("Released", fields.get("released")),
            ("Warning", fields.get("warning"))]
    return [(name, value) for name, value in rows if value not in (None, "")]


def run_jobinfo(arguments):
    site = Site(arguments)
    job = job_of(arguments)
    if flux.instance_level() > 0:
        raise flux.Trouble("jobs of this instance use what the job around it has: flux --parent mcast "
                           "jobinfo $(flux getattr jobid)")
    try:
        fields = site.broker.show(site.cluster(job), job.id).fields
    except (mcast.NotFound, mcast.NoAnswer) as error:
        # What Flux was told at the job's start is there even when mcastd is not.
        fields = {name: value for name, value in job.published.items()
                  if name not in ("env", "launch")}
        if not fields:
            raise flux.Trouble("%s; see flux mcast explain %s" % (error, job.id))
        print("flux-mcast: as it was at the job's start: %s" % error, file=sys.stderr)
    if arguments.json:
        print_json(fields)
        return
    show("%-16s %s  (%s/%s at mcastd)" % ("Job", flux.shown(job.id), fields.get("cluster"), job.id))
    for name, value in rows_of(fields):
        show("%-16s %s" % (name, value))


# ---- list

def run_list(arguments):
    site = Site(arguments)
    found = site.broker.list(cluster=site.cluster(), state=None if arguments.all else "active")
    if arguments.json:
        print_json([one.fields for one in found])
        return
    form = "%-14s %8s %6s %-9s %-20s %s"
    if not arguments.no_header:
        print(form % ("JOBID", "UID", "NNODES", "STATE", "VNIS", "COLLECTIVES"))
    for one in found:
        hwcoll = one.hwcoll or {}
        said = "%d addresses" % one.addresses if one.addresses else hwcoll.get("state", "off")
        show(form % (flux.shown(one.job), "-" if one.uid is None else one.uid, one.node_count, one.state,
                      ",".join(str(vni) for vni in one.vnis) or "-", said))


# ---- status

def status_rows(status, who):
    fabric, vnis = status.get("fabric_manager") or {}, status.get("vnis") or {}
    addresses, jobs = status.get("addresses") or {}, status.get("jobs") or {}
    link = fabric.get("link", "unknown")
    if link != "up" and fabric.get("last_error"):
        link += ": " + fabric["last_error"]
    total, each = addresses.get("total"), addresses.get("per_job")
    used = "%s in use, %s a job" % (addresses.get("reserved"), each)
    if total and each:
        used = "%s of %s in use, %s a job: enough for %d more" % (
            addresses.get("reserved"), total, each, (total - addresses.get("reserved", 0)) // each)
    yield "mcastd", "%s, %s" % (status.get("version"), status.get("role"))
    yield "You are", who.get("identity")
    yield "Fabric manager", link
    yield "Jobs", "%s active, %s being released" % (jobs.get("active"), jobs.get("releasing"))
    yield "VNIs", "%s free of %s, %s quarantined" % (vnis.get("free"), vnis.get("pool"),
                                                     vnis.get("held"))
    yield "Addresses", used
    for alarm in status.get("alarms") or []:
        text = alarm if isinstance(alarm, str) else alarm.get("detail") or alarm.get("code")
        yield "ALARM", text


HOOKS = {"plugin": "job manager's plugin", "scripts": "prolog and epilog",
         None: "none is seen (flux-config-mcast(5))"}


def run_status(arguments):
    site = Site(arguments)
    status, who = site.broker.status(), site.broker.whoami()
    if arguments.json:
        print_json(status)
        return
    for name, value in status_rows(status, who):
        show("%-16s %s" % (name, value))
    level = flux.instance_level()
    print("%-16s %s" % ("Flux", "asks it by: " + HOOKS[flux.hooks(site.settings)] if level == 0 else
                        "an instance within a job, whose VNIs its jobs use"))


# ---- clean

def is_over(reservation):
    """By Flux; None: it does not know it, or its job of this id is not the one of the reservation."""
    status, text, _ = flux.ask("job", "eventlog", "--format=json", reservation.job)
    events = [json.loads(line) for line in text.splitlines() if line] if status == 0 else []
    owners = [(event.get("context") or {}).get("userid") for event in events
              if event["name"] == "submit"]
    if reservation.uid is None or owners != [reservation.uid]:
        return None
    return any(event["name"] == flux.OVER for event in events)


def cluster_to_clean(site):
    """Another Flux has other jobs under the same ids, so it has to be this one's."""
    if flux.instance_level() > 0:
        raise flux.Trouble("jobs of this instance have no reservations of their own: mcast-cleanup(8) "
                           "removes the trees that they left")
    cluster, configured = site.cluster(), flux.cluster_of(site.settings)
    if flux.hooks(site.settings) is None or configured not in (None, cluster):
        raise flux.Trouble("this Flux does not ask mcastd as cluster %s, so it does not know which of "
                           "its jobs are over: flux-config-mcast(5)" % cluster)
    return cluster


def clean_one(site, cluster, reservation, dry_run):
    """Whether it is over."""
    job, over = flux.shown(reservation.job), is_over(reservation)
    if over is None:
        show("%s: Flux has no such job of uid %s: left alone; if it is surely over: mcastctl release %s"
             % (job, reservation.uid, reservation.job))
    elif over and dry_run:
        show("%s: is over: would be released" % job)
    elif over:
        site.broker.release(cluster, reservation.job)
        show("%s: is over: released" % job)
    return over


def run_clean(arguments):
    site = Site(arguments)
    cluster = cluster_to_clean(site)
    if arguments.id:
        one = site.broker.show(cluster, flux.plain_id(arguments.id))
        if clean_one(site, cluster, one, arguments.dry_run) is False:
            raise flux.Trouble("job %s is not over: flux cancel %s ends it" % (one.job, one.job))
        return
    found = site.broker.list(cluster=cluster, state="active")
    over = [one for one in found if clean_one(site, cluster, one, arguments.dry_run)]
    if not over:
        print("nothing to release: %d reservations are of jobs that are not over" % len(found))


# ---- the command line

class Parser(argparse.ArgumentParser):
    def __init__(self, *arguments, **options):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        argparse.ArgumentParser.__init__(self, *arguments, **options)


COMMANDS = (
    ("explain", run_explain, "why a job has no VNI, no multicast addresses, or lost them"),
    ("jobinfo", run_jobinfo, "what a job has"),
    ("list", run_list, "jobs that have something (without privileges: your own)"),
    ("status", run_status, "whether mcastd and the fabric manager answer, and what is free"),
    ("clean", run_clean, "release what jobs have that Flux says are over (for Flux's owner)"),
)


def parser():
    common = Parser(add_help=False)
    common.add_argument("--cluster", metavar="NAME", help="what mcastd calls this Flux")
    common.add_argument("--url", help="where mcastd is (MCAST_URL, or its socket)")
    top = Parser(prog="flux mcast", description="What mcastd gives to jobs: VNIs and multicast "
                 "addresses for hardware collectives. See flux-mcast(1).")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    for name, function, words in COMMANDS:
        one = commands.add_parser(name, parents=[common], help=words, description=words)
        one.set_defaults(run=function)
        if name in ("explain", "jobinfo", "clean"):
            one.add_argument("id", metavar="JOBID", nargs="?", help="in any form that Flux has")
        if name == "jobinfo":
            one.add_argument("-j", "--jobid", metavar="ID", help="the same")
        if name == "list":
            one.add_argument("-a", "--all", action="store_true", help="released ones, too")
            one.add_argument("-n", "--no-header", action="store_true")
        if name == "clean":
            one.add_argument("--dry-run", action="store_true", help="say it, and do nothing")
        else:
            one.add_argument("--json", action="store_true", help="for programs")
    return top


HINTS = {
    "no-connection": "tell the administrator; jobs that run are not touched by that",
    "denied": "ask the administrator whether users may use mcastd's socket ([broker] socket_mode)",
    "forbidden": "as the owner of this Flux: sudo -u flux flux mcast …",
}


def main(arguments):
    """Exit status: 0, 1: refused or no such thing, 2: wrong usage, 4: mcastd does not answer."""
    top = parser()
    given = top.parse_args(arguments)
    if not given.command:
        top.print_help(sys.stderr)
        return 2
    try:
        given.run(given)
        return 0
    except flux.Trouble as trouble:
        print("flux-mcast: %s" % trouble, file=sys.stderr)
        return 1
    except mcast.Error as error:
        hint = HINTS.get(error.word)
        print("flux-mcast: %s%s" % (error, "; " + hint if hint else ""), file=sys.stderr)
        return 4 if error.later or isinstance(error, mcast.NoAnswer) else 1
    except OSError as error:
        print("flux-mcast: %s" % error, file=sys.stderr)
        return 1
