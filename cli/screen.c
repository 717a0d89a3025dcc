/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/screen.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { ROWS_USUAL = 24, COLUMNS_USUAL = 80, MORE_WIDTH = 18 };

/* As xterm has them, and all that came after it. */
#define WHOLE_SCREEN "\033[?1049h\033[?25l"
#define SCREEN_BEFORE "\033[?25h\033[?1049l"
#define TO_TOP "\033[H"
#define END_OF_LINE "\033[K"
#define END_OF_SCREEN "\033[J"

static volatile sig_atomic_t ended, stopped;
static struct mcast *asked;    /* set before the first signal can come */
static int bell[2] = {-1, -1}; /* a byte for each signal: none is missed between look and wait */
static struct termios before;
static bool terminal, keyed;
static FILE *output; /* stdout, while a frame is printed */
static char *frame;
static size_t frame_size;

/* A broker that does not answer is not waited for. */
static void on_signal(int number)
{
    const int error = errno;
    if (number == SIGTSTP) {
        stopped = 1;
    } else if (number != SIGWINCH) {
        ended = 1;
        mcast_stop(asked);
    }
    (void)!write(bell[1], "", 1);
    errno = error;
}

/* ---- the terminal ---- */

static void take_terminal(void)
{
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (keyed)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs(WHOLE_SCREEN, stdout);
    fflush(stdout);
}

static void leave_terminal(void)
{
    if (keyed)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    fputs(SCREEN_BEFORE, stdout);
    fflush(stdout);
}

void screen_open(struct mcast *handle, bool whole, bool keys)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH, SIGTSTP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    asked = handle;
    terminal = whole && plain_is_terminal();
    keyed = terminal && keys && tcgetattr(STDIN_FILENO, &before) == 0;
    memory_must(pipe2(bell, O_CLOEXEC | O_NONBLOCK) == 0 ? bell : NULL);
    for (size_t i = 0; i < (terminal ? 6 : 4); i++)
        (void)sigaction(numbers[i], &action, NULL);
    if (terminal)
        take_terminal();
}

void screen_close(void)
{
    if (terminal)
        leave_terminal();
    terminal = false;
}

bool screen_is_terminal(void)
{
    return terminal;
}

bool screen_ended(void)
{
    return ended;
}

int screen_keys(void)
{
    return keyed ? STDIN_FILENO : -1;
}

static struct winsize size_of_terminal(void)
{
    struct winsize size = {0};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    if (size.ws_row == 0)
        size.ws_row = ROWS_USUAL;
    if (size.ws_col == 0)
        size.ws_col = COLUMNS_USUAL;
    return size;
}

/* Ctrl-Z: the shell finds its terminal as it was. */
static void stop(void)
{
    stopped = 0;
    leave_terminal();
    (void)raise(SIGSTOP);
    take_terminal();
}

enum screen_event screen_wait(int descriptor, int64_t ms)
{
    struct pollfd all[] = {{.fd = bell[0], .events = POLLIN}, {.fd = descriptor, .events = POLLIN}};
    char bytes[64];
    const int ready = poll(all, 2, (int)ms);
    while (read(bell[0], bytes, sizeof bytes) > 0)
        continue;
    if (ended)
        return SCREEN_END;
    if (stopped)
        stop();
    return all[0].revents ? SCREEN_RESIZED : ready > 0 ? SCREEN_INPUT : SCREEN_TIME;
}

/* ---- what is shown ---- */

void screen_begin(void)
{
    if (!terminal)
        return;
    output = stdout;
    stdout = memory_must(open_memstream(&frame, &frame_size));
}

/* How many columns a line takes; its colours take none. */
static size_t columns_of(const char *line, size_t length)
{
    mbstate_t state = {0};
    size_t columns = 0;
    for (size_t at = 0; at < length;) {
        wchar_t letter = 0;
        if (line[at] == '\033') {
            at += strcspn(line + at, "m") + 1;
            continue;
        }
        const size_t bytes = mbrtowc(&letter, line + at, length - at, &state);
        const int width = bytes > 0 && bytes <= length - at ? wcwidth(letter) : 1;
        at += bytes > 0 && bytes <= length - at ? bytes : 1;
        columns += width > 0 ? (size_t)width : 0;
    }
    return columns;
}

/* Line over line; the terminal continues one that is too long on the next. */
static void draw(const char *text, const char *last)
{
    const struct winsize size = size_of_terminal();
    size_t used = 0, left = 0;
    fputs(TO_TOP, stdout);
    while (*text) {
        const size_t length = strcspn(text, "\n"), columns = columns_of(text, length);
        const size_t rows = columns == 0 ? 1 : (columns + size.ws_col - 1) / size.ws_col;
        left += left > 0 || used + rows > size.ws_row - 1U;
        if (left == 0) {
            const bool full = columns > 0 && columns % size.ws_col == 0;
            printf("%.*s%s\n", (int)length, text, full ? "" : END_OF_LINE);
            used += rows;
        }
        text += length + (text[length] == '\n');
    }
    if (left > 0)
        printf("%zu lines more; ", left);
    printf("%.*s" END_OF_LINE END_OF_SCREEN, (int)size.ws_col - (left > 0 ? MORE_WIDTH : 1), last);
}

int screen_show(const char *last)
{
    if (terminal) {
        fclose(stdout);
        stdout = output;
        draw(frame, last);
        free(frame);
    }
    return command_finish();
}
