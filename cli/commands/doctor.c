/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/program.h"
#include "cli/status/brokers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_WARNING_MS = 5000, CLOCK_PROBLEM_MS = 60000, OUTPUT_SIZE = 8192, CONFIG_SIZE = 65536 };
enum { ANSWERS_A_SECOND = 10, ANSWERS_MAX = 15 * ANSWERS_A_SECOND };

enum { CONFIG, NODE_CONFIG };

static const struct command_option options[] = {
    [CONFIG] = {"config", "FILE"}, [NODE_CONFIG] = {"node-config", "FILE"}, {0}};

/* ---- the broker ---- */

/* libfabric waits for ever when the file is not there (cli/text/faults.json). */
static void judge_job_ca(struct findings *findings, const json_t *report)
{
    const char *path = command_text(report, "job_ca");
    struct stat status;
    if (!path || path[0] != '/')
        return;
    if (stat(path, &status) < 0)
        findings_add(findings, FINDING_PROBLEM, "job-ca",
                     "put the file there on every node, or set [hwcoll] job_ca = yes and have the "
                     "CA in the system's store",
                     "jobs verify the fabric manager with %s, which is not on this "
                     "machine: their start hangs where it is missing",
                     path);
    else
        findings_add(findings, FINDING_OK, "job-ca", NULL, "%s is on this machine", path);
}

static void judge_refusal(struct findings *findings, const struct mcast_error *error)
{
    if (error->code == MCAST_NOT_FOUND)
        findings_add(findings, FINDING_WARNING, "broker", "upgrade mcastd",
                     "the broker has no findings to offer, it is older than this mcastctl (%s)",
                     mcast_version());
    else if (error->code == MCAST_REFUSED && error->status == 403)
        findings_add(findings, FINDING_WARNING, "broker",
                     "the broker tells its findings to admins only", "%s", error->text);
    else
        findings_add(findings, FINDING_PROBLEM, "broker", NULL, "%s", error->text);
}

static void judge_clock(struct findings *findings, struct mcast *handle)
{
    int64_t ahead = 0;
    if (mcast_clock_ahead(handle, &ahead, NULL) < 0)
        return;
    int64_t apart = llabs(ahead);
    enum finding_level level = apart >= CLOCK_PROBLEM_MS   ? FINDING_PROBLEM
                               : apart >= CLOCK_WARNING_MS ? FINDING_WARNING
                                                           : FINDING_OK;
    if (level == FINDING_OK)
        findings_add(findings, level, "clock", NULL, "the broker's clock and this machine's agree");
    else
        findings_add(findings, level, "clock",
                     "set both by NTP (chronyc tracking, timedatectl): MUNGE credentials and "
                     "certificates depend on it",
                     "the broker's clock is %.0f s %s this machine's", (double)apart / 1000,
                     ahead > 0 ? "ahead of" : "behind");
}

static void judge_identity(struct findings *findings, struct mcast *handle)
{
    struct mcast_error error = {0};
    char *text = NULL;
    int rc = mcast_whoami(handle, &text, &error);
    if (rc == MCAST_REFUSED)
        findings_add(findings, FINDING_PROBLEM, "identity", NULL, "%s", error.text);
    if (rc < 0)
        return; /* what else is wrong has been said */
    json_t *answer = json_loads(text, 0, NULL);
    const char *identity = command_text(answer, "identity");
    const char *proof = command_text(answer, "proof");
    if (proof && strcmp(proof, "none") == 0)
        findings_add(findings, FINDING_WARNING, "identity",
                     "show a client certificate (--cert, --key), start munged, or use the broker's "
                     "Unix socket",
                     "the broker does not know who you are");
    else if (identity)
        findings_add(findings, FINDING_OK, "identity", NULL, "the broker identifies you as %s%s",
                     identity, json_is_true(json_object_get(answer, "admin")) ? ", an admin" : "");
    json_decref(answer);
    free(text);
}

/* Until the fabric manager has answered what the doctor had it asked, or the link is down. */
static void await_answer(struct mcast *handle, const char *asked)
{
    for (int i = 0; i < ANSWERS_MAX; i++) {
        char *text = NULL;
        json_t *root = mcast_status(handle, &text, NULL) == 0 ? json_loads(text, 0, NULL) : NULL;
        const json_t *fm = json_object_get(root, "fabric_manager");
        const char *link = command_text(fm, "link"), *answered = command_text(fm, "answered");
        const bool over =
            !link || strcmp(link, "up") != 0 || (answered && strcmp(answered, asked) >= 0);
        json_decref(root);
        free(text);
        if (over)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000000 / ANSWERS_A_SECOND}, NULL);
    }
}

static int ask_once(struct call *call, json_t **report)
{
    char *text = NULL;
    const int rc = mcast_doctor(call->handle, &text, &call->error);
    *report = rc == 0 ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return rc;
}

/* One that had the fabric manager asked is given the time for its answer, and repeated. */
static int ask_report(struct call *call, json_t **report)
{
    int rc = command_open(call);
    if (rc == 0)
        rc = ask_once(call, report);
    const char *asked = rc == 0 ? command_text(*report, "time") : NULL;
    if (asked && json_is_true(json_object_get(*report, "fabric_manager_asked"))) {
        await_answer(call->handle, asked);
        json_decref(*report);
        rc = ask_once(call, report);
    }
    return rc;
}

/* Of several that are listed, what the one that answers does not know. */
static void judge_brokers(const struct call *call, struct findings *findings)
{
    json_t *status = brokers_ask(call);
    const json_t *broker;
    const char *rival = brokers_rival(status);
    size_t i;
    if (rival)
        findings_add(findings, FINDING_PROBLEM, "brokers",
                     "list only those of one fabric in --url and MCAST_URL",
                     "two brokers lead, %s and %s: they share no ledger",
                     command_text(status, "url"), rival);
    json_array_foreach(json_object_get(status, "brokers"), i, broker)
    {
        const char *error = command_text(broker, "error");
        if (error)
            findings_add(findings, FINDING_PROBLEM, "brokers",
                         "on its host: systemctl status mcastd; or take it out of --url and "
                         "MCAST_URL",
                         "%s does not answer: %s", command_text(broker, "url"), error);
    }
    json_decref(status);
}

/* An exit code, but for problems that were found. */
static int ask_broker(struct call *call, struct findings *findings)
{
    json_t *report = NULL;
    int code = MCAST_EXIT_OK;
    if (ask_report(call, &report) == 0) {
        findings_add_json(findings, json_object_get(report, "findings"));
        judge_job_ca(findings, report);
        json_decref(report);
    } else {
        judge_refusal(findings, &call->error);
        if (mcast_exit_status(&call->error) == MCAST_EXIT_NO_ANSWER)
            code = MCAST_EXIT_NO_ANSWER;
    }
    if (call->handle && code == MCAST_EXIT_OK) {
        judge_identity(findings, call->handle);
        judge_clock(findings, call->handle);
    }
    return code;
}

/* ---- this machine ---- */

/* There and back: munged runs, has its key, and lets us talk to it. socket: NULL: MUNGE is not
 * configured here. */
static void judge_munge(struct findings *findings, const char *socket)
{
    char credential[OUTPUT_SIZE], output[OUTPUT_SIZE], option[LOCALFILES_PATH_MAX + 16];
    snprintf(option, sizeof option, "--socket=%s", socket ? socket : "");
    const char *encode[] = {"munge", "--no-input", socket ? option : NULL, NULL};
    const char *decode[] = {"unmunge", socket ? option : NULL, NULL};
    int rc = program_run(encode, NULL, credential, sizeof credential);
    if (rc == PROGRAM_NOT_FOUND) {
        if (socket)
            findings_add(findings, FINDING_WARNING, "munge",
                         "apt-get install munge (dnf install munge)",
                         "MUNGE is configured, but its programs are not installed");
        return;
    }
    if (rc == 0)
        rc = program_run(decode, credential, output, sizeof output);
    else
        snprintf(output, sizeof output, "%s", credential);
    explicit_bzero(credential, sizeof credential);
    output[strcspn(output, "\n")] = '\0';
    const char *said = output[0] ? output : "it says nothing";
    if (rc == 0)
        findings_add(findings, FINDING_OK, "munge", NULL, "munged makes and reads credentials");
    else if (socket)
        findings_add(findings, FINDING_PROBLEM, "munge",
                     "systemctl status munge; its log names the cause",
                     "munged at %s does not work: %s", socket, said);
    else
        findings_add(findings, FINDING_OK, "munge", NULL, "not in use here (%s)", said);
}

/* A Slurm here that keeps its own plugin (B9), and what the broker of this host has read. */
static void judge_by_status(struct call *call, struct findings *findings)
{
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    char *config = memory_zeroed(CONFIG_SIZE), *text = NULL;
    const char *url = call->url ? call->url : getenv("MCAST_URL"), *file = call->given[CONFIG];
    const bool is_slurm = call->handle && program_run(argv, NULL, config, CONFIG_SIZE) == 0;
    const bool is_here = (!url || !strstr(url, "://")) && /* it is asked by its socket */
                         access(file ? file : LOCALFILES_CONFIG, R_OK) == 0;
    if (call->handle && (is_slurm || is_here) && mcast_status(call->handle, &text, NULL) == 0) {
        json_t *status = json_loads(text, 0, NULL);
        if (is_slurm)
            plugin_judge_shown(findings, config, status);
        if (is_here)
            localfiles_judge_age(findings, file, status);
        json_decref(status);
    }
    free(config);
    free(text);
}

static void look_around(const struct call *call, struct findings *findings)
{
    char configured[LOCALFILES_PATH_MAX];
    localfiles_judge(findings, call->given[CONFIG], configured);
    etcdmembers_judge(findings, call->given[CONFIG]);
    localfiles_judge_node(findings, call->given[NODE_CONFIG]);
    const char *socket = call->munge_socket ? call->munge_socket : getenv("MCAST_MUNGE_SOCKET");
    if (!socket || !socket[0])
        socket = configured[0] ? configured : NULL;
    judge_munge(findings, socket);
    software_judge(findings);
}

static int run_doctor(struct call *call)
{
    struct findings *findings = findings_create();
    const int code = ask_broker(call, findings);
    judge_brokers(call, findings);
    judge_by_status(call, findings);
    look_around(call, findings);
    return findings_finish(findings, call->json, code, FINDING_PROBLEM);
}

const struct command command_doctor = {"doctor",
                                       "find faults, and say what to do",
                                       COMMAND_NO_ARGUMENTS,
                                       COMMAND_ALONE,
                                       options,
                                       .run = run_doctor};
