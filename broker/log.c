#include "broker/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    int level;
    bool journal;
} settings = {.level = LOG_INFO};

void log_open(void)
{
    uintmax_t device, inode;
    struct stat self;
    const char *stream = getenv("JOURNAL_STREAM");
    /* The variable is inherited by programs whose standard error has since been redirected, so it
     * only counts when it names the very file that we write to (systemd.exec(5)). */
    settings.journal =
        stream != NULL && sscanf(stream, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) == 2 &&
        fstat(STDERR_FILENO, &self) == 0 && self.st_dev == device && self.st_ino == inode;
}

void log_set_level(int level)
{
    settings.level = level;
}

bool log_wants(int level)
{
    return level <= settings.level;
}

const char *log_level_word(int level)
{
    switch (level) {
    case LOG_WARNING:
        return "warning";
    case LOG_NOTICE:
        return "notice";
    case LOG_INFO:
        return "info";
    case LOG_DEBUG:
        return "debug";
    default:
        return "error";
    }
}

/* Bytes of the character at text when it is printable UTF-8, else 0. */
static size_t printable(const unsigned char *text)
{
    unsigned char first = text[0];
    if (first >= 0x20 && first < 0x7f)
        return 1;
    size_t length = first >= 0xc2 && first < 0xe0   ? 2
                    : first >= 0xe0 && first < 0xf0 ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    /* U+0080 to U+009F steer terminals; overlong forms and surrogates are not UTF-8. */
    if ((first == 0xc2 && text[1] < 0xa0) || (first == 0xe0 && text[1] < 0xa0) ||
        (first == 0xed && text[1] > 0x9f) || (first == 0xf0 && text[1] < 0x90) ||
        (first == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

/* Copies text, escaped, as far as it fits below size; returns the length. */
static size_t escape(char *out, size_t size, const char *text)
{
    static const char cut[] = " [cut]";
    size_t room = size - sizeof cut, length = 0;
    const unsigned char *in = (const unsigned char *)text;
    while (*in != '\0') {
        size_t take = printable(in), need = take != 0 ? take : 4;
        if (length + need > room) {
            memcpy(out + length, cut, sizeof cut - 1);
            return length + sizeof cut - 1;
        }
        if (take != 0)
            memcpy(out + length, in, take);
        else
            (void)snprintf(out + length, 5, "\\x%02x", *in);
        length += need;
        in += take != 0 ? take : 1;
    }
    return length;
}

static size_t timestamp(char *out, size_t size, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    char text[32];
    if (gmtime_r(&seconds, &utc) == NULL || strftime(text, sizeof text, "%FT%T", &utc) == 0)
        (void)snprintf(text, sizeof text, "?");
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
    length += escape(out + length, size - length - 1, text);
    out[length++] = '\n';
    out[length] = '\0';
    return length;
}

void log_line(int level, const char *format, ...)
{
    if (!log_wants(level))
        return;
    int saved = errno;
    char text[LOG_LINE_MAX], line[LOG_LINE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);

    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    int64_t wall_ms = settings.journal ? -1 : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    size_t length = log_format(line, sizeof line, level, wall_ms, text);
    /* One write a line, so that lines of several writers do not mix; when nobody reads the log any
     * more, there is nobody to tell. */
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
    errno = saved;
}
