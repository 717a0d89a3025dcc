# SPDX-License-Identifier: Apache-2.0
"""What Flux says of a job and of itself, by its own commands: those hold over releases of Flux, and
need none of its Python."""
import json
import os
import subprocess
import sys

OVER = "clean"


class Trouble(Exception):
    """A sentence for the user, with cause and next step."""


def ask(*arguments):
    """(exit status, what it prints, the first line that it complains with)."""
    try:
        done = subprocess.run(("flux",) + arguments, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise Trouble("flux cannot be started: %s" % error)
    said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:300]
    if "flux_open" in said:
        raise Trouble("no Flux answers here (FLUX_URI): %s" % said)
    return done.returncode, done.stdout.decode("utf-8", "replace"), said


def ask_json(*arguments):
    """None: there is no such thing, or it is not for the caller."""
    status, text, _ = ask(*arguments)
    try:
        return json.loads(text) if status == 0 else None
    except ValueError:
        return None


def plain_id(given):
    """f…, of an id in any form that Flux has."""
    if "/" in given.rstrip("/"):
        raise Trouble("%s is a job id path: ask in the instance that has the job, with flux proxy"
                      % given)
    status, text, said = ask("job", "id", "--to=f58plain", given)
    if status != 0:
        raise Trouble("'%s' is no job id: %s" % (given, said))
    return text.strip()


def shown(plain):
    """As Flux writes it, where the terminal can."""
    utf8 = "utf" in (sys.stdout.encoding or "").lower()
    return "\u0192" + plain[1:] if utf8 and plain.startswith("f") else plain


def instance_level():
    status, text, said = ask("getattr", "instance-level")
    if status != 0:
        raise Trouble("Flux does not answer: %s; see flux uptime" % said)
    return int(text)


class Job:
    """A job, by its eventlog. What its owner alone may see is empty for others."""

    def __init__(self, given):
        self.id = plain_id(given)
        status, text, said = ask("job", "eventlog", "--format=json", self.id)
        if status != 0:
            raise Trouble(self._unknown(said))
        self.events = [json.loads(line) for line in text.splitlines() if line]
        self.spec = ask_json("job", "info", self.id, "jobspec") or {}
        self.published = ask_json("job", "info", self.id, "mcast") or {}

    def _unknown(self, said):
        if "not found" in said or "unknown" in said:
            return ("Flux knows no job %s here: it may be a job of another instance (flux proxy, or "
                    "flux --parent inside one), or be so old that Flux has forgotten it" % self.id)
        if "ermission" in said or "not permitted" in said:
            return "job %s is another user's: ask its owner, or the owner of this Flux" % self.id
        return "Flux does not tell of %s: %s; see flux uptime" % (self.id, said)

    def all(self, name):
        """The contexts of its events of this name."""
        return [event.get("context") or {} for event in self.events if event["name"] == name]

    def has(self, name):
        return bool(self.all(name))

    @property
    def state(self):
        for event, word in ((OVER, "over"), ("finish", "ending"), ("start", "running"),
                            ("alloc", "starting")):
            if self.has(event):
                return word
        if self.exception:
            return "over"
        return "waiting for resources" if self.has("depend") else "waiting for other jobs"

    @property
    def on_hold(self):
        """By its urgency, or that of its queue: no resources are looked for."""
        priorities = [one.get("priority") for one in self.all("priority")]
        return priorities[-1:] == [0] and not self.has("alloc") and not self.exception

    @property
    def shell_options(self):
        options = self.spec
        for name in ("attributes", "system", "shell", "options"):
            options = options.get(name) if isinstance(options, dict) else None
        return options if isinstance(options, dict) else {}

    @property
    def option(self):
        """-o mcast…, or flux-coral2's -o cray-slingshot… in our words: a dict, "off", or None."""
        theirs = self.shell_options.get("cray-slingshot")
        if isinstance(theirs, dict):
            theirs = {"vnis": theirs[name] for name in theirs if name == "vnicount"}
        option = self.shell_options.get("mcast", theirs)
        return "off" if option is False else option

    def wish(self, name):
        return self.option.get(name) if isinstance(self.option, dict) else None

    @property
    def memo(self):
        """What all may know of its reservation."""
        found = {}
        for memo in self.all("memo"):
            found = memo.get("mcast") or found
        if not isinstance(found, dict):  # anybody may write one
            found = {}
        return found or self.event("reserved")

    def event(self, status):
        """What the job manager's plugin posted as "mcast" with this status; {}: nothing."""
        for one in self.all("mcast"):
            if one.get("status") == status:
                return one
        return {}

    @property
    def exception(self):
        """The first fatal one: it ended the job."""
        for one in self.all("exception"):
            if one.get("severity") == 0:
                return one
        return {}

    def held(self):
        """A prolog of this description began and did not end; None: none of ours is known."""
        begun = [one.get("description") for one in self.all("prolog-start")]
        for one in self.all("prolog-finish"):
            if one.get("description") in begun:
                begun.remove(one.get("description"))
        return begun

    @property
    def by_plugin(self):
        return any(one.get("description") == "mcast" for one in self.all("prolog-start"))

    @property
    def by_script(self):
        return any(one.get("description") == "job-manager.prolog"
                   for one in self.all("prolog-start"))


def settings():
    """[job-manager] of this instance; {}: nothing is set, or it is not told."""
    return ask_json("config", "get", "job-manager") or {}


def hooks(configured):
    """Which of ours are set up: "plugin", "scripts", or None."""
    for plugin in configured.get("plugins") or []:
        if os.path.basename(str(plugin.get("load", ""))) == "mcast.so":
            return "plugin"
    prolog = (configured.get("prolog") or {}).get("command") or []
    # No other prolog is asked for a cluster, which may stand in the environment instead.
    if any("mcast" in str(word) for word in prolog):
        return "scripts"
    status, text, _ = ask("jobtap", "list")
    return "plugin" if status == 0 and "mcast.so" in text.split() else None


def cluster_of(configured):
    """What mcastd calls this Flux, as its hooks are told; None: not there."""
    for plugin in configured.get("plugins") or []:
        conf = plugin.get("conf") or {}
        if os.path.basename(str(plugin.get("load", ""))) == "mcast.so" and conf.get("cluster"):
            return conf["cluster"]
    prolog = [str(word) for word in (configured.get("prolog") or {}).get("command") or []]
    return prolog[prolog.index("--cluster") + 1] if "--cluster" in prolog[:-1] else None
