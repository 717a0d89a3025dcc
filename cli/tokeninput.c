/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tokeninput.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int too_long(const struct command *command)
{
    return command_misused(command, "this is no token: longer than %d characters",
                           MCAST_TOKEN_SIZE - 1);
}

/* The one line that there is, without its end. */
static int take_line(const struct command *command, const char *text, size_t length,
                     char token[MCAST_TOKEN_SIZE])
{
    size_t end = length;
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r'))
        end--;
    if (end == 0)
        return command_misused(command, "standard input is empty: give the token there, or in the "
                                        "environment variable MCAST_TOKEN");
    if (memchr(text, '\n', end) || memchr(text, '\0', end))
        return command_misused(command, "standard input is more than one line: give the token "
                                        "alone");
    if (end >= MCAST_TOKEN_SIZE)
        return too_long(command);
    memcpy(token, text, end);
    token[end] = '\0';
    return COMMAND_GO_ON;
}

static int read_stdin(const struct command *command, char token[MCAST_TOKEN_SIZE])
{
    char text[MCAST_TOKEN_SIZE + 2]; /* with a line's end */
    size_t length = 0;
    ssize_t more = 1;
    if (isatty(STDIN_FILENO))
        return command_misused(command, "which token? set MCAST_TOKEN, or give it on standard "
                                        "input");
    while (more != 0 && length < sizeof(text)) {
        more = read(STDIN_FILENO, text + length, sizeof(text) - length);
        if (more < 0 && errno != EINTR)
            return command_misused(command, "standard input cannot be read: %s", strerror(errno));
        length += more > 0 ? (size_t)more : 0;
    }
    int rc = take_line(command, text, length, token);
    explicit_bzero(text, sizeof(text));
    return rc;
}

int tokeninput_read(const struct command *command, char token[MCAST_TOKEN_SIZE])
{
    const char *given = getenv("MCAST_TOKEN");
    if (!given || !given[0])
        return read_stdin(command, token);
    if (strlen(given) >= MCAST_TOKEN_SIZE)
        return too_long(command);
    memcpy(token, given, strlen(given) + 1);
    return COMMAND_GO_ON;
}
