/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/slurm/spank/fetch.h"

#include "deploy/slurm/spank/program.h"

#include <stdio.h>
#include <string.h>

/* Of mcastctl and mcast-node. */
enum {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,
    EXIT_NOT_FOUND = 3,
    JOB_SIZE = 16,
    PATH_SIZE = 512,
    SHOWN_SIZE = 8192
};

struct line {
    const char *words[PROGRAM_ARGS_MAX + 1];
    size_t count;
};

static void add(struct line *line, const char *option, const char *value)
{
    if (!value || !value[0] || line->count + 2 > PROGRAM_ARGS_MAX)
        return;
    if (option)
        line->words[line->count++] = option;
    line->words[line->count++] = value;
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

/* mcastctl and one of its commands, for this job. */
static void begin(struct line *line, const char *command, const struct fetch *fetch)
{
    const struct settings *settings = fetch->settings;
    *line = (struct line){0};
    add(line, NULL, settings->mcastctl);
    add(line, NULL, command);
    add(line, "--cluster", fetch->cluster);
    add(line, "--url", settings->url);
    add(line, "--cacert", settings->cacert);
    add(line, "--munge-socket", settings->munge_socket);
}

void fetch_collectives(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    struct line line;
    char job[JOB_SIZE];
    int status;
    snprintf(job, sizeof job, "%u", fetch->job);
    if (!fetch->cluster[0]) {
        snprintf(fetched->no_collectives, FETCH_SAID_SIZE, "the cluster's name is not known");
        return;
    }
    begin(&line, "env", fetch);
    add(&line, "--step", fetch->step);
    add(&line, "--format", "null");
    add(&line, NULL, job);
    fetched->collectives = ask(&line, fetch, grant, fetched->no_collectives, &status);
}

/* The line of `mcastctl show` that begins so, without that. */
static void take_reason(const char *text, const char *title, char said[FETCH_SAID_SIZE])
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        if (strncmp(text, title, strlen(title)) == 0) {
            snprintf(said, FETCH_SAID_SIZE, "%.*s", (int)(length - strlen(title)),
                     text + strlen(title));
            return;
        }
        text += length + (text[length] ? 1 : 0);
    }
}

void fetch_reason(const struct fetch *fetch, char said[FETCH_SAID_SIZE])
{
    struct line line;
    char job[JOB_SIZE], text[SHOWN_SIZE];
    struct program_output output = {.text = text, .size = sizeof text - 1};
    snprintf(job, sizeof job, "%u", fetch->job);
    begin(&line, "show", fetch);
    add(&line, NULL, job);
    if (!fetch->cluster[0] || program_run(line.words, fetch->deadline_ms, &output) != EXIT_DONE)
        return;
    text[output.length] = '\0';
    take_reason(text, "Hardware collectives ", said);
}

static void fetch_services(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    struct line line = {0};
    char job[JOB_SIZE];
    int status;
    snprintf(job, sizeof job, "%u", fetch->job);
    add(&line, NULL, fetch->settings->mcast_node);
    add(&line, NULL, "env");
    add(&line, "--config", fetch->settings->node_config);
    add(&line, "--cluster", fetch->cluster);
    add(&line, "--node", fetch->node);
    add(&line, "--format", "null");
    add(&line, "--job", job);
    fetched->services = ask(&line, fetch, grant, fetched->no_services, &status);
    if (status != EXIT_REFUSED)
        fetched->no_services[0] = '\0';
}

void fetch_grant(const struct fetch *fetch, struct grant *grant, struct fetched *fetched)
{
    char path[PATH_SIZE];
    struct error err = {0};
    *fetched = (struct fetched){0};
    snprintf(path, sizeof path, "%s/%s.%u", fetch->settings->grants, fetch->node, fetch->job);
    const int rc = grant_load(grant, path, &err);
    if (rc == 0) {
        fetched->collectives = fetched->services = true;
        return;
    }
    fetch_collectives(fetch, grant, fetched);
    fetch_services(fetch, grant, fetched);
}
