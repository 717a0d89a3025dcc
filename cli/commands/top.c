/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/statustable.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { EVERY, EVERY_MAX_MS = 3600 * 1000 };

static const struct command_option options[] = {[EVERY] = {"every", true}, {0}};

static volatile sig_atomic_t stopped;
static struct mcast *asked; /* set before the first signal can come */

/* A broker that does not answer is not waited for. */
static void on_signal(int number)
{
    (void)number;
    stopped = 1;
    mcast_stop(asked);
}

/* Keys are read as they are pressed. False: no terminal, no keys. */
static bool read_keys(struct termios *before)
{
    struct termios terminal;
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, before) < 0)
        return false;
    terminal = *before;
    terminal.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    return tcsetattr(STDIN_FILENO, TCSANOW, &terminal) == 0;
}

/* An exit code, when nothing more can be shown; else 0. */
static int show(struct call *call, time_t *away)
{
    char *text = NULL;
    const int rc = mcast_status(call->handle, &text, &call->error);
    if (rc < 0 && stopped)
        return 0;
    if (isatty(STDOUT_FILENO))
        fputs("\033[H\033[2J", stdout);
    if (rc < 0) {
        if (*away == 0)
            *away = time(NULL);
        plain_colour(PLAIN_BAD);
        plain_printf("NO ANSWER for %lld s: %s\n", (long long)(time(NULL) - *away),
                     call->error.text);
        plain_colour(PLAIN_NORMAL);
        return call->error.code == MCAST_UNREACHABLE || mcast_later(&call->error, NULL)
                   ? command_finish()
                   : rc;
    }
    *away = 0;
    json_t *root = json_loads(text, 0, NULL);
    free(text);
    const int code = statustable_print(root);
    json_decref(root);
    return code;
}

static int run_top(struct call *call)
{
    struct termios before;
    struct pollfd key = {.fd = STDIN_FILENO, .events = POLLIN};
    struct sigaction action = {.sa_handler = on_signal};
    int64_t every_ms = 2000;
    time_t away = 0;
    char pressed = 0;
    if (command_duration(call, EVERY, EVERY_MAX_MS, &every_ms) < 0)
        return MCAST_USAGE;
    asked = call->handle;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    const bool keys = read_keys(&before);
    int rc = 0;
    while (rc == 0 && !stopped && pressed != 'q') {
        rc = show(call, &away);
        if (rc == 0 && poll(&key, keys ? 1 : 0, (int)every_ms) == 1 &&
            read(STDIN_FILENO, &pressed, 1) != 1)
            break;
    }
    if (keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return rc;
}

const struct command command_top = {
    "top",  "show broker status, again and again", COMMAND_NO_ARGUMENTS, COMMAND_CONNECTED, options,
    run_top};
