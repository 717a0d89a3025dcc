#ifndef MCAST_CLIENT_ERRAND_H
#define MCAST_CLIENT_ERRAND_H

/* One request of the library from its arguments to its result, without what carries it: both forms,
 * the one that waits (handle.h) and the one that does not (async.c), send the same and understand
 * the same. */

#include "client/call.h"
#include "client/mcast.h"

#include <jansson.h>

/* What an answer had in it; which of them is the request's business. */
struct result {
    struct mcast_reservation *reservation;
    struct mcast_steps *steps;
    struct mcast_sync_result *sync;
    struct mcast_variable *env; /* env_count of them, with their text in root */
    size_t env_count;
    json_t *root;
    char *json;
    bool releasing, gone;
};

void result_release(struct result *result);

/* Fills the result from an answer that is a success, or MCAST_UNCLEAR, MCAST_NOMEM. */
typedef int errand_read_fn(const struct answer *answer, struct result *result,
                           struct mcast_error *error);

struct errand {
    const char *method;
    struct text path;
    char *body;           /* JSON, or NULL */
    unsigned wait_ms;     /* call.h */
    bool borne;           /* made with a job's token, for whoever has it */
    errand_read_fn *read; /* how its answer is understood */
};

/* The request as it is to be sent, valid as long as the errand stays where it is. */
struct call errand_call(const struct errand *errand, struct secret token);

void errand_release(struct errand *errand);

/* "<path>" becomes the path; MCAST_NOMEM. */
int errand_path(struct errand *errand, const char *path, struct mcast_error *error);

/* Takes over the reference to body, which becomes the text to be sent. NULL, or what cannot be
 * written: MCAST_USAGE, "<what> not UTF-8". */
int errand_body(struct errand *errand, json_t *body, const char *what, struct mcast_error *error);

/* The result is the answer itself, as JSON in one line. */
errand_read_fn errand_read_json;

/* One function for each kind of request: fills an errand that is empty ({0}) and to be released
 * whatever is returned. MCAST_USAGE: an argument is not allowed; MCAST_NOMEM. */
int jobs_errand_reserve(struct errand *errand, const struct mcast_request *request,
                        struct mcast_error *error);
int jobs_errand_release(struct errand *errand, const char *cluster, const char *job,
                        struct mcast_error *error);
int jobs_errand_show(struct errand *errand, const char *cluster, const char *job,
                     struct mcast_error *error);
int env_errand(struct errand *errand, const char *cluster, const char *job, const char *step,
               struct mcast_error *error);
int steps_errand(struct errand *errand, const char *cluster, const char *job, unsigned wait_ms,
                 struct mcast_error *error);
int sync_errand(struct errand *errand, const char *cluster, const char *const *jobs,
                size_t job_count, struct mcast_error *error);
int node_errand(struct errand *errand, const struct mcast_node_report *report,
                struct mcast_error *error);
int cleanup_errand_own(struct errand *errand, struct mcast_error *error);
int cleanup_errand(struct errand *errand, const char *step, unsigned flags, unsigned wait_ms,
                   struct mcast_error *error);
int status_errand(struct errand *errand, const char *path, struct mcast_error *error);

#endif
