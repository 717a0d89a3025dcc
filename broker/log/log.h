/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

/* The log: standard error, one line a message, "text key=value …". Levels are those of syslog.h,
 * LOG_ERR to LOG_DEBUG. Callers never pass a secret; whatever else they pass, one message stays one
 * line of bounded length: control characters and broken UTF-8 are written as \xNN.
 *
 *   2024-05-01T12:00:00.250Z warning cannot save: disk full     in a terminal or a file
 *   <4>cannot save: disk full                                   when the journal of systemd reads,
 *                                                               and does not take it with fields
 *
 * Floods are cut (loglimit.h): of each place in the source that logs, a burst of lines and then
 * some a second; how many were left out is logged. Debug is never cut. The loop never waits for the
 * journal: what that does not take at once is counted as left out. */

enum { LOG_LINE_MAX = 2048 };

/* Fields of the journal beside the text: MCASTD_EVENT, MCASTD_CLUSTER, MCASTD_JOB, MCASTD_VNI.
 * Elsewhere only the text is written, so it has to name them too. */
struct log_fields {
    const char *event; /* a stable word, as of event_kind_word; NULL: none */
    const char *cluster, *job;
    uint16_t vni; /* 0: none */
};

#define LOG_JOURNAL_SOCKET "/run/systemd/journal/socket"

/* Finds out whether the journal reads (JOURNAL_STREAM). Without it, lines are written as for a
 * file. Tests have another socket. */
void log_open(const char *journal_socket);

/* Messages of a higher number are not written. LOG_INFO at first. */
void log_set_level(int level);

__attribute__((format(printf, 2, 3))) void log_line(int level, const char *format, ...);

/* Whether one more line of this kind would be written, so that a text is not made in vain. True:
 * log_text is to follow, without kind; else it is counted as left out, and shown as "sample". */
bool log_has_room(int level, const void *kind, const char *sample);

/* A text that is ready. kind: any address, the same for all that are limited together;
 * NULL: not limited. fields may be NULL. */
void log_text(int level, const struct log_fields *fields, const void *kind, const char *text);

/* Logs how many lines were left out. To be called about once a second. */
void log_settle(void);

/* "error", "warning", "notice", "info", "debug". */
const char *log_level_word(int level);
/* The reverse; -1 for any other word. */
int log_level_of(const char *word);

/* One line with its end, never more than size - 1 bytes; what does not fit is cut and says so.
 * wall_ms < 0: as for the journal. Returns its length. size ≥ 64. */
size_t log_format(char *out, size_t size, int level, int64_t wall_ms, const char *text);

/* Copies text with control characters and broken UTF-8 as \xNN; what does not fit is cut and says
 * so. Returns its length. size ≥ 16. */
size_t log_escape(char *out, size_t size, const char *text);
