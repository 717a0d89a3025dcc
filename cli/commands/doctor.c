/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/localfiles.h"
#include "cli/program.h"
#include "cli/doctor/software.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "Usage: mcastctl doctor [--config FILE]\n"
    "Lists faults, each with what to do: of the broker (link, login, clocks, storage, pools,\n"
    "certificates, name conflicts on the fabric; admins only), and of this machine "
    "(configuration,\n"
    "files, MUNGE, your identity at the broker, releases of software with known faults).\n\n"
    "  --config FILE    the broker's configuration (default: " LOCALFILES_CONFIG ",\n"
    "                   where it is there)\n\n"
    "Exit codes: 0 no problem, 1 a problem, 4 the broker cannot be reached.\n\n"
    "Example:\n"
    "  mcastctl doctor\n";

enum { CLOCK_WARNING_MS = 5000, CLOCK_PROBLEM_MS = 60000, OUTPUT_SIZE = 8192 };

static int store_doctor_option(int option, const char *value, void *data)
{
    const char **config = data;
    if (option == 'c')
        *config = value;
    return COMMAND_GO_ON;
}

/* ---- the broker ---- */

/* libfabric waits for ever when the file is not there (fabric-manager's clients, release.c). */
static void judge_job_ca(struct findings *findings, const json_t *report)
{
    const char *path = json_string_value(json_object_get(report, "job_ca"));
    struct stat status;
    if (!path || path[0] != '/')
        return;
    if (stat(path, &status) < 0)
        findings_addf(findings, FINDING_PROBLEM, "job-ca",
                      "put the file there on every node, or set [hwcoll] job_ca = yes and have the "
                      "CA in the system's store",
                      "jobs verify the fabric manager with %s, which is not on this "
                      "machine: their start hangs where it is missing",
                      path);
    else
        findings_addf(findings, FINDING_OK, "job-ca", NULL, "%s is on this machine", path);
}

static void judge_refusal(struct findings *findings, const struct mcast_error *error)
{
    switch (error->code) {
    case MCAST_REFUSED:
        findings_add(findings, error->status == 403 ? FINDING_WARNING : FINDING_PROBLEM, "broker",
                     error->text,
                     error->status == 403 ? "the broker tells its findings to admins only" : NULL);
        break;
    case MCAST_NOT_FOUND:
        findings_addf(findings, FINDING_WARNING, "broker", "upgrade mcastd",
                      "the broker has no findings to offer, it is older than this mcastctl (%s)",
                      mcast_version());
        break;
    default:
        findings_add(findings, FINDING_PROBLEM, "broker", error->text, NULL);
    }
}

static void judge_clock(struct findings *findings, struct mcast *handle)
{
    int64_t ahead = 0;
    if (mcast_clock_ahead(handle, &ahead, NULL) < 0)
        return;
    int64_t apart = llabs(ahead);
    double seconds = (double)apart / 1000;
    enum finding_level level = apart >= CLOCK_PROBLEM_MS   ? FINDING_PROBLEM
                               : apart >= CLOCK_WARNING_MS ? FINDING_WARNING
                                                           : FINDING_OK;
    if (level == FINDING_OK)
        findings_add(findings, level, "clock", "the broker's clock and this machine's agree", NULL);
    else
        findings_addf(findings, level, "clock",
                      "set both by NTP (chronyc tracking, timedatectl): MUNGE credentials and "
                      "certificates depend on it",
                      "the broker's clock is %.0f s %s this machine's", seconds,
                      ahead > 0 ? "ahead of" : "behind");
}

static void judge_identity(struct findings *findings, struct mcast *handle)
{
    struct mcast_error error = {0};
    char *text = NULL;
    int rc = mcast_whoami(handle, &text, &error);
    if (rc == MCAST_REFUSED)
        findings_add(findings, FINDING_PROBLEM, "identity", error.text, NULL);
    if (rc < 0)
        return; /* what else is wrong has been said */
    json_t *answer = json_loads(text, 0, NULL);
    const char *identity = json_string_value(json_object_get(answer, "identity"));
    const char *proof = json_string_value(json_object_get(answer, "proof"));
    if (proof && strcmp(proof, "none") == 0)
        findings_add(findings, FINDING_WARNING, "identity", "the broker does not know who you are",
                     "show a client certificate (--cert, --key), start munged, or use the broker's "
                     "Unix socket");
    else if (identity)
        findings_addf(findings, FINDING_OK, "identity", NULL, "the broker takes you for %s%s",
                      identity, json_is_true(json_object_get(answer, "admin")) ? ", an admin" : "");
    json_decref(answer);
    free(text);
}

/* An exit code, but for problems that were found. */
static int ask_broker(struct findings *findings, const struct common *common)
{
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    char *text = NULL;
    int code = EXIT_OK;
    int rc = command_connect(common, &handle, &error);
    if (rc == 0)
        rc = mcast_doctor(handle, &text, &error);
    if (rc == 0) {
        json_t *report = json_loads(text, 0, NULL);
        findings_add_json(findings, json_object_get(report, "findings"));
        judge_job_ca(findings, report);
        json_decref(report);
    } else {
        judge_refusal(findings, &error);
        code = mcast_exit_status(&error) == MCAST_EXIT_NO_ANSWER ? EXIT_UNREACHABLE : EXIT_OK;
    }
    if (handle && code == EXIT_OK) {
        judge_identity(findings, handle);
        judge_clock(findings, handle);
    }
    free(text);
    mcast_close(handle);
    return code;
}

/* ---- this machine ---- */

/* There and back: munged runs, has its key, and lets us talk to it. */
static void judge_munge(struct findings *findings, const char *socket, bool wanted)
{
    char credential[OUTPUT_SIZE], decoded[OUTPUT_SIZE], option[LOCALFILES_PATH_MAX + 16];
    static const char advice[] = "systemctl status munge; its log names the cause";
    snprintf(option, sizeof(option), "--socket=%s", socket ? socket : "");
    const char *encode[] = {"munge", "--no-input", socket ? option : NULL, NULL};
    const char *decode[] = {"unmunge", socket ? option : NULL, NULL};
    int rc = program_run(encode, NULL, credential, sizeof(credential));
    if (rc == PROGRAM_NOT_FOUND) {
        if (wanted)
            findings_add(findings, FINDING_WARNING, "munge",
                         "MUNGE is configured, but its programs are not installed",
                         "apt-get install munge (dnf install munge)");
        return;
    }
    if (rc == 0)
        rc = program_run(decode, credential, decoded, sizeof(decoded));
    else
        snprintf(decoded, sizeof(decoded), "%s", credential);
    char *end = strchr(decoded, '\n');
    if (end)
        *end = '\0';
    if (rc == 0)
        findings_add(findings, FINDING_OK, "munge", "munged makes and reads credentials", NULL);
    else if (wanted)
        findings_addf(findings, FINDING_PROBLEM, "munge", advice, "munged at %s does not work: %s",
                      socket, decoded[0] ? decoded : "it says nothing");
    else
        findings_addf(findings, FINDING_OK, "munge", NULL, "not in use here (%s)",
                      decoded[0] ? decoded : "it says nothing");
    explicit_bzero(credential, sizeof(credential));
}

static void look_around(struct findings *findings, const struct common *common, const char *config)
{
    char configured[LOCALFILES_PATH_MAX];
    localfiles_judge(findings, config, configured);
    const char *socket = common->munge_socket ? common->munge_socket : getenv("MCAST_MUNGE_SOCKET");
    if (!socket || !socket[0])
        socket = configured[0] ? configured : NULL;
    judge_munge(findings, socket, socket != NULL);
    software_judge(findings);
}

static int run_doctor(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option options[] = {{"config", required_argument, NULL, 'c'}, {0}};
    const char *config = NULL;
    int rc = command_options(command, common, argc, argv, options, store_doctor_option, &config);
    if (rc == COMMAND_GO_ON)
        rc = command_no_arguments(command, argc, argv);
    if (rc != COMMAND_GO_ON)
        return rc;
    struct findings *findings = findings_create();
    if (!findings)
        return command_print_json(NULL);
    rc = ask_broker(findings, common);
    look_around(findings, common, config);
    int printed = command_print_findings(findings, common->json);
    if (rc == EXIT_OK && findings_count(findings, FINDING_PROBLEM) > 0)
        rc = EXIT_REFUSED;
    findings_destroy(findings);
    return rc != EXIT_OK ? rc : printed;
}

const struct command command_doctor = {"doctor", "what is wrong, and what to do", usage,
                                       run_doctor};
