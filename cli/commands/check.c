/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of libexec/mcastd/slurm/check: it runs some programs, each for 10 s at most. */
enum { CHECK_TIMEOUT_MS = 120000, OUTPUT_SIZE = 65536 };

enum { CONF, HOOKS, SETTINGS, NODE, OPTION_COUNT };

static const struct command_option options[] = {[CONF] = {"conf", "FILE"},
                                                [HOOKS] = {"hooks", "DIR"},
                                                [SETTINGS] = {"settings", "FILE"},
                                                [NODE] = {"node", NULL},
                                                {0}};

/* ---- the script ---- */

/* Of findings_add_line, or "fact<TAB>name<TAB>value"; anything else comes from the hooks' settings.
 */
static void read_script_line(struct findings *findings, json_t *facts, char *line)
{
    char *name = line + strlen("fact\t"), *value;
    if (strncmp(line, "fact\t", strlen("fact\t")) == 0) {
        value = strchr(name, '\t');
        if (value)
            *value++ = '\0';
        (void)json_object_set_new_nocheck(facts, name, json_string_nocheck(value ? value : ""));
    } else if (!findings_add_line(findings, line) && line[0]) {
        fprintf(stderr, "%s\n", line);
    }
}

/* front, as whoami has it: only whether jobs here can make trees there; NULL: all else. */
static void run_script(const struct call *call, const json_t *front, struct findings *findings,
                       json_t *facts, char *output)
{
    static const char *const words[] = {"--conf", "--hooks", "--settings", "--node"};
    const char *argv[2 * OPTION_COUNT + 8] = {0};
    char path[PROGRAM_PATH_SIZE];
    size_t count = 1;
    if (!program_locate(MCAST_TO_LIBEXEC "/mcastd/slurm/check", path)) {
        findings_add(
            findings, FINDING_PROBLEM, "hooks",
            "install mcastd here (cmake --install, or the package)",
            "mcastd's Slurm hooks are not installed beside mcastctl, nor what checks them");
        return;
    }
    argv[0] = path;
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (call->given[i])
            argv[count++] = words[i];
        if (call->given[i] && options[i].value)
            argv[count++] = call->given[i];
    }
    if (call->cluster) {
        argv[count++] = "--cluster";
        argv[count++] = call->cluster;
    }
    if (front) {
        argv[count++] = "--front";
        argv[count++] = command_text(front, "url");
        argv[count++] = "--job-ca";
        argv[count++] = command_text(front, "ca");
    }
    const int rc = program_run_for(CHECK_TIMEOUT_MS, argv, NULL, output, OUTPUT_SIZE);
    for (char *line; (line = strsep(&output, "\n"));)
        read_script_line(findings, facts, line);
    if (rc != 0 ||
        (!command_text(facts, "cluster") && findings_count(findings, FINDING_PROBLEM) == 0))
        findings_add(findings, FINDING_PROBLEM, "hooks",
                     "run it by hand; it reads the hooks' settings (/etc/mcastd/slurm-hooks)",
                     "%s failed", path);
}

/* ---- the broker ---- */

/* As the hooks do: what is not said on the command line is in their settings. An exit code, but for
 * problems that were found. */
static int ask_broker(struct call *call, struct findings *findings, json_t *facts, char *output)
{
    char *whoami = NULL, *status = NULL;
    const char *url = command_text(facts, "url"), *cacert = command_text(facts, "cacert");
    if (!call->url && url[0])
        call->url = url;
    if (!call->cacert && cacert[0])
        call->cacert = cacert;
    const bool plugin = command_text(facts, "plugin")[0];
    if (command_open(call) < 0 || mcast_whoami(call->handle, &whoami, &call->error) < 0) {
        findings_add(findings, FINDING_PROBLEM, "broker",
                     plugin
                         ? "start mcastd, or say where it is, or run this there: mcastctl --url "
                           "https://HOST:7470 check slurm ([broker] listen)"
                         : "start mcastd, or say where it is: /etc/mcastd/slurm-hooks: MCAST_URL=…",
                     "%s%s", call->error.text,
                     plugin ? "; VNIs, sizes and fm_url were not compared with its own" : "");
        return mcast_exit_status(&call->error) == MCAST_EXIT_NO_ANSWER ? MCAST_EXIT_NO_ANSWER
                                                                       : MCAST_EXIT_OK;
    }
    (void)mcast_status(call->handle, &status, NULL); /* not everyone may see it */
    json_t *who = json_loads(whoami, 0, NULL), *how = status ? json_loads(status, 0, NULL) : NULL;
    const json_t *front = json_object_get(who, "front");
    if (plugin)
        plugin_judge(findings, command_text(facts, "cluster"), command_text(facts, "parameters"),
                     how);
    else
        manager_judge(findings, facts, who, how);
    if (!plugin && command_text(front, "url") && command_text(front, "ca") &&
        command_text(facts, "node")[0])
        run_script(call, front, findings, facts, output);
    json_decref(who);
    json_decref(how);
    free(whoami);
    free(status);
    return MCAST_EXIT_OK;
}

static int run_check(struct call *call)
{
    char flux[PROGRAM_PATH_SIZE];
    if (call->argument_count != 1 || strcmp(call->arguments[0], "slurm") != 0) {
        if (!program_locate(MCAST_TO_LIBEXEC "/mcastd/flux/check", flux))
            snprintf(flux, sizeof flux, "libexec/mcastd/flux/check");
        return command_misused(call, "check what? Only slurm is known; for Flux run %s", flux);
    }
    struct findings *findings = findings_create();
    json_t *facts = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "plugin", "",
                              "parameters", "", "hooks", "", "user", "", "controller", "", "node",
                              "", "url", "", "cacert", "", "nodes", "", "manager", "");
    char *output = memory_zeroed(OUTPUT_SIZE);
    run_script(call, NULL, findings, facts, output);
    const int code =
        command_text(facts, "cluster") ? ask_broker(call, findings, facts, output) : MCAST_EXIT_OK;
    json_decref(facts);
    free(output);
    return findings_finish(findings, call->json, code, FINDING_WARNING);
}

const struct command command_check = {"check",
                                      "check Slurm's configuration for mcastd",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_ALONE,
                                      options,
                                      .run = run_check,
                                      .argument = "slurm"};
