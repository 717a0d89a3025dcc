#include "broker/log/statusline.h"

#include "broker/log/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct line {
    char *text;
    size_t length, size;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line->text + line->length, line->size - line->length, format, args);
    va_end(args);
    if (length > 0)
        line->length += (size_t)length;
    if (line->length >= line->size)
        line->length = line->size - 1;
}

static void add_link(struct line *line, const struct core_status *core)
{
    if (core->link_url[0] == '\0')
        add(line, "No fabric manager is configured.");
    else if (core->link == LINK_UP)
        add(line, "Fabric manager %s is up.", core->link_url);
    else if (core->link_error[0] != '\0')
        add(line, "Fabric manager %s: %s (%.200s).", core->link_url, link_state_word(core->link),
            core->link_error);
    else
        add(line, "Fabric manager %s: %s.", core->link_url, link_state_word(core->link));
}

static void add_alarm(struct line *line, const struct statusline *facts)
{
    const struct core_alarm *alarm = &facts->alarm;
    if (facts->alarms == 0)
        return;
    add(line, "ALARM %s%s%s: %.160s", alarm_kind_word(alarm->kind),
        alarm->cluster != NULL ? " of cluster " : "", alarm->cluster != NULL ? alarm->cluster : "",
        alarm->detail);
    if (facts->alarms > 1)
        add(line, " (and %" PRIu32 " more)", facts->alarms - 1);
    add(line, ". ");
}

size_t statusline_format(const struct statusline *facts, char out[STATUSLINE_SIZE])
{
    char raw[STATUSLINE_SIZE / 2] = "";
    struct line line = {.text = raw, .size = sizeof raw};
    add_alarm(&line, facts);
    if (facts->engine.role == ROLE_STANDBY)
        add(&line, "Another broker has taken over. ");
    if (facts->engine.storage_failing)
        add(&line, "Cannot save: %.120s; requests are refused. ", facts->engine.storage_error);
    if (facts->reload_refused)
        add(&line, "The last reload was refused (see the log). ");
    add_link(&line, &facts->core);
    size_t said = log_escape(out, STATUSLINE_SIZE - 128, raw);

    struct line rest = {.text = out, .length = said, .size = STATUSLINE_SIZE};
    add(&rest,
        " %" PRIu64 " jobs, %" PRIu64 " being released, %" PRIu32 " of %" PRIu32 " VNIs free.",
        facts->core.jobs_active, facts->core.jobs_releasing, facts->core.vnis_free,
        facts->core.vnis_pool);
    return said;
}
