/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/hook.h"

#include "base/library.h"
#include "client/mcast.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BROKER_LIMIT_MS = 5000, /* if the fabric manager can be asked, too */
    WAIT_MAX_MS = 60000,    /* of mcast_cleanup */
    PAUSE_FIRST_MS = 250,
    PAUSE_MAX_MS = 4000,
};

/* ---- By the broker ---- */

static enum outcome judge_broker_error(const struct mcast_error *error)
{
    if (error->code != MCAST_REFUSED)
        return OUTCOME_ABSENT;
    if (strcmp(error->word, "reservation-over") == 0) /* with all of its steps */
        return OUTCOME_DONE;
    if (strcmp(error->word, "pending") == 0)
        return OUTCOME_PENDING;
    if (strcmp(error->word, "too-many-cleanups") == 0) /* also at the fabric manager */
        return OUTCOME_LATER;
    /* An answer about the step is final; one about the token is not: the broker may have lost its
     * ledger, and the fabric manager knows its tokens. */
    return error->status == 403 || error->status == 422 ? OUTCOME_REFUSED : OUTCOME_ABSENT;
}

/* wait_ms: for the trees to be gone; 0: it is DONE when the broker has accepted. limit_ms: for the
 * calls besides. */
static enum outcome clean_by_broker(const struct environment *s, bool below, int64_t limit_ms,
                                    int64_t wait_ms, struct error *err)
{
    struct mcast *handle = NULL;
    struct mcast_error error = {0};
    const unsigned wait = (unsigned)(wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);
    int rc = mcast_open(&handle, s->broker_url, &error);
    if (rc == 0)
        rc = mcast_set_timeout(handle, limit_ms > 0 ? (unsigned)limit_ms : 1, &error);
    if (rc == 0)
        rc = mcast_set_token(handle, secret_expose(s->broker_token), &error);
    if (rc == 0)
        rc = mcast_cleanup(handle, s->step, below ? MCAST_BELOW : 0, wait, NULL, &error);
    mcast_close(handle);
    if (rc == 0)
        return OUTCOME_DONE;
    (void)error_set(err, rc == MCAST_REFUSED ? ERROR_REFUSED : ERROR_IO, "the broker: %.280s",
                    error.text);
    return judge_broker_error(&error);
}

/* ---- At the fabric manager ---- */

/* The whole path of a file beside the program, so that no environment variable selects the file. */
static bool path_beside_program(char path[static PATH_MAX], const char *file)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0 || length >= PATH_MAX)
        return false;
    path[length] = '\0';
    char *name = strrchr(path, '/') + 1;
    size_t size = PATH_MAX - (size_t)(name - path);
    return (size_t)snprintf(name, size, "%s", file) < size;
}

/* If the object cannot be opened, that is final: it will not be there later either. */
static enum outcome clean_by_fabric(const struct environment *s, const struct options *options,
                                    struct error *err)
{
    static char path[PATH_MAX];
    static fabric_fn *clean;
    static const struct library_function functions[] = {{FABRIC_SYMBOL, &clean}, {0}};
    static struct library object = {
        .name = path, .functions = functions, .lock = PTHREAD_MUTEX_INITIALIZER};
    const char *why = path_beside_program(path, FABRIC_OBJECT)
                          ? library_fault(&object)
                          : "/proc does not show this program's path";
    if (!why)
        return clean(s, options, err);
    (void)error_set(err, ERROR_IO, FABRIC_OBJECT " cannot be opened: %.200s", why);
    return OUTCOME_REFUSED;
}

/* ---- Both ---- */

static int64_t time_left(const struct options *options)
{
    int64_t left = options->end_ms - hook_now_ms();
    return left > 0 ? left : 0;
}

/* A broker that does not answer leaves time to do it without the broker. */
static enum outcome ask_broker(const struct environment *s, const struct options *options,
                               struct error *err)
{
    const int64_t left = time_left(options);
    const int64_t wait = options->wait ? left / 2 : 0;
    int64_t limit = left - wait;
    if (s->trees_url)
        limit = limit / 2 < BROKER_LIMIT_MS ? limit / 2 : BROKER_LIMIT_MS;
    return clean_by_broker(s, options->below, limit, wait, err);
}

static enum outcome ask_once(const struct environment *s, const struct options *options,
                             struct error *err)
{
    struct error broker = {0};
    enum outcome outcome = s->broker ? ask_broker(s, options, &broker) : OUTCOME_ABSENT;
    if (outcome != OUTCOME_ABSENT || !s->trees_url) {
        *err = broker;
        return outcome;
    }
    outcome = clean_by_fabric(s, options, err);
    if (outcome != OUTCOME_DONE && s->broker)
        (void)error_prefix(err, "%.140s", broker.text);
    return outcome;
}

enum outcome cleanup_run(const struct environment *s, const struct options *options,
                         struct error *err)
{
    for (int64_t pause = PAUSE_FIRST_MS;;
         pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS) {
        enum outcome outcome = ask_once(s, options, err);
        if (outcome == OUTCOME_DONE || outcome == OUTCOME_REFUSED)
            return outcome;
        const int64_t left = time_left(options), ms = pause < left ? pause : left;
        (void)nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        if (time_left(options) == 0)
            return outcome;
    }
}
