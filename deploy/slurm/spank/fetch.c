/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/fetch.h"

#include "deploy/slurm/spank/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of mcastctl and mcast-node. */
enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_NOT_FOUND = 3 };

enum { JOB_SIZE = 16, PATH_SIZE = 512, SHOWN_SIZE = 8192, VARIABLES_MAX = 4096, EPILOG_S = 2 };

/* A command line for one of our programs. */
struct line {
    const char *words[PROGRAM_ARGS_MAX + 1];
    size_t count;
    char job[JOB_SIZE];
};

/* option: NULL: an argument. value: NULL or "": nothing is added. */
static void add(struct line *line, const char *option, const char *value)
{
    if (!value || !value[0] || line->count + 2 > PROGRAM_ARGS_MAX)
        return;
    if (option)
        line->words[line->count++] = option;
    line->words[line->count++] = value;
}

static void begin(struct line *line, const struct fetch *fetch, const char *program,
                  const char *command)
{
    *line = (struct line){.words = {program, command}, .count = 2};
    snprintf(line->job, sizeof line->job, "%u", fetch->job);
    add(line, "--cluster", fetch->cluster);
}

/* mcastctl and one of its commands, for this job. */
static void begin_mcastctl(struct line *line, const struct fetch *fetch, const char *command)
{
    const struct settings *settings = fetch->settings;
    begin(line, fetch, settings->mcastctl, command);
    add(line, "--url", settings->url);
    add(line, "--cacert", settings->cacert);
    add(line, "--munge-socket", settings->munge_socket);
}

/* Runs it and adds what it printed to the grant. True: what it has to tell is known; else said is
 * why not. */
static bool ask(const struct line *line, const struct fetch *fetch, struct grant *grant,
                char said[FETCH_SAID_SIZE], int *status)
{
    struct program_output output = {.text = grant->text + grant->length,
                                    .size = sizeof grant->text - grant->length};
    struct error err = {0};
    *status = program_run(line->words, fetch->deadline_ms, &output);
    if (*status == EXIT_NOT_FOUND)
        output.length = 0;
    if ((*status == EXIT_DONE || *status == EXIT_NOT_FOUND) &&
        grant_take(grant, output.length, &err) == 0)
        return true;
    explicit_bzero(grant->text + grant->length, sizeof grant->text - grant->length);
    if (*status == PROGRAM_STOPPED)
        snprintf(said, FETCH_SAID_SIZE, "%.120s does not answer in time", line->words[0]);
    else if (*status == PROGRAM_NONE)
        snprintf(said, FETCH_SAID_SIZE, "%.120s cannot be run", line->words[0]);
    else
        snprintf(said, FETCH_SAID_SIZE, "%.250s", *status > 0 ? output.said : err.text);
    return false;
}

void fetch_collectives(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    struct line line;
    int status;
    if (!fetch->cluster[0]) {
        snprintf(fetched->no_collectives, FETCH_SAID_SIZE, "the cluster's name is not known");
        return;
    }
    begin_mcastctl(&line, fetch, "env");
    add(&line, "--step", fetch->step);
    add(&line, "--format", "null");
    add(&line, NULL, line.job);
    fetched->collectives = ask(&line, fetch, grant, fetched->no_collectives, &status);
}

void fetch_reason(const struct fetch *fetch, char said[FETCH_SAID_SIZE])
{
    static const char title[] = "Hardware collectives ";
    struct line line;
    char text[SHOWN_SIZE], *rest = text;
    struct program_output output = {.text = text, .size = sizeof text - 1};
    begin_mcastctl(&line, fetch, "show");
    add(&line, NULL, line.job);
    if (!fetch->cluster[0] || program_run(line.words, fetch->deadline_ms, &output) != EXIT_DONE)
        return;
    text[output.length] = '\0';
    for (const char *shown; (shown = strsep(&rest, "\n"));) {
        if (strncmp(shown, title, strlen(title)) == 0) {
            snprintf(said, FETCH_SAID_SIZE, "%s", shown + strlen(title));
            return;
        }
    }
}

static void fetch_services(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    struct line line;
    int status;
    begin(&line, fetch, fetch->settings->mcast_node, "env");
    add(&line, "--config", fetch->settings->node_config);
    add(&line, "--node", fetch->node);
    add(&line, "--format", "null");
    add(&line, "--job", line.job);
    fetched->services = ask(&line, fetch, grant, fetched->no_services, &status);
    if (status != EXIT_REFUSED)
        fetched->no_services[0] = '\0';
}

/* What Prolog left on this node. */
static bool load(const struct fetch *fetch, struct grant *grant)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s.%u", fetch->settings->grants, fetch->node, fetch->job);
    return grant_load(grant, path) == 0;
}

void fetch_grant(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    *fetched = (struct fetched){0};
    if (load(fetch, grant)) {
        fetched->collectives = fetched->services = true;
        return;
    }
    fetch_collectives(fetch, grant, fetched);
    fetch_services(fetch, grant, fetched);
}

/* ---- the end of a step ---- */

/* An environment for mcast-cleanup: this one, with what is ours taken from the grant, where it is
 * NAME=value (as grant_take left it). Nothing is allocated, since srun has threads. False: it is
 * too long. */
static bool make_environment(const char *out[VARIABLES_MAX + 1], const struct grant *grant)
{
    size_t count = 0;
    for (char **variable = environ; *variable; variable++) {
        if (count == VARIABLES_MAX - GRANT_COUNT)
            return false;
        if (grant_find(*variable, strcspn(*variable, "=")) < 0)
            out[count++] = *variable;
    }
    for (int i = 0; i < GRANT_COUNT; i++) {
        if (grant->values[i])
            out[count++] = grant->values[i] - strlen(grant_names[i]) - 1;
    }
    out[count] = NULL;
    return true;
}

/* As a child of init, so that neither srun nor a reader of its output waits for it. */
static void detach(void)
{
    const int null = open("/dev/null", O_RDWR);
    program_reset_signals();
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        (void)dup2(null, fd);
    (void)close_range(null >= 0 ? 3 : 0, UINT_MAX, 0);
    (void)chdir("/");
}

/* As plugstack.conf says. */
static void add_broker(const struct fetch *fetch, struct grant *grant)
{
    const struct settings *settings = fetch->settings;
    const size_t room = sizeof grant->text - grant->length;
    const int length = snprintf(
        grant->text + grant->length, room, "%s=%s%c%s=%s", grant_names[GRANT_BROKER], settings->url,
        '\0', grant_names[GRANT_BROKER_CA], settings->cacert ? settings->cacert : "");
    if ((size_t)length < room)
        (void)grant_take(grant, (size_t)length + 1, NULL);
}

/* Becomes mcast-cleanup, which asks the broker: that knows when the job is over, too, and its token
 * with it. Where the broker is not known, the fabric manager is asked, but not when Epilog, soon
 * after the last step, has taken away what Prolog left (F19). */
__attribute__((noreturn)) static void become_cleanup(const struct fetch *fetch)
{
    static struct grant grant;
    static const char *environment[VARIABLES_MAX + 1];
    static const struct timespec pause = {EPILOG_S, 0};
    struct fetched fetched = {0};
    const char *const argv[] = {fetch->settings->mcast_cleanup, "--wait", "--step", fetch->step,
                                NULL};
    detach();
    const bool here = load(fetch, &grant);
    if (!here)
        fetch_collectives(fetch, &grant, &fetched);
    if (!grant.values[GRANT_BROKER] && fetch->settings->url)
        add_broker(fetch, &grant);
    const bool known = grant.values[GRANT_BROKER] || getenv(grant_names[GRANT_BROKER]);
    if (here && !known && (nanosleep(&pause, NULL) < 0 || !load(fetch, &grant)))
        _exit(0);
    if (grant_has_hwcoll(&grant) && make_environment(environment, &grant))
        (void)execve(argv[0], (char *const *)argv, (char *const *)environment);
    _exit(1);
}

void fetch_clean_up(const struct fetch *fetch)
{
    const pid_t child = fork();
    if (child == 0) {
        (void)setsid();
        if (fork() == 0)
            become_cleanup(fetch);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}
