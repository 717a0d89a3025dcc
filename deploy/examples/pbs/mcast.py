# SPDX-License-Identifier: Apache-2.0
"""PBS hook for mcastd: hands each event to mcast-pbs and does with the job what its answer says.

  qmgr -c "create resource mcast type=string"
  qmgr -c "create hook mcast event='queuejob,runjob,endjob,periodic,execjob_begin,execjob_launch,execjob_end'"
  qmgr -c "set hook mcast alarm=120, freq=120"
  qmgr -c "import hook mcast application/x-python default mcast.py"

From PBS 22.05 on, endjob is called jobobit.
"""
import os
import re
import subprocess

import pbs

PROGRAM = os.environ.get("MCAST_PBS", "/usr/local/libexec/mcast-pbs")


def names(*words):
    """This version's numbers of these events; not every version has all."""
    return {getattr(pbs, word.upper()): word for word in words if hasattr(pbs, word.upper())}


EVENTS = names("queuejob", "runjob", "endjob", "jobobit", "periodic", "execjob_begin",
               "execjob_launch", "execjob_end")


def ask(word, job, user):
    """mcast-pbs's exit status, output, and words."""
    env = dict(os.environ)
    if job is not None:
        nodes = re.findall(r"\(([^:)+]+)", str(job.exec_vnode or ""))
        env["MCAST_JOB"] = str(job.id or "")
        env["MCAST_USER"] = user
        env["MCAST_NODES"] = ",".join(dict.fromkeys(nodes))
        env["MCAST_WISHES"] = str(job.Resource_List["mcast"] or "")
    done = subprocess.run([PROGRAM, word], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


def main():
    event = pbs.event()
    word = EVENTS[event.type].replace("jobobit", "endjob")
    job = None if word == "periodic" else event.job
    user = "" if job is None else str(job.euser or event.requestor)
    status, output, words = ask(word, job, user)

    if word == "execjob_launch" and status == 0:
        for line in output.decode().split("\0")[:-1]:
            name, value = line.split("=", 1)
            event.env[name] = value
    if word == "execjob_end" and status == 5:
        node = event.vnode_list[pbs.get_local_nodename()]
        node.state = pbs.ND_OFFLINE
        node.comment = "mcastd: CXI services are left of job %s" % job.id
    elif word in ("execjob_end", "endjob", "periodic"):
        if status != 0:
            pbs.logmsg(pbs.LOG_WARNING, "mcastd: %s: %s" % (word, words))
    elif status == 75:  # stays in the queue, and is tried again
        event.reject("mcastd: %s; the job is tried again" % words)
    elif status != 0:  # without the hold it would be retried without end
        if word != "queuejob":
            job.Hold_Types = pbs.hold_types("s")
        event.reject("mcastd: " + words)
    event.accept()


main()
