/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the mock fabric manager (docs/mock-fm.md), without HTTP: each a line "METHOD PATH",
 * a line for the login ("" none, "+" the right one, "=TOKEN" a bearer token, else the header), and
 * a line for the body. Faults that are set disturb those that follow. */

#include "mock-fm/faults/control.h"
#include "mock-fm/http/oauth.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REQUESTS_MAX = 24, ADDRESSES = 32, LONGEST_BODY = 4 << 20 };

#define LOGIN "Basic Y3hpOnB3" /* cxi:pw */

static void write_secret(const char *folder, const char *name, const char *text)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = text ? fopen(path, "we") : NULL;
    if (file) {
        (void)fputs(text, file);
        (void)fclose(file);
    } else {
        (void)unlink(path);
    }
}

/* The secrets' files are needed only while they are read. */
static void open_doors(struct auth **basic, struct auth **oauth)
{
    static const char *const names[] = {"passwd", "client-id", "client-secret"};
    char folder[] = "/tmp/fuzz-mock-XXXXXX";
    struct problem problem = {0};
    struct accesstokens *tokens = accesstokens_create(1000000);
    if (!mkdtemp(folder))
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_secret(folder, names[i], "pw\n");
    *basic = auth_open(AUTH_BASIC, folder, NULL, &problem);
    *oauth = auth_open(AUTH_OAUTH, folder, tokens, &problem);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        write_secret(folder, names[i], NULL);
    (void)rmdir(folder);
    if (!*basic || !*oauth) {
        (void)fprintf(stderr, "%s\n", problem.text);
        exit(1);
    }
}

static int reload(void *program, struct problem *problem)
{
    return problem_set(problem, 500, "there is nothing to reload");
}

/* What the books say is what is there; addresses are not given out twice. */
static void check_books(const struct objects *objects)
{
    struct objects_totals totals = objects->totals;
    uint64_t jobs = 0, reserved = 0;
    unsigned trees = 0;
    for (const struct job *job = objects->first; job; job = job->next) {
        unsigned of_job = 0;
        for (const struct tree *tree = job->trees; tree; tree = tree->next, of_job++)
            FUZZ_CHECK(tree->job == job && objects->trees[tree->mcast_id] == tree);
        FUZZ_CHECK(of_job == job->trees_in_use && of_job <= job->limit);
        FUZZ_CHECK(objects_job(objects, job->id) == job);
        jobs++;
        trees += of_job;
        reserved += job->limit;
    }
    FUZZ_CHECK(jobs == totals.jobs && trees == totals.trees && reserved == totals.reserved);
    FUZZ_CHECK(reserved <= ADDRESSES);
}

/* Always the same ones, emptied: to make them takes longer than all requests. */
static struct objects *no_objects(void)
{
    static struct objects *objects;
    json_t *reset = json_pack("{s:s}", "op", "reset");
    if (!objects)
        objects = objects_create(ADDRESSES, false);
    if (objects_apply(objects, reset) != 0)
        abort();
    json_decref(reset);
    return objects;
}

/* As call.c does it. */
static void check_answer(const json_t *fault, const char *method, struct answer *answer)
{
    struct body body = {0};
    fault_bend_answer(fault, method, answer);
    bool unheard = json_object_get(fault, "drop") && answer->status == 0;
    FUZZ_CHECK(unheard || (answer->status >= 100 && answer->status < 600));
    if (fault_number(fault, "fill_to") <= LONGEST_BODY) {
        answer_render(answer, &body);
        bool even = body.length > 0 && body.length % 4096 == 0;
        FUZZ_CHECK(!even);
        fault_bend_body(fault, &body);
    }
    free(body.bytes);
    answer_release(answer);
}

static void answer_one(struct control *control, const struct auth *oauth, struct request *request)
{
    struct answer answer = {0};
    uint64_t jobs = control->fabric->objects->totals.jobs;
    bool session = auth_shows_session(request->authorization);
    if (!control->log && strcmp(request->path, "/mock/log") == 0)
        control->log = requestlog_create(); /* large: only for whoever asks */
    uint64_t number =
        control->log ? requestlog_begin(control->log, 1, request->method, request->path, session, 0)
                     : 0;
    if (control_owns(request->path)) {
        control_answer(control, request, &answer);
        check_answer(NULL, request->method, &answer);
    } else if (oauth_owns(request->path)) {
        oauth_answer(oauth, request, &answer);
        check_answer(NULL, request->method, &answer);
    } else {
        json_t *fault = faults_pick(control->faults, request, session);
        fault_bend_request(fault, request);
        if (fault_lets_act(fault))
            fabric_answer(control->fabric, request, &answer);
        bool refused = answer.status >= 400, let_in = request->authorization;
        FUZZ_CHECK((!refused && let_in) || control->fabric->objects->totals.jobs == jobs);
        check_answer(fault, request->method, &answer);
        json_decref(fault);
    }
    if (control->log)
        requestlog_finish(control->log, number, 200);
    check_books(control->fabric->objects);
}

static void ask(struct control *control, const struct auth *oauth, struct fuzz_input *in)
{
    char *method = fuzz_line(in), *login = fuzz_line(in), *body = fuzz_line(in);
    char *path = method + strcspn(method, " "), *header = NULL;
    if (*path != '\0')
        *path++ = '\0';
    if (login[0] == '=' && asprintf(&header, "Bearer %s", login + 1) < 0)
        abort();
    struct request request = {.method = method,
                              .path = path,
                              .authorization = header                    ? header
                                               : login[0] == '\0'        ? NULL
                                               : strcmp(login, "+") == 0 ? LOGIN
                                                                         : login,
                              .body = body,
                              .body_length = strlen(body),
                              .page_size = strlen(path) % 3,
                              .now_us = 1000000};
    answer_one(control, oauth, &request);
    free(header);
    free(method);
    free(login);
    free(body);
}

void fuzz_one(struct fuzz_input *in)
{
    static struct auth *basic, *oauth;
    struct problem problem;
    struct faults faults;
    if (!basic)
        open_doors(&basic, &oauth);
    struct fabric fabric = {.objects = no_objects(),
                            .auth = basic,
                            .mint = {.seeded = true, .seed = 1},
                            .reach = (enum session_reach)(in->left % (SESSION_TREES_ONLY + 1))};
    struct control control = {.fabric = &fabric, .faults = &faults, .reload = reload};
    faults_init(&faults, 1);
    if (inventory_parse(&fabric.inventory, "2x2x8", &problem) < 0)
        abort();
    for (int i = 0; i < REQUESTS_MAX && in->left > 0; i++)
        ask(&control, oauth, in);
    objects_destroy(control.snapshot);
    replica_destroy(fabric.replica);
    faults_clear(&faults);
    if (control.log)
        requestlog_destroy(control.log);
}
