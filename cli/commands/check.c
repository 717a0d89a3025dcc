/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/manager.h"
#include "cli/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl check slurm [--conf FILE] [--hooks FOLDER] [--settings FILE] [--node]\n"
    "Checks whether Slurm and mcastd fit together, and says of each line of their\n"
    "configuration that it is right, or which one to write: the hooks, how tasks get their\n"
    "environment, the broker's view of the cluster, and, on a node, mcast-node. Run it on each\n"
    "kind of host; on the controller's, as SlurmUser. Flux has one of its own: "
    "libexec/mcastd/flux/check.\n"
    "\n"
    "  --conf FILE      this slurm.conf, instead of what scontrol shows\n"
    "  --hooks FOLDER   where mcastd's hooks are (default: where they were installed)\n"
    "  --settings FILE  of the hooks (default: /etc/mcastd/slurm-hooks)\n"
    "  --node           this host is a node, and perhaps the controller's, too\n\n"
    "Exit codes: 0 all is well, 1 something is not, 4 the broker cannot be reached.\n\n"
    "Example:\n"
    "  mcastctl check slurm\n";

/* Of libexec/mcastd/slurm/check: it runs some programs, each for 10 s at most. */
enum { CHECK_TIMEOUT_MS = 120000, OUTPUT_SIZE = 65536, ARGUMENTS_MAX = 16 };

/* What the script has found out of this host, with which the broker is asked. */
struct facts {
    const char *cluster; /* NULL: nothing was found out */
    const char *hooks, *url, *cacert, *controller, *node, *user;
};

struct script_options {
    const char *argv[ARGUMENTS_MAX];
    size_t count;
};

static int add_script_option(int option, const char *value, void *data)
{
    struct script_options *options = data;
    if (options->count + 4 > ARGUMENTS_MAX) /* the same option several times */
        return COMMAND_GO_ON;
    options->argv[options->count++] = option == 'c'   ? "--conf"
                                      : option == 'k' ? "--hooks"
                                      : option == 's' ? "--settings"
                                      : option == 'C' ? "--cluster"
                                                      : "--node";
    if (value)
        options->argv[options->count++] = value;
    return COMMAND_GO_ON;
}

/* ---- the script ---- */

static void store_fact(struct facts *facts, const char *name, const char *value)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = {
        {"cluster", &facts->cluster}, {"hooks", &facts->hooks},           {"url", &facts->url},
        {"cacert", &facts->cacert},   {"controller", &facts->controller}, {"node", &facts->node},
        {"user", &facts->user},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0)
            *known[i].value = value;
    }
}

/* "level<TAB>check<TAB>finding<TAB>advice", or "fact<TAB>name<TAB>value"; anything else comes from
 * the hooks' settings. */
static void read_script_line(struct findings *findings, struct facts *facts, char *line)
{
    const char *level = strsep(&line, "\t"), *check = strsep(&line, "\t");
    const char *finding = strsep(&line, "\t"), *advice = strsep(&line, "\t");
    if (check && strcmp(level, "fact") == 0)
        store_fact(facts, check, finding ? finding : "");
    else if (finding)
        findings_add(findings, findings_level(level), check, finding, advice);
    else if (level[0])
        fprintf(stderr, "%s\n", level);
}

static void run_script(struct findings *findings, struct facts *facts,
                       struct script_options *options, char *output)
{
    char path[PROGRAM_PATH_SIZE];
    if (!program_locate(MCAST_TO_LIBEXEC "/mcastd/slurm/check", path)) {
        findings_add(findings, FINDING_PROBLEM, "hooks",
                     "mcastd's Slurm hooks are not installed beside mcastctl, nor what checks them",
                     "install mcastd here (cmake --install, or the package)");
        return;
    }
    options->argv[0] = path;
    const int rc = program_run_for(CHECK_TIMEOUT_MS, options->argv, NULL, output, OUTPUT_SIZE);
    for (char *line; (line = strsep(&output, "\n"));)
        read_script_line(findings, facts, line);
    if (rc != 0 || (!facts->cluster && findings_count(findings, FINDING_PROBLEM) == 0))
        findings_addf(findings, FINDING_PROBLEM, "hooks",
                      "run it by hand; it reads the hooks' settings (/etc/mcastd/slurm-hooks)",
                      "%s failed", path);
}

/* ---- the broker ---- */

/* Texts of JSON; status: NULL: none. */
static void judge_answers(struct findings *findings, const struct facts *facts, const char *whoami,
                          const char *status)
{
    const struct manager manager = {
        .cluster = facts->cluster,
        .hooks = facts->hooks ? facts->hooks : "",
        .user = facts->user ? facts->user : "",
        .controller = facts->controller && facts->controller[0],
        .node = facts->node && facts->node[0],
    };
    json_t *who = json_loads(whoami, 0, NULL);
    json_t *how = status ? json_loads(status, 0, NULL) : NULL;
    manager_judge(findings, &manager, who, how);
    json_decref(who);
    json_decref(how);
}

/* As the hooks do: what is not said on the command line is in their settings. An exit code, but for
 * problems that were found. */
static int ask_broker(struct findings *findings, const struct common *common,
                      const struct facts *facts)
{
    struct common as_hooks = *common;
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    char *whoami = NULL, *status = NULL;
    int code = EXIT_OK;
    if (!as_hooks.url && facts->url && facts->url[0])
        as_hooks.url = facts->url;
    if (!as_hooks.cacert && facts->cacert && facts->cacert[0])
        as_hooks.cacert = facts->cacert;
    if (command_connect(&as_hooks, &handle, &error) < 0 ||
        mcast_whoami(handle, &whoami, &error) < 0) {
        findings_add(findings, FINDING_PROBLEM, "broker", error.text,
                     "start mcastd, or say where it is: /etc/mcastd/slurm-hooks: MCAST_URL=…");
        code = mcast_exit_status(&error) == MCAST_EXIT_NO_ANSWER ? EXIT_UNREACHABLE : EXIT_OK;
    } else {
        (void)mcast_status(handle, &status, NULL); /* not everyone may see it */
        judge_answers(findings, facts, whoami, status);
    }
    free(whoami);
    free(status);
    mcast_close(handle);
    return code;
}

static int misused(const struct command *command)
{
    char flux[PROGRAM_PATH_SIZE];
    if (!program_locate(MCAST_TO_LIBEXEC "/mcastd/flux/check", flux))
        snprintf(flux, sizeof(flux), "libexec/mcastd/flux/check");
    return command_misused(command, "check what? Only slurm is known; for Flux run %s", flux);
}

static int run_check(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option known[] = {
        {"conf", required_argument, NULL, 'c'},
        {"hooks", required_argument, NULL, 'k'},
        {"settings", required_argument, NULL, 's'},
        {"node", no_argument, NULL, 'n'},
        {0},
    };
    struct script_options options = {.count = 1};
    struct facts facts = {0};
    int rc = command_options(command, common, argc, argv, known, add_script_option, &options);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (optind + 1 != argc || strcmp(argv[optind], "slurm") != 0)
        return misused(command);
    if (common->cluster)
        (void)add_script_option('C', common->cluster, &options);
    struct findings *findings = findings_create();
    char *output = findings ? malloc(OUTPUT_SIZE) : NULL;
    if (!output) {
        findings_destroy(findings);
        return command_print_json(NULL);
    }
    run_script(findings, &facts, &options, output);
    rc = facts.cluster ? ask_broker(findings, common, &facts) : EXIT_OK;
    free(output);
    const int printed = command_print_findings(findings, common->json);
    if (rc == EXIT_OK && (findings_count(findings, FINDING_PROBLEM) > 0 ||
                          findings_count(findings, FINDING_WARNING) > 0))
        rc = EXIT_REFUSED;
    findings_destroy(findings);
    return rc != EXIT_OK ? rc : printed;
}

const struct command command_check = {"check", "whether Slurm and mcastd fit together", usage,
                                      run_check};
