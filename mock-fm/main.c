/* SPDX-License-Identifier: Apache-2.0 */
/* mock-fm: plays the fabric manager of an HPE Slingshot network. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/memory.h"
#include "mock-fm/options.h"
#include "mock-fm/http/server.h"

struct program {
    uv_loop_t loop;
    struct options options;
    uv_signal_t signals[3];
    struct fabric fabric;
    struct accesstokens *tokens; /* NULL unless one logs in by OAuth */
    struct auth *auth;
    struct tls *tls; /* NULL: plain HTTP */
    struct faults faults;
    struct control control;
    struct server *server;
    struct server *jobs_server; /* NULL without --jobs-listen */
};

/* All or nothing: a certificate that cannot be used leaves the password as it was, too. */
static int reload(void *cls, struct problem *problem)
{
    struct program *program = cls;
    const struct options *options = &program->options;
    struct auth *auth = auth_open(options->auth, options->authdir, program->tokens, problem);
    if (!auth)
        return -1;
    if (program->tls && tls_reload(program->tls, problem) < 0) {
        auth_close(auth);
        return -1;
    }
    auth_close(program->auth);
    program->fabric.auth = program->auth = auth;
    return 0;
}

static void stop_serving(struct program *program)
{
    for (int i = 0; i < 3; i++)
        uv_close((uv_handle_t *)&program->signals[i], NULL);
    server_close(program->server);
    if (program->jobs_server)
        server_close(program->jobs_server);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct program *program = handle->data;
    struct problem problem;
    if (number != SIGHUP)
        stop_serving(program);
    else if (reload(program, &problem) < 0)
        fprintf(stderr, "mock-fm: not reloaded: %s\n", problem.text);
    else
        fprintf(stderr, "mock-fm: reloaded\n");
}

static void watch_signals(struct program *program)
{
    static const int numbers[3] = {SIGTERM, SIGINT, SIGHUP};
    for (int i = 0; i < 3; i++) {
        uv_signal_init(&program->loop, &program->signals[i]);
        program->signals[i].data = program;
        uv_signal_start(&program->signals[i], on_signal, numbers[i]);
    }
    signal(SIGPIPE, SIG_IGN);
}

static int open_logins(struct program *program, struct problem *problem)
{
    const struct options *options = &program->options;
    const struct tls_files files = {options->tls_cert, options->tls_key, options->client_ca};
    if (options->auth == AUTH_OAUTH)
        program->tokens = accesstokens_create(options->token_lifetime_us);
    if (!(program->auth = auth_open(options->auth, options->authdir, program->tokens, problem)) ||
        (options->tls_cert && !(program->tls = tls_open(&files, problem))))
        return -1;
    return 0;
}

static int open_objects(struct program *program, struct problem *problem)
{
    const struct options *options = &program->options;
    uint64_t dice = options->mint.seed;
    struct fabric *fabric = &program->fabric;
    *fabric = (struct fabric){.objects =
                                  objects_create((unsigned)options->addresses, options->overcommit),
                              .auth = program->auth,
                              .mint = options->mint,
                              .reach = options->reach,
                              .inventory = options->inventory};
    program->control = (struct control){.fabric = fabric,
                                        .faults = &program->faults,
                                        .log = requestlog_create(),
                                        .reload = reload,
                                        .program = program};
    if (!options->mint.seeded)
        random_bytes(&dice, sizeof dice);
    faults_init(&program->faults, dice);
    if (options->state &&
        !(fabric->journal = journal_open(options->state, fabric->objects, problem)))
        return -1;
    return 0;
}

static void close_all(struct program *program)
{
    tls_close(program->tls);
    objects_destroy(program->control.snapshot);
    requestlog_destroy(program->control.log);
    faults_clear(&program->faults);
    journal_close(program->fabric.journal);
    objects_destroy(program->fabric.objects);
    replica_destroy(program->fabric.replica);
    auth_close(program->auth);
    accesstokens_destroy(program->tokens);
}

/* Whole or not at all: a reader that waits for the file never sees half a number. */
static int write_port_file(const char *path, unsigned port, struct problem *problem)
{
    char *new_path = memory_format("%s.new", path);
    FILE *file = fopen(new_path, "we");
    bool written = file && fprintf(file, "%u\n", port) > 0;
    if (file && fclose(file) != 0)
        written = false;
    if (!written || rename(new_path, path) < 0) {
        problem_set(problem, 500, "cannot write %s: %s", path, strerror(errno));
        written = false;
    }
    free(new_path);
    return written ? 0 : -1;
}

static int announce(const struct server *server, const struct listener *listener, const char *what,
                    struct problem *problem)
{
    unsigned port = server_port(server);
    bool brackets = strchr(listener->host, ':');
    printf("mock-fm: %s://%s%s%s:%u\n", what, brackets ? "[" : "", listener->host,
           brackets ? "]" : "", port);
    fflush(stdout);
    /* Last: what waits for the file may read what was printed. */
    return listener->port_file ? write_port_file(listener->port_file, port, problem) : 0;
}

static struct server *open_server(struct program *program, const struct listener *listener,
                                  struct problem *problem)
{
    return server_create(&program->loop, &program->control, listener, program->tls,
                         program->options.latency_ms, problem);
}

static int serve(struct program *program, struct problem *problem)
{
    const struct listener *main = &program->options.listener,
                          *jobs = &program->options.jobs_listener;
    int result = 0;
    if (!(program->server = open_server(program, main, problem)))
        return -1;
    watch_signals(program);
    /* The main address last: a program that waits for its port finds both open. */
    if (jobs->host[0] &&
        (!(program->jobs_server = open_server(program, jobs, problem)) ||
         announce(program->jobs_server, jobs, "listening for jobs on https", problem) < 0))
        result = -1;
    if (result == 0)
        result = announce(program->server, main,
                          program->tls ? "listening on https" : "listening on http", problem);
    if (result < 0)
        stop_serving(program);
    uv_run(&program->loop, UV_RUN_DEFAULT);
    server_destroy(program->server);
    server_destroy(program->jobs_server);
    return result;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    const struct options *options = &program.options;
    struct problem problem;
    int result;
    if (options_parse(&program.options, argc, argv, &problem) < 0) {
        fprintf(stderr, "mock-fm: %s\n", problem.text);
        return 2;
    }
    if (options->help || options->version) {
        fputs(options->help ? options_help : "mock-fm " MCAST_VERSION "\n", stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    uv_loop_init(&program.loop);
    result = open_logins(&program, &problem);
    if (result == 0)
        result = open_objects(&program, &problem);
    if (result == 0)
        result = serve(&program, &problem);
    close_all(&program);
    uv_loop_close(&program.loop);
    if (result < 0)
        fprintf(stderr, "mock-fm: %s\n", problem.text);
    return result < 0 ? 1 : 0;
}
