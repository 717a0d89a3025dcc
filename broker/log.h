#ifndef MCAST_BROKER_LOG_H
#define MCAST_BROKER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

/* The log: standard error, one line a message, "text key=value …". Levels are those of syslog.h,
 * LOG_ERR to LOG_DEBUG. Callers never pass a secret; whatever else they pass, one message stays one
 * line of bounded length: control characters and broken UTF-8 are written as \xNN.
 *
 *   2024-05-01T12:00:00.250Z warning cannot save: disk full     in a terminal or a file
 *   <4>cannot save: disk full                                   when the journal of systemd reads
 */

enum { LOG_LINE_MAX = 2048 };

/* Finds out who reads (JOURNAL_STREAM). Without it, lines are written as for a file. */
void log_open(void);

/* Messages of a higher number are not written. LOG_INFO at first. */
void log_set_level(int level);
bool log_wants(int level);

__attribute__((format(printf, 2, 3))) void log_line(int level, const char *format, ...);

/* "error", "warning", "notice", "info", "debug". */
const char *log_level_word(int level);

/* One line with its end, never more than size - 1 bytes; what does not fit is cut and says so.
 * wall_ms < 0: as for the journal. Returns its length. size ≥ 64. */
size_t log_format(char *out, size_t size, int level, int64_t wall_ms, const char *text);

#endif
