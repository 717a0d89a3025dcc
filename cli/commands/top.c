/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/screen.h"
#include "cli/status/brokers.h"
#include "cli/status/statustable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVERY, EVERY_MIN_MS = 100, EVERY_USUAL_MS = 2000, EVERY_MAX_MS = 3600 * 1000 };

enum { ANSWER_MS = 5000 }; /* then it is said that there is none */

static const struct command_option options[] = {[EVERY] = {"every", "TIME"}, {0}};

struct top {
    struct call *call;
    int64_t every_ms;
    json_t *status;  /* the last answer; NULL: the last question had none */
    time_t answered; /* the last time that it had one, or the first question */
    time_t now;      /* of what is shown; 0: nothing yet */
};

/* False: it will not be otherwise the next time. */
static bool ask(struct top *top)
{
    struct call *call = top->call;
    const bool first = top->now == 0;
    if (first)
        top->answered = time(NULL);
    json_decref(top->status);
    const int rc = brokers_status(call, ANSWER_MS, &top->status);
    top->now = time(NULL);
    if (rc == 0)
        top->answered = top->now;
    return rc == 0 || !first || call->error.code == MCAST_UNREACHABLE ||
           mcast_later(&call->error, NULL);
}

static void print_fault(const struct top *top)
{
    const struct mcast_error *error = &top->call->error;
    const char *rest = strstr(error->text, "; what was asked"); /* it only reads */
    plain_colour(PLAIN_BAD);
    plain_printf("%s for %lld s: %.*s\n",
                 error->code == MCAST_UNREACHABLE ? "NO ANSWER"
                 : mcast_later(error, NULL)       ? "NOT NOW"
                 : error->code == MCAST_REFUSED   ? "REFUSED"
                                                  : "NO USABLE ANSWER",
                 (long long)(top->now - top->answered),
                 (int)(rest ? rest - error->text : (long)strlen(error->text)), error->text);
    plain_colour(PLAIN_NORMAL);
}

/* An exit code. */
static int show(const struct top *top)
{
    int rc = 0;
    struct tm local;
    char when[16] = "", last[80];
    screen_begin();
    if (top->status)
        rc = statustable_print(top->status);
    else
        print_fault(top);
    if (localtime_r(&top->now, &local))
        (void)strftime(when, sizeof when, "%H:%M:%S", &local);
    (void)snprintf(last, sizeof last, "at %s, every %lld.%lld s; q ends it", when,
                   (long long)top->every_ms / 1000, (long long)top->every_ms % 1000 / 100);
    const int shown = screen_show(last);
    return rc != 0 ? rc : shown;
}

/* False: a key ends it. */
static bool read_key(void)
{
    char pressed = 0;
    return read(STDIN_FILENO, &pressed, 1) == 1 && pressed != 'q' && pressed != 'Q';
}

static int follow(struct top *top)
{
    enum screen_event event = SCREEN_TIME;
    while (event != SCREEN_END) {
        const bool goes_on = event == SCREEN_RESIZED || ask(top);
        if (screen_ended())
            return 0;
        if (!goes_on)
            return top->call->error.code;
        const int rc = show(top);
        if (rc != 0)
            return rc;
        event = screen_wait(screen_keys(), top->every_ms);
        if (event == SCREEN_INPUT && !read_key())
            return 0;
    }
    return 0;
}

static int run_top(struct call *call)
{
    struct top top = {.call = call, .every_ms = EVERY_USUAL_MS};
    if (call->json)
        return command_misused(call, "--json: top draws for people; programs take status --json");
    if (command_duration(call, EVERY, EVERY_MAX_MS, &top.every_ms) < 0 ||
        command_least(call, EVERY, top.every_ms, EVERY_MIN_MS) < 0)
        return MCAST_USAGE;
    screen_open(call->handle, true, true);
    const int rc = follow(&top);
    screen_close();
    json_decref(top.status);
    return rc;
}

const struct command command_top = {"top",
                                    "show broker status, again and again",
                                    COMMAND_NO_ARGUMENTS,
                                    COMMAND_CONNECTED,
                                    options,
                                    .run = run_top};
