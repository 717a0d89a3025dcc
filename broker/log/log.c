/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/log/log.h"

#include "broker/clock.h"
#include "broker/log/loglimit.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 2 * LOG_LINE_MAX };

static struct {
    int level;
    bool journal;       /* standard error is the journal */
    int socket;         /* for messages with fields; -1: none */
    const char *path;   /* of the journal's socket */
    uint32_t not_taken; /* messages that the journal was too busy for */
    struct loglimit limit;
} settings = {.level = LOG_INFO, .socket = -1, .path = LOG_JOURNAL_SOCKET};

/* The variable is inherited by programs whose standard error has since been redirected, so it only
 * counts when it names the very file that we write to (systemd.exec(5)). */
static bool journal_reads(void)
{
    uintmax_t device, inode;
    struct stat self;
    const char *stream = getenv("JOURNAL_STREAM");
    return stream && sscanf(stream, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) == 2 &&
           fstat(STDERR_FILENO, &self) == 0 && self.st_dev == device && self.st_ino == inode;
}

void log_open(const char *journal_socket)
{
    if (settings.socket >= 0)
        close(settings.socket);
    settings.path = journal_socket;
    settings.journal = journal_reads();
    settings.socket = settings.journal ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
}

void log_set_level(int level)
{
    settings.level = level;
}

const char *log_level_word(int level)
{
    static const char *const words[] = {"error", "warning", "notice", "info", "debug"};
    return words[level >= LOG_ERR && level <= LOG_DEBUG ? level - LOG_ERR : 0];
}

int log_level_of(const char *word)
{
    int level = LOG_DEBUG;
    while (level >= LOG_ERR && strcmp(word, log_level_word(level)) != 0)
        level--;
    return level >= LOG_ERR ? level : -1;
}

/* Bytes of the character at text when it is printable UTF-8, else 0: what steers terminals, the
 * controls of ASCII and U+0080 to U+009F, is not. */
static size_t printable(const unsigned char *text)
{
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] < 0x7f;
    size_t length = utf8_length((const char *)text, SIZE_MAX);
    return length == 2 && text[0] == 0xc2 && text[1] < 0xa0 ? 0 : length;
}

size_t log_escape(char *out, size_t size, const char *text)
{
    static const char cut[] = " [cut]";
    assert(size >= 16);
    size_t room = size - sizeof cut, length = 0;
    const unsigned char *in = (const unsigned char *)text;
    while (*in != '\0') {
        size_t take = printable(in), need = take != 0 ? take : 4;
        if (length + need > room) {
            memcpy(out + length, cut, sizeof cut);
            return length + sizeof cut - 1;
        }
        if (take != 0)
            memcpy(out + length, in, take);
        else
            (void)snprintf(out + length, 5, "\\x%02x", *in);
        length += need;
        in += take != 0 ? take : 1;
    }
    out[length] = '\0';
    return length;
}

static size_t timestamp(char *out, size_t size, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char text[32];
    (void)strftime(text, sizeof text, "%FT%T", gmtime_r(&seconds, &utc));
    int length = snprintf(out, size, "%s.%03dZ ", text, (int)(wall_ms % 1000));
    return length < 0 ? 0 : (size_t)length;
}

size_t log_format(char *out, size_t size, int level, int64_t wall_ms, const char *text)
{
    assert(size >= 64);
    size_t length = 0;
    if (wall_ms < 0) {
        length = (size_t)snprintf(out, size, "<%d>", level);
    } else {
        length = timestamp(out, size, wall_ms);
        length += (size_t)snprintf(out + length, size - length, "%s ", log_level_word(level));
    }
    length += log_escape(out + length, size - length - 1, text);
    out[length++] = '\n';
    out[length] = '\0';
    return length;
}

static void write_stderr(int level, const char *text)
{
    char line[LOG_LINE_MAX];
    int64_t wall_ms = settings.journal ? -1 : clock_read_ns(CLOCK_REALTIME) / 1000000;
    size_t length = log_format(line, sizeof line, level, wall_ms, text);
    /* One write a line, so that lines of several writers do not mix. An error here cannot be
     * reported. */
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}

/* ---- the journal of systemd ---- */

struct message {
    char text[MESSAGE_SIZE];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void append_text(struct message *message,
                                                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof message->text - message->length;
    int length = vsnprintf(message->text + message->length, room, format, args);
    va_end(args);
    /* What does not fit is left out whole: half a line would be another field. */
    if (length > 0 && (size_t)length < room)
        message->length += (size_t)length;
}

static void add_field(struct message *message, const char *name, const char *value)
{
    char escaped[256];
    if (!value || *value == '\0')
        return;
    (void)log_escape(escaped, sizeof escaped, value);
    append_text(message, "%s=%s\n", name, escaped);
}

/* One message in the journal's own protocol, with fields that journalctl can select by (`journalctl
 * -u mcastd MCASTD_JOB=f2Rs8`): a datagram of lines NAME=value. All values are one line
 * (log_escape), so the protocol's form for others is not needed, nor are memory files: a message is
 * far below the size of a datagram. False: the journal is not reachable. */
static bool send_to_journal(int level, const struct log_fields *fields, const char *text)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct message message = {.length = 0};
    char escaped[LOG_LINE_MAX];
    assert(strlen(settings.path) < sizeof address.sun_path);
    memcpy(address.sun_path, settings.path, strlen(settings.path) + 1);
    (void)log_escape(escaped, sizeof escaped, text);
    append_text(&message, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=mcastd\n", escaped, level);
    if (fields) {
        add_field(&message, "MCASTD_EVENT", fields->event);
        add_field(&message, "MCASTD_CLUSTER", fields->cluster);
        add_field(&message, "MCASTD_JOB", fields->job);
        if (fields->vni != 0)
            append_text(&message, "MCASTD_VNI=%u\n", fields->vni);
    }
    /* Not connected: the journal may be restarted and make its socket anew. */
    if (sendto(settings.socket, message.text, message.length, MSG_DONTWAIT | MSG_NOSIGNAL,
               (const struct sockaddr *)&address, sizeof address) >= 0)
        return true;
    bool busy = errno == EAGAIN || errno == ENOBUFS; /* waiting for it would stall the loop */
    settings.not_taken += busy;
    return busy;
}

static void write_message(int level, const struct log_fields *fields, const char *text)
{
    if (settings.socket < 0 || !send_to_journal(level, fields, text))
        write_stderr(level, text);
}

static int64_t steady_ms(void)
{
    return clock_read_ns(CLOCK_MONOTONIC) / 1000000;
}

bool log_has_room(int level, const void *kind, const char *sample)
{
    return level <= settings.level && (!kind || level >= LOG_DEBUG ||
                                       loglimit_take(&settings.limit, kind, steady_ms(), sample));
}

void log_text(int level, const struct log_fields *fields, const void *kind, const char *text)
{
    int saved = errno;
    if (log_has_room(level, kind, text))
        write_message(level, fields, text);
    errno = saved;
}

void log_line(int level, const char *format, ...)
{
    char text[LOG_LINE_MAX];
    int saved = errno;
    va_list args;
    if (level > settings.level)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    errno = saved;
    log_text(level, NULL, format, text);
}

static void log_left_out(void *arg, uint32_t left_out, const char *sample)
{
    char text[LOGLIMIT_SAMPLE + 64];
    (void)arg;
    (void)snprintf(text, sizeof text, "%" PRIu32 " more lines like this were left out: %s",
                   left_out, sample);
    write_message(LOG_NOTICE, NULL, text);
}

void log_settle(void)
{
    char text[64];
    loglimit_settle(&settings.limit, steady_ms(), log_left_out, NULL);
    if (settings.not_taken == 0)
        return;
    (void)snprintf(text, sizeof text, "the journal was too busy for %" PRIu32 " lines",
                   settings.not_taken);
    settings.not_taken = 0; /* counted again when it is too busy for this one */
    write_message(LOG_WARNING, NULL, text);
}
