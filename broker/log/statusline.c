/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/log/statusline.h"

#include "broker/log/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct line {
    char *text;
    size_t length, size;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct line *line, const char *format,
                                                              ...)
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

static void append_link(struct line *line, const struct core_status *core)
{
    if (core->link_url[0] == '\0')
        append_text(line, "No fabric manager is configured.");
    else if (core->link == LINK_UP)
        append_text(line, "Fabric manager %s is up.", core->link_url);
    else if (core->link_error[0] != '\0')
        append_text(line, "Fabric manager %s: %s (%.200s).", core->link_url,
                    link_state_word(core->link), core->link_error);
    else
        append_text(line, "Fabric manager %s: %s.", core->link_url, link_state_word(core->link));
}

static void append_alarm(struct line *line, const struct statusline *facts)
{
    const struct core_alarm *alarm = &facts->alarm;
    if (facts->alarms == 0)
        return;
    append_text(line, "ALARM %s%s%s: %.160s", alarm_kind_word(alarm->kind),
                alarm->cluster != NULL ? " of cluster " : "",
                alarm->cluster != NULL ? alarm->cluster : "", alarm->detail);
    if (facts->alarms > 1)
        append_text(line, " (and %" PRIu32 " more)", facts->alarms - 1);
    append_text(line, ". ");
}

size_t statusline_format(const struct statusline *facts, char out[STATUSLINE_SIZE])
{
    char raw[STATUSLINE_SIZE / 2] = "";
    struct line line = {.text = raw, .size = sizeof raw};
    append_alarm(&line, facts);
    if (facts->engine.role == ROLE_STANDBY)
        append_text(&line, "Another broker has taken over. ");
    if (facts->engine.storage_failing)
        append_text(&line, "Cannot save: %.120s; requests are refused. ",
                    facts->engine.storage_error);
    if (facts->reload_refused)
        append_text(&line, "The last reload was refused (see the log). ");
    append_link(&line, &facts->core);
    size_t said = log_escape(out, STATUSLINE_SIZE - 128, raw);

    struct line rest = {.text = out, .length = said, .size = STATUSLINE_SIZE};
    append_text(&rest,
                " %" PRIu64 " jobs, %" PRIu64 " being released, %" PRIu32 " of %" PRIu32
                " VNIs free.",
                facts->core.jobs_active, facts->core.jobs_releasing, facts->core.vnis_free,
                facts->core.vnis_pool);
    return said;
}
