/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/ui/server.h"

#include <pthread.h>
#include <signal.h>

enum { PORT };

static const struct command_option options[] = {[PORT] = {"port", "N"}, {0}};

static int run_ui(struct call *call)
{
    uint64_t port = 0;
    sigset_t ends;
    if (command_number(call, PORT, 1, UINT16_MAX, &port) < 0)
        return MCAST_USAGE;
    /* Before the first thread, so that all have them blocked. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    return server_run(call, (uint16_t)port);
}

/* Connected only to find at once what is wrong with the options; each request has its own handle.
 */
const struct command command_ui = {"ui",
                                   "look at the broker, its jobs and its VNIs in a browser",
                                   COMMAND_NO_ARGUMENTS,
                                   COMMAND_CONNECTED,
                                   options,
                                   .run = run_ui};
