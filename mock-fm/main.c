/* mock-fm: plays the fabric manager of an HPE Slingshot network. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <uv.h>

#include "mock-fm/options.h"
#include "mock-fm/server.h"

struct program {
    uv_loop_t loop;
    uv_signal_t signals[2];
    struct fabric fabric;
    struct auth *auth;
    struct faults faults;
    struct control control;
    struct server *server;
};

static void on_signal(uv_signal_t *handle, int number)
{
    struct program *program = handle->data;

    (void)number;
    uv_close((uv_handle_t *)&program->signals[0], NULL);
    uv_close((uv_handle_t *)&program->signals[1], NULL);
    server_close(program->server);
}

static void watch_signals(struct program *program)
{
    static const int numbers[2] = {SIGTERM, SIGINT};

    for (int i = 0; i < 2; i++) {
        uv_signal_init(&program->loop, &program->signals[i]);
        program->signals[i].data = program;
        uv_signal_start(&program->signals[i], on_signal, numbers[i]);
    }
    signal(SIGPIPE, SIG_IGN);
}

static int open_objects(struct program *program, const struct options *options,
                        struct problem *problem)
{
    struct fabric *fabric = &program->fabric;
    uint64_t dice = options->seed;

    if (!(program->auth = auth_open(options->auth, options->authdir, problem)))
        return -1;
    fabric->auth = program->auth;
    fabric->inventory = options->inventory;
    fabric->mint = (struct session_mint){.seeded = options->seeded, .seed = options->seed};
    if (!options->seeded && getrandom(&dice, sizeof dice, 0) != (ssize_t)sizeof dice)
        return problem_set(problem, 500, "no random numbers: %s", strerror(errno));
    faults_init(&program->faults, dice);
    if (!(fabric->objects = objects_create(options->addresses, options->overcommit)) ||
        !(program->control.log = requestlog_create()))
        return problem_set(problem, 500, "out of memory");
    program->control.fabric = fabric;
    program->control.faults = &program->faults;
    if (!options->state)
        return 0;
    fabric->journal = journal_open(options->state, fabric->objects, problem);
    return fabric->journal ? 0 : -1;
}

static void close_objects(struct program *program)
{
    requestlog_destroy(program->control.log);
    faults_release(&program->faults);
    journal_close(program->fabric.journal);
    objects_destroy(program->fabric.objects);
    auth_close(program->auth);
}

/* Whole or not at all: a reader that waits for the file never sees half a number. */
static int write_port_file(const char *path, unsigned port, struct problem *problem)
{
    char *new_path;
    FILE *file;
    int result = -1;

    if (asprintf(&new_path, "%s.new", path) < 0)
        return problem_set(problem, 500, "out of memory");
    if ((file = fopen(new_path, "we"))) {
        result = fprintf(file, "%u\n", port) < 0 ? -1 : 0;
        if (fclose(file) != 0 || result < 0 || rename(new_path, path) < 0)
            result = -1;
    }
    if (result < 0)
        problem_set(problem, 500, "cannot write %s: %s", path, strerror(errno));
    free(new_path);
    return result;
}

static int announce(const struct program *program, const struct options *options,
                    struct problem *problem)
{
    unsigned port = server_port(program->server);
    bool brackets = strchr(options->host, ':') != NULL;

    if (options->port_file && write_port_file(options->port_file, port, problem) < 0)
        return -1;
    printf("mock-fm: listening on http://%s%s%s:%u\n", brackets ? "[" : "", options->host,
           brackets ? "]" : "", port);
    fflush(stdout);
    return 0;
}

static int serve(struct program *program, const struct options *options, struct problem *problem)
{
    int result = 0;

    program->server = server_create(&program->loop, &program->control, options->host, options->port,
                                    options->latency_ms, problem);
    if (!program->server)
        return -1;
    watch_signals(program);
    if (announce(program, options, problem) < 0) {
        result = -1;
        on_signal(&program->signals[0], SIGTERM);
    }
    uv_run(&program->loop, UV_RUN_DEFAULT);
    server_destroy(program->server);
    return result;
}

int main(int argc, char **argv)
{
    struct program program = {0};
    struct options options;
    struct problem problem;
    int result;

    if (options_parse(&options, argc, argv, &problem) < 0) {
        fprintf(stderr, "mock-fm: %s\n", problem.text);
        return 2;
    }
    if (options.help || options.version) {
        fputs(options.help ? options_help : "mock-fm " MCAST_VERSION "\n", stdout);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    uv_loop_init(&program.loop);
    result = open_objects(&program, &options, &problem);
    if (result == 0)
        result = serve(&program, &options, &problem);
    close_objects(&program);
    uv_loop_close(&program.loop);
    if (result < 0)
        fprintf(stderr, "mock-fm: %s\n", problem.text);
    return result < 0 ? 1 : 0;
}
