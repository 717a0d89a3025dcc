/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/visit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* One line: when, who, what, and how it went. */
static void write_log(const struct visit *visit, const char *outcome)
{
    struct timespec now;
    struct tm parts;
    char when[32];
    char line[1024];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(when, sizeof when, "%FT%T", &parts);
    int length =
        snprintf(line, sizeof line, "%s.%06ldZ pid=%d uid=%u %s %s\n", when, now.tv_nsec / 1000,
                 (int)getpid(), (unsigned int)geteuid(), visit->note, outcome);
    if (length >= (int)sizeof line) {
        length = sizeof line - 1;
        line[length - 1] = '\n';
    }
    place_append(&visit->place, "log", line, (size_t)length);
}

/* Such mistakes are logged whatever cxi.conf says of the log. */
static int broken(const struct visit *visit, const struct error *err)
{
    char outcome[ERROR_TEXT_SIZE + 16];
    snprintf(outcome, sizeof outcome, "cannot: %s", err->text);
    write_log(visit, outcome);
    return -EIO;
}

static void log_outcome(const struct visit *visit, int result)
{
    const char *name = result < 0 ? strerrorname_np(-result) : NULL;
    char outcome[96];
    if (name)
        snprintf(outcome, sizeof outcome, "= -%s", name);
    else
        snprintf(outcome, sizeof outcome, "= %d", result);
    if (visit->fault)
        snprintf(outcome + strlen(outcome), sizeof outcome - strlen(outcome), " (fault %s)",
                 visit->fault->name);
    if (visit->conf && visit->conf->log)
        write_log(visit, outcome);
}

/* The first rule that applies. A lock, and the right to write, is needed only if some are counted:
 * others also meet users who may only look. */
static int find_fault(struct visit *visit, bool after, const struct fault **found)
{
    const struct conf *conf = visit->conf;
    struct state state;
    struct error err;
    bool counted = false;
    int r = 0;
    *found = NULL;
    for (unsigned int i = 0; i < conf->fault_count; i++)
        counted |= fault_is_about(&conf->faults[i], &visit->call, after) &&
                   fault_is_counted(&conf->faults[i]);
    state_init(&state);
    if (counted && !(r = place_lock(&visit->place, &err)))
        r = state_load(&state, &visit->place, conf, &err);
    for (unsigned int i = 0; i < conf->fault_count && !r && !*found; i++)
        if (fault_is_about(&conf->faults[i], &visit->call, after) &&
            fault_meets(&conf->faults[i], &visit->call, &state))
            *found = &conf->faults[i];
    if (counted && !r)
        r = state_save(&state, &visit->place, &err);
    state_release(&state);
    place_unlock(&visit->place);
    return r ? broken(visit, &err) : 0;
}

/* Waits as long as the rule says: visibly, so that a test can kill the process meanwhile. */
static void delay(struct visit *visit, const struct fault *fault)
{
    if (fault->delay_ms == 0)
        return;
    struct timespec left = {.tv_sec = fault->delay_ms / 1000,
                            .tv_nsec = fault->delay_ms % 1000 * 1000000};
    char outcome[96];
    snprintf(outcome, sizeof outcome, "waits %jd ms (fault %s)", (intmax_t)fault->delay_ms,
             fault->name);
    if (visit->conf->log)
        write_log(visit, outcome);
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

/* Reads cxi.conf and carries out the fault that comes before the effect. */
static int begin_call(struct visit *visit)
{
    struct error err;
    if (place_open(&visit->place, &err) < 0)
        return -EIO;
    if (!(visit->conf = conf_read(&visit->place, &err)))
        return broken(visit, &err);
    if (visit->call.nic != FAULT_NONE)
        visit->nic = conf_nic(visit->conf, visit->call.nic);
    int r = find_fault(visit, false, &visit->fault);
    if (r < 0 || !visit->fault)
        return r;
    delay(visit, visit->fault);
    return -visit->fault->error;
}

int visit_begin(struct visit *visit, const char *call, enum visit_kind kind, unsigned int nic,
                unsigned int service)
{
    struct error err;
    *visit = (struct visit){.call = {.name = call, .nic = nic, .service = service}};
    state_init(&visit->state);
    visit_note(visit, "%s", call);
    if (nic != FAULT_NONE)
        visit_note(visit, " cxi%u", nic);
    if (service != FAULT_NONE)
        visit_note(visit, " svc=%u", service);
    int r = begin_call(visit);
    if (r || kind == VISIT_NICS)
        return r;
    if (kind == VISIT_CHANGE && !visit->conf->anyone && geteuid() != 0)
        return -EPERM;
    if (!visit->nic)
        return -EIO;
    if ((kind != VISIT_LOOK && place_lock(&visit->place, &err) < 0) ||
        state_load(&visit->state, &visit->place, visit->conf, &err) < 0)
        return broken(visit, &err);
    return 0;
}

void visit_note(struct visit *visit, const char *format, ...)
{
    size_t length = strlen(visit->note);
    va_list args;
    va_start(args, format);
    vsnprintf(visit->note + length, sizeof visit->note - length, format, args);
    va_end(args);
}

int visit_end(struct visit *visit, int result)
{
    struct error err;
    const struct fault *fault = NULL;
    if (result >= 0 && visit->place.lock >= 0 && state_save(&visit->state, &visit->place, &err) < 0)
        result = broken(visit, &err);
    place_unlock(&visit->place);
    if (visit->conf && !visit->fault && find_fault(visit, true, &fault) == 0 && fault) {
        visit->fault = fault;
        delay(visit, fault);
        if (fault->error)
            result = -fault->error;
    }
    log_outcome(visit, result);
    state_release(&visit->state);
    free(visit->conf);
    place_close(&visit->place);
    return result;
}
