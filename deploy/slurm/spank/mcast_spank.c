/* SPDX-License-Identifier: Apache-2.0 */
/* mcast_spank.so: mcastd in srun, sbatch and salloc, and in each step of a job (F14, F16, F19,
 * F23).
 *
 *   where                  as whom            does
 *   srun, sbatch, salloc   the user           reads --mcast, refuses what is none of its words
 *   slurmstepd, once       the user (seteuid) finds what was granted, sets the tasks' variables
 *   each task              the user           says no, where the job would have nothing without
 *   srun, at its end       the user           has the step's trees removed, in the background
 *
 * As root nothing is done but reading words. What fails here fails no step: only hwcoll=required
 * and vni=K do, and that in the task alone. A plugin that is `optional` in plugstack.conf, as this
 * one has to be, is not asked for its opinion otherwise: Slurm drops what its callbacks return. */

#include "deploy/slurm/spank/fetch.h"
#include "deploy/slurm/spank/options.h"
#include "deploy/slurm/spank/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(mcast, 1)
#pragma GCC visibility pop

/* All callbacks have the same parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* What the job asked for, for the steps that are made in it. */
#define JOB_VARIABLE "SLURM_MCAST"

enum { CLUSTER_SIZE = 64, VALUE_SIZE = 256, CA_SIZE = 4096, CLEANUP_MS = 10000 };
enum { NO_TASKS_FROM = 0xfffffffc, ENDED = 1 };

/* Says whose it is to those who look into the file: mcastctl check slurm. */
__attribute__((used)) static const char release[] = "mcast_spank.so of mcastd " MCAST_VERSION;

static struct settings settings;
static char asked[OPTIONS_TEXT_MAX + 1]; /* --mcast of this command; "": not given */
static bool made_job;                    /* of srun: not a step of a job that was there before */
static bool has_step;                    /* of srun: the next say which */
static uint32_t step_job, step_number;
static char cluster[CLUSTER_SIZE], refusal[400];

static const char *variable_or_empty(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static void copy_text(char *out, size_t size, const char *text)
{
    if (strlen(text) < size)
        memcpy(out, text, strlen(text) + 1);
    else
        out[0] = '\0';
}

/* ---- the option ---- */

static bool is_step(void)
{
    return spank_context() == S_CTX_LOCAL && variable_or_empty("SLURM_JOB_ID")[0];
}

static int read_option(int val, const char *words, int remote)
{
    struct options options;
    struct error err = {0};
    int rc = options_read(&options, words ? words : "", &err);
    if (rc == 0 && !remote && is_step() && options.of_job &&
        !options_step_fits(words, getenv(JOB_VARIABLE)))
        rc = error_set(
            &err, ERROR_INVALID,
            "only hwcoll= and vni= can differ from step to step; the rest is the job's: give it "
            "to sbatch, salloc, or the srun that makes the job");
    if (rc == 0)
        copy_text(asked, sizeof asked, words);
    else
        slurm_error("mcast: --mcast: %s", err.text);
    return rc == 0 ? 0 : -1;
}

static struct spank_option option = {
    .name = "mcast",
    .arginfo = "vnis=N,shared=A:B,hwcoll=on|off|required,tc=A:B,vni=K",
    .usage = "Slingshot: VNIs, hardware collectives, traffic classes",
    .has_arg = 1,
    .cb = read_option,
};

int slurm_spank_init(spank_t spank, int count, char *words[])
{
    struct error err = {0};
    Dl_info info; /* the file that this code was loaded from */
    const bool known = dladdr(&option, &info) && info.dli_fname;
    const spank_context_t context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
        return 0;
    if (settings_read(&settings, known ? info.dli_fname : "", count, words, &err) < 0)
        slurm_debug("mcast: %s", err.text);
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
        slurm_error("mcast: --mcast cannot be offered");
    return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int count, char *words[])
{
    const spank_context_t context = spank_context();
    made_job = context == S_CTX_LOCAL && !is_step();
    if (context != S_CTX_ALLOCATOR && !made_job)
        return 0;
    /* What is another job's, in which this one is made, is not for it, and its token not for
     * the environments that slurmctld keeps. */
    if (asked[0])
        (void)setenv(JOB_VARIABLE, asked, 1);
    else
        (void)unsetenv(JOB_VARIABLE);
    for (int i = 0; i < GRANT_FIRST_SETTING; i++)
        (void)unsetenv(grant_names[i]);
    return 0;
}

/* ---- the tasks ---- */

static const char *step_variable(spank_t spank, const char *name, char *out, int size)
{
    if (spank_getenv(spank, name, out, size) != ESPANK_SUCCESS)
        out[0] = '\0';
    return out;
}

/* What the step said, and else its job. */
static struct options read_wishes(spank_t spank)
{
    char words[OPTIONS_TEXT_MAX + 1];
    struct options job, step;
    if (options_read(&job, step_variable(spank, JOB_VARIABLE, words, sizeof words), NULL) < 0)
        job = (struct options){0};
    if (options_read(&step, asked, NULL) < 0)
        return job;
    if (step.hwcoll == OPTIONS_HWCOLL_UNSAID)
        step.hwcoll = job.hwcoll;
    if (step.vni == 0)
        step.vni = job.vni;
    return step;
}

static void set_variable(spank_t spank, enum grant_name name, const char *value)
{
    if (value)
        (void)spank_setenv(spank, grant_names[name], value, 1);
    else if ((int)name < GRANT_FIRST_SETTING)
        (void)spank_unsetenv(spank, grant_names[name]);
}

static void set_variables(spank_t spank, const struct grant *grant, int from, int to)
{
    for (int i = from; i < to; i++)
        set_variable(spank, (enum grant_name)i, grant->values[i]);
}

/* Where the broker could not be asked, what srun brought is good if it is this job's: it is the
 * same on all nodes (F17). */
static bool has_inherited(spank_t spank, uint32_t job)
{
    char value[VALUE_SIZE];
    return grant_is_of(step_variable(spank, grant_names[GRANT_JOB], value, sizeof value), cluster,
                       job);
}

/* The one that is not the same everywhere: libfabric looks without end for a CA that is not here.
 */
static void check_inherited_ca(spank_t spank)
{
    char value[CA_SIZE];
    struct stat status;
    const char *ca = step_variable(spank, grant_names[GRANT_CACERT], value, sizeof value);
    if (ca[0] && strcmp(ca, "yes") != 0 && strcmp(ca, "no") != 0 &&
        (ca[0] != '/' || stat(ca, &status) < 0))
        set_variable(spank, GRANT_CACERT,
                     "yes"); /* not "no": the token must not go to an unverified server */
}

/* True: the tasks can use hardware collectives. */
static bool set_collectives(spank_t spank, const struct grant *grant, const struct fetch *fetch,
                            bool known, enum options_hwcoll hwcoll)
{
    static const struct grant nothing;
    bool there = known ? grant_has_hwcoll(grant) : has_inherited(spank, fetch->job);
    if (hwcoll == OPTIONS_HWCOLL_OFF || !there) {
        set_variables(spank, &nothing, 0, GRANT_FIRST_OF_NODE);
        return false;
    }
    if (known)
        set_variables(spank, grant, 0, GRANT_FIRST_OF_NODE);
    else
        check_inherited_ca(spank);
    set_variable(spank, GRANT_STEP, fetch->step); /* never unset (F16) */
    return true;
}

/* What the user asked for and does not have, in one line of the step's first node; on every node
 * what is wrong with it alone. */
static void report_missing(spank_t spank, const struct fetch *fetch, const struct fetched *fetched,
                           enum options_hwcoll hwcoll, bool there)
{
    struct fetch now = *fetch;
    char why[FETCH_SAID_SIZE] = "the job was granted none";
    uint32_t node = 0;
    if (fetched->no_services[0])
        slurm_spank_log("mcastd: %s", fetched->no_services);
    if (there || (hwcoll != OPTIONS_HWCOLL_ON && hwcoll != OPTIONS_HWCOLL_REQUIRED))
        return;
    (void)spank_get_item(spank, S_JOB_NODEID, &node);
    now.deadline_ms = program_now_ms() + settings.timeout_ms;
    if (!fetched->collectives)
        copy_text(why, sizeof why, fetched->no_collectives);
    else if (node == 0)
        fetch_reason(&now, why);
    if (hwcoll == OPTIONS_HWCOLL_REQUIRED)
        snprintf(refusal, sizeof refusal,
                 "mcastd: hwcoll=required, but no hardware collectives: %s", why);
    else if (node == 0)
        slurm_spank_log("mcastd: no hardware collectives: %s", why);
}

/* A step on a VNI that it did not want would be among those whom it wants to be apart from. */
static void choose_vni(struct grant *grant, const struct fetched *fetched, unsigned which)
{
    const unsigned count = which > 0 ? grant_choose_vni(grant, which) : 0;
    if (count >= which)
        return;
    if (fetched->services)
        snprintf(refusal, sizeof refusal, "mcastd: vni=%u, but the job has %u VNI%s", which, count,
                 count == 1 ? "" : "s");
    else
        snprintf(refusal, sizeof refusal,
                 "mcastd: vni=%u, but the job's VNIs are not known on this node%s%s", which,
                 fetched->no_services[0] ? ": " : "", fetched->no_services);
}

static void prepare_tasks(spank_t spank, uint32_t job, uint32_t number)
{
    static struct grant grant;
    char step[GRANT_STEP_SIZE];
    struct fetched fetched;
    const struct fetch fetch = {.settings = &settings,
                                .cluster = cluster,
                                .node = variable_or_empty("SLURMD_NODENAME"), /* slurmstepd's own */
                                .job = job,
                                .step = grant_step(number, step),
                                .deadline_ms = program_now_ms() + settings.timeout_ms};
    if (settings.cluster)
        copy_text(cluster, sizeof cluster, settings.cluster);
    else
        (void)step_variable(spank, "SLURM_CLUSTER_NAME", cluster, sizeof cluster);
    fetch_grant(&fetch, &grant, &fetched);
    const struct options wanted = read_wishes(spank);
    const bool there = set_collectives(spank, &grant, &fetch, fetched.collectives, wanted.hwcoll);
    choose_vni(&grant, &fetched, wanted.vni);
    set_variables(spank, &grant, GRANT_FIRST_OF_NODE, GRANT_FIRST_KEY);
    if (fetched.collectives) /* else what srun brought is the job's: of another it was taken away */
        set_variables(spank, &grant, GRANT_FIRST_KEY, GRANT_FIRST_OF_BROKER);
    report_missing(spank, &fetch, &fetched, wanted.hwcoll, there);
    grant_forget(&grant);
}

int slurm_spank_user_init(spank_t spank, int count, char *words[])
{
    uint32_t job = 0, step = 0;
    if (spank_get_item(spank, S_JOB_ID, &job) == ESPANK_SUCCESS &&
        spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS && step != NO_TASKS_FROM)
        prepare_tasks(spank, job, step);
    return 0;
}

/* A process of the task's own, and the user's: it may end. One of them says why. */
int slurm_spank_task_init(spank_t spank, int count, char *words[])
{
    uint32_t task = 0;
    if (!refusal[0])
        return 0;
    (void)spank_get_item(spank, S_TASK_GLOBAL_ID, &task);
    if (task == 0)
        slurm_error("%s", refusal);
    _exit(ENDED);
}

/* ---- the end of a step ---- */

/* Once, also for a step of several parts of a heterogeneous job: what the others leave goes with
 * them. So does all of a job that srun itself makes. */
int slurm_spank_local_user_init(spank_t spank, int count, char *words[])
{
    uint32_t nodes = 0;
    has_step = spank_get_item(spank, S_JOB_ID, &step_job) == ESPANK_SUCCESS &&
               spank_get_item(spank, S_JOB_STEPID, &step_number) == ESPANK_SUCCESS &&
               (!made_job || step_number > 0); /* srun --jobid, from outside */
    /* Nothing is multicast within a node, and jobs of a thousand small steps must not ask so often.
     */
    if (spank_get_item(spank, S_JOB_NNODES, &nodes) == ESPANK_SUCCESS && nodes == 1)
        has_step = false;
    return 0;
}

int slurm_spank_exit(spank_t spank, int count, char *words[])
{
    char step[GRANT_STEP_SIZE];
    const char *name =
        settings.cluster ? settings.cluster : variable_or_empty("SLURM_CLUSTER_NAME");
    const struct fetch fetch = {.settings = &settings,
                                .cluster = strlen(name) < CLUSTER_SIZE ? name : "",
                                .node = variable_or_empty("SLURMD_NODENAME"),
                                .job = step_job,
                                .step = grant_step(step_number, step),
                                .deadline_ms = program_now_ms() + CLEANUP_MS};
    if (spank_context() == S_CTX_LOCAL && has_step)
        fetch_clean_up(&fetch);
    has_step = false;
    return 0;
}
