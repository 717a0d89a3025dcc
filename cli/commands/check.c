#include "cli/command.h"
#include "cli/doctor/place.h"
#include "cli/slurm/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcastctl check slurm [--conf FILE] [--hooks FOLDER] [--settings FILE] [--node]\n"
    "Looks whether Slurm and mcastd are wired together, and says of each line of their\n"
    "configuration that it is right, or which one to write: the hooks, how tasks get their\n"
    "environment, the broker's view of the cluster, and, on a node, mcast-node. Run it on each "
    "kind\n"
    "of host; on the controller's, as SlurmUser. Flux has one of its own: "
    "libexec/mcastd/flux/check.\n"
    "\n"
    "  --conf FILE      this slurm.conf, instead of what scontrol shows\n"
    "  --hooks FOLDER   where mcastd's hooks are (default: where they were installed)\n"
    "  --settings FILE  of the hooks (default: /etc/mcastd/slurm-hooks)\n"
    "  --node           this host is a node, and perhaps the controller's, too\n\n"
    "Exit codes: 0 all is well, 1 something is not, 4 the broker cannot be reached.\n\n"
    "Example:\n"
    "  mcastctl check slurm\n";

static int take(int option, const char *value, void *data)
{
    struct slurmsite_options *options = data;
    switch (option) {
    case 'c':
        options->conf = value;
        break;
    case 'k':
        options->hooks = value;
        break;
    case 's':
        options->settings = value;
        break;
    case 'n':
        options->node = true;
        break;
    }
    return COMMAND_GO_ON;
}

/* As the hooks would: what is not said on the command line is in their settings. */
static struct common as_hooks(const struct common *common, const struct slurmsite *site)
{
    struct common theirs = *common;
    const char *url = slurmsite_setting(site, "MCAST_URL");
    const char *cacert = slurmsite_setting(site, "MCAST_CACERT");
    if (!theirs.url && url)
        theirs.url = url;
    if (!theirs.cacert && cacert)
        theirs.cacert = cacert;
    return theirs;
}

/* An exit code, but for problems that were found. */
static int ask_broker(struct findings *findings, const struct common *common,
                      const struct slurmsite *site)
{
    const struct common theirs = as_hooks(common, site);
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    char *whoami = NULL, *status = NULL;
    int rc = command_connect(&theirs, &handle, &error), code = EXIT_OK;
    if (rc == 0)
        rc = mcast_whoami(handle, &whoami, &error);
    if (rc < 0) {
        findings_add(findings, FINDING_PROBLEM, "broker", error.text,
                     "start mcastd, or say where it is: /etc/mcastd/slurm-hooks: MCAST_URL=…");
        code = mcast_exit_status(&error) == MCAST_EXIT_NO_ANSWER ? EXIT_UNREACHABLE : EXIT_OK;
    } else {
        (void)mcast_status(handle, &status, NULL); /* not everybody's to see */
        json_t *who = json_loads(whoami, 0, NULL);
        json_t *how = status ? json_loads(status, 0, NULL) : NULL;
        slurmcheck_broker(findings, &site->check, who, how);
        json_decref(who);
        json_decref(how);
    }
    free(whoami);
    free(status);
    mcast_close(handle);
    return code;
}

static int check(const struct common *common, const struct slurmsite_options *options,
                 struct findings *findings)
{
    struct slurmsite site;
    int code = EXIT_OK;
    if (slurmsite_read(&site, options, common->cluster, findings) == 0) {
        slurmcheck_hooks(findings, &site.check);
        slurmcheck_settings(findings, &site.check);
        slurmcheck_tasks(findings, &site.check);
        code = ask_broker(findings, common, &site);
        if (site.check.node)
            slurmsite_judge_node(findings, &site);
    }
    slurmsite_release(&site);
    return code;
}

static int misused(const struct command *command)
{
    char flux[PLACE_SIZE];
    if (!place_find(MCAST_TO_LIBEXEC "/mcastd/flux/check", flux))
        snprintf(flux, sizeof(flux), "libexec/mcastd/flux/check");
    return command_misused(command, "check what? Only slurm is known; for Flux run %s", flux);
}

static int run(const struct command *command, struct common *common, int argc, char **argv)
{
    static const struct option known[] = {
        {"conf", required_argument, NULL, 'c'},
        {"hooks", required_argument, NULL, 'k'},
        {"settings", required_argument, NULL, 's'},
        {"node", no_argument, NULL, 'n'},
        {0},
    };
    struct slurmsite_options options = {0};
    int rc = command_options(command, common, argc, argv, known, take, &options);
    if (rc != COMMAND_GO_ON)
        return rc;
    if (optind + 1 != argc || strcmp(argv[optind], "slurm") != 0)
        return misused(command);
    struct findings *findings = findings_create();
    if (!findings)
        return command_print_json(NULL);
    rc = check(common, &options, findings);
    const int printed = command_print_findings(findings, common->json);
    if (rc == EXIT_OK && (findings_count(findings, FINDING_PROBLEM) > 0 ||
                          findings_count(findings, FINDING_WARNING) > 0))
        rc = EXIT_REFUSED;
    findings_destroy(findings);
    return rc != EXIT_OK ? rc : printed;
}

const struct command command_check = {"check", "whether Slurm and mcastd fit together", usage, run};
