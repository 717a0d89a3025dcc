/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/http/line.h"
#include "tests/system/rig/process.h"

#include <sys/types.h>

/* A real broker without a fabric manager, in a folder of its own, and one way to ask it that holds
 * every answer against openapi.json. Failures are asserts. */

#define ONE_NODE "{\"uid\":1,\"node_count\":1}" /* body of a reserve */

struct site_options {
    const char *mcastd;
    const char *admins; /* NULL: whoever runs the test */
    const char *users;  /* of the clusters elcap and tuo; NULL: nobody */
    const char *users_tuo;
    const char *nodes;                /* of elcap; NULL: none are known */
    const char *genders;              /* which NICs nodes have; NULL: no file is read */
    const char *broker, *state, *vni; /* further lines of these sections, or NULL */
    bool keep;                        /* state on disk, so that it survives site_restart */
};

/* open_site and close_site of a test program; further options of the broker. */
#define SITE_FIXTURE(...)                                                                          \
    static int open_site(void **state)                                                             \
    {                                                                                              \
        *state = site_open(&(struct site_options){.mcastd = MCASTD, __VA_ARGS__});                 \
        return 0;                                                                                  \
    }                                                                                              \
    static int close_site(void **state)                                                            \
    {                                                                                              \
        site_close(*state);                                                                        \
        return 0;                                                                                  \
    }
/* A test on a site of its own, by the test program's open_site and close_site. */
#define ON_SITE(test) cmocka_unit_test_setup_teardown(test, open_site, close_site)

struct site;
struct site *site_open(const struct site_options *options); /* with all descriptors there are */
void site_close(struct site *site); /* stops the broker, which must exit with 0 */

/* The same folder, other options. */
void site_restart(struct site *site, const struct site_options *options);
/* The same process, other options: SIGHUP. Whether they were taken; the log says why not. */
bool site_reload(struct site *site, const struct site_options *options);
/* Whether the log so far has text in it. */
bool site_logged(const struct site *site, const char *text);
/* SIGTERM; the exit status is asserted to be 0. */
void site_stop(struct site *site);
struct process *site_broker(const struct site *site);

struct line *site_line(const struct site *site); /* a new connection to the Unix socket */
struct line *site_tcp(const struct site *site);
int site_port(const struct site *site); /* of TCP */
const char *site_folder(const struct site *site);
const char *site_socket(const struct site *site); /* its path */
json_t *site_contract(const struct site *site);   /* borrowed */

/* Sends one request and takes its answer, which must be as openapi.json says. Returns its status.
 */
int site_ask(struct site *site, struct line *line, const char *method, const char *path,
             const char *headers, const char *body, struct answer *answer);
/* The same on a connection of its own. answer may be NULL. */
int site_call(struct site *site, const char *method, const char *path, const char *body,
              struct answer *answer);

/* The same, which must be refused with this problem. */
void site_refused(struct site *site, const char *method, const char *path, const char *body,
                  int status, const char *code, const char *field);
/* GET of path, which must be 200: a number in its document, as answer_number. */
json_int_t site_number(struct site *site, const char *path, const char *member);

/* A metric, by its name with its labels; without its fraction. */
long site_metric(struct site *site, const char *name);

/* Connections accepted so far, by listener: "unix" or "tcp". */
long site_accepted(struct site *site, const char *listener);

/* Appends a request about job f<number> of elcap, PUT with ONE_NODE; returns where it ends. */
char *site_append_request(char *at, const char *method, int number);

/* GET /metrics, as they are now: for an admin, who may ask so. */
int site_metrics(struct site *site, struct answer *answer);

/* The answer is a problem with this code and field ("" or NULL: none). Releases it. */
void site_expect_problem(struct answer *answer, int status, const char *code, const char *field);
