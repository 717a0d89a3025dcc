/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/service/heartbeat.h"

#include "broker/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TICK_MS = 1000,
    NUMBERS_MS = 10000, /* a line with only new numbers is sent this often at most */
    WATCHDOG_SHARE = 3, /* WATCHDOG=1 is sent three times in the time that the watchdog waits */
    EXTEND_S = 60,      /* requested at least */
    /* A disk that reads and writes slower than this while it recovers is a failed start. */
    BYTES_A_SECOND = 4 * 1024 * 1024,
};

static int64_t size_of(const char *path, const char *suffix)
{
    char name[1100];
    struct stat found;
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &found) == 0 ? (int64_t)found.st_size : 0;
}

void heartbeat_opening(const struct notify *notify, const char *state_path)
{
    int64_t bytes = size_of(state_path, "") + size_of(state_path, "-wal");
    int64_t seconds = EXTEND_S + bytes / BYTES_A_SECOND;
    (void)notify_send(notify, true,
                      "EXTEND_TIMEOUT_USEC=%" PRId64 "000000\nSTATUS=Opening the ledger.", seconds);
}

void heartbeat_loading(void *notify, uint64_t records)
{
    (void)notify_send(notify, false,
                      "EXTEND_TIMEOUT_USEC=%d000000\n"
                      "STATUS=Loading the ledger: %" PRIu64 " records so far.",
                      EXTEND_S, records);
}

/* ---- the status line ---- */

/* Every user of the host reads it: it has no words that may name a job. */

static void print_link(FILE *out, const struct core_status *core)
{
    if (core->link_url[0] == '\0')
        fputs("No fabric manager is configured.", out);
    else if (core->link == LINK_UP)
        fprintf(out, "Fabric manager %s is up.", core->link_url);
    else if (core->link_cause[0] != '\0')
        fprintf(out, "Fabric manager %s: %s (%.200s).", core->link_url, link_state_word(core->link),
                core->link_cause);
    else
        fprintf(out, "Fabric manager %s: %s.", core->link_url, link_state_word(core->link));
}

static void print_standby(FILE *out, const struct leadership_facts *facts)
{
    if (facts->phase == LEADER_LEADING)
        fputs("Won the election, loading the ledger.", out);
    else if (facts->leader[0] != '\0')
        fprintf(out, "Standby: %s leads.", facts->leader);
    else
        fputs("Standby: no broker leads.", out);
    if (facts->unreachable_ms >= 0)
        fprintf(out, " etcd does not answer (%.200s).", facts->error);
}

static void print_alarm(FILE *out, const struct statusline *facts)
{
    const struct alarm *alarm = facts->alarms;
    uint32_t more = 0;
    if (!alarm)
        return;
    for (const struct alarm *next = alarm->next; next; next = next->next)
        more++;
    fprintf(out, "ALARM %s%s%s", alarm_kind_word(alarm->kind), alarm->cluster ? " of cluster " : "",
            alarm->cluster ? alarm->cluster : "");
    if (more > 0)
        fprintf(out, " (and %" PRIu32 " more)", more);
    fputs(". ", out);
}

size_t statusline_format(const struct statusline *facts, char out[STATUSLINE_SIZE])
{
    enum { NUMBERS_SIZE = 128 };
    const bool leads = facts->engine.role == ROLE_LEADER || !facts->engine.leadership;
    char raw[STATUSLINE_SIZE / 2] = "";
    FILE *file = fmemopen(raw, sizeof raw - 1, "w"); /* cuts what does not fit */
    if (file) {
        print_alarm(file, facts);
        if (facts->engine.storage_failing)
            fprintf(file, "Cannot save: %.120s; requests are refused. ",
                    facts->engine.storage_error);
        if (facts->reload_refused)
            fputs("The last reload was refused (see the log). ", file);
        if (leads)
            print_link(file, &facts->core);
        else
            print_standby(file, facts->engine.leadership);
        (void)fclose(file);
    }
    size_t first = log_escape(out, STATUSLINE_SIZE - NUMBERS_SIZE, raw);
    if (!leads) /* it knows no jobs */
        return first;
    (void)snprintf(out + first, STATUSLINE_SIZE - first,
                   " %" PRIu64 " jobs, %" PRIu64 " being released, %" PRIu32 " of %" PRIu32
                   " VNIs free.",
                   facts->core.use.jobs_active, facts->core.use.jobs_releasing,
                   facts->core.vnis_free, facts->core.vnis_pool);
    return first;
}

static size_t facts_of(const struct heartbeat *sign, char line[STATUSLINE_SIZE])
{
    const struct core *core = engine_core(sign->engine);
    struct statusline facts = {.alarms = core_alarms(core), .reload_refused = sign->reload_refused};
    core_status(core, &facts.core);
    engine_counters(sign->engine, &facts.engine);
    return statusline_format(&facts, line);
}

static void note_sent(struct heartbeat *sign, const char *line, size_t first)
{
    memcpy(sign->sent, line, first);
    sign->sent_size = first;
    sign->sent_ms = uv_now(sign->timer.loop);
}

static void send_status(struct heartbeat *sign)
{
    char line[STATUSLINE_SIZE];
    size_t first = facts_of(sign, line);
    bool changed = first != sign->sent_size || memcmp(line, sign->sent, first) != 0;
    bool due = uv_now(sign->timer.loop) - sign->sent_ms >= NUMBERS_MS;
    if ((changed || due) && notify_send(sign->notify, false, "STATUS=%s", line))
        note_sent(sign, line, first);
}

static void send_watchdog(struct heartbeat *sign)
{
    uint64_t now_ms = uv_now(sign->timer.loop);
    uint64_t wait_ms = sign->notify->watchdog_us / 1000 / WATCHDOG_SHARE;
    if (now_ms - sign->alive_ms >= wait_ms && notify_send(sign->notify, false, "WATCHDOG=1"))
        sign->alive_ms = now_ms;
}

static void on_tick(uv_timer_t *timer)
{
    struct heartbeat *sign = timer->data;
    log_settle();
    if (sign->notify->fd < 0)
        return;
    send_status(sign);
    if (sign->notify->watchdog_us > 0)
        send_watchdog(sign);
}

void heartbeat_start(struct heartbeat *sign, uv_loop_t *loop, const struct notify *notify,
                     const struct engine *engine)
{
    *sign = (struct heartbeat){.notify = notify, .engine = engine};
    (void)uv_timer_init(loop, &sign->timer);
    sign->timer.data = sign;
    uint64_t share_ms = notify->watchdog_us / 1000 / WATCHDOG_SHARE;
    uint64_t tick_ms = share_ms > 0 && share_ms < TICK_MS ? share_ms : TICK_MS;
    (void)uv_timer_start(&sign->timer, on_tick, tick_ms, tick_ms);
}

void heartbeat_ready(struct heartbeat *sign)
{
    char line[STATUSLINE_SIZE];
    size_t first = facts_of(sign, line);
    (void)notify_send(sign->notify, true, "READY=1\nSTATUS=%s", line);
    note_sent(sign, line, first);
}

void heartbeat_stop(struct heartbeat *sign)
{
    log_settle();
    uv_close((uv_handle_t *)&sign->timer, NULL);
}
