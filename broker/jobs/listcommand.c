/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/jobs/listcommand.h"

#include "broker/jobs/child.h"
#include "broker/jobs/joblines.h"
#include "trust/trustedpath.h"
#include "base/duration.h"
#include "base/memory.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 64 * 1024,
    STDERR_MAX = 160,    /* bytes of the first line on stderr */
    KILL_WAIT_MS = 1000, /* after SIGTERM, and after SIGKILL */
    TZ_SIZE = 256,
    PIECE_IDS = 2000, /* named to the core in one turn of the loop: about a millisecond */
    NEXT_TURN_MS = 1, /* with 0, libuv runs a timer again in the same turn */
};

/* What a run's timer is waiting for. */
enum stage {
    STAGE_REFUSED,    /* the next turn of the loop: it was not started */
    STAGE_RUNS,       /* its end, or its time is over */
    STAGE_REPORTING,  /* the next turn of the loop, for the next ids */
    STAGE_TERMINATED, /* what SIGTERM does */
    STAGE_KILLED,     /* what SIGKILL does */
};

/* One job list poll. It frees itself when it is over and nothing of it is in the loop. */
struct listrun {
    struct listcommand *all;
    LIST_ENTRY(listrun) link;
    uint64_t id;
    char cluster[CLUSTER_NAME_MAX + 1];
    int64_t timeout_ms;
    pid_t pid;        /* waited for when the run is closed: until then its group is its own */
    int pidfd;        /* -1: none */
    uv_poll_t ending; /* of the pidfd */
    uv_pipe_t out, err;
    uv_timer_t timer;
    unsigned handles; /* in the loop */
    enum stage stage;
    bool watched;  /* its ending is in the loop */
    bool runs;     /* the process is there and has not ended */
    bool answered; /* the core has the result */
    bool out_over, err_over;
    bool wrote_stderr;
    struct joblines lines;
    size_t sent;      /* of their ids */
    struct error why; /* it is worth nothing; code 0: nothing is wrong so far */
    char stderr_line[STDERR_MAX + 1];
    size_t stderr_length;
    bool stderr_done; /* the first line is over */
};

struct listcommand {
    uv_loop_t *loop;
    listcommand_step_fn *step;
    void *arg;
    const struct config *config;
    LIST_HEAD(listruns, listrun) runs; /* all that have anything in the loop */
    char buffer[BUFFER_SIZE];
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void finish_destroy(struct listcommand *all)
{
    void (*closed)(void *arg) = all->closed;
    void *arg = all->closed_arg;
    free(all);
    if (closed)
        closed(arg);
}

/* ---- the end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct listrun *run = handle->data;
    struct listcommand *all = run->all;
    if (--run->handles > 0)
        return;
    LIST_REMOVE(run, link);
    joblines_release(&run->lines);
    if (run->pidfd >= 0)
        (void)close(run->pidfd);
    free(run);
    if (LIST_EMPTY(&all->runs) && all->closing)
        finish_destroy(all);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_closed);
}

static void signal_group(const struct listrun *run, int signum)
{
    if (run->pid > 0)
        (void)kill(-run->pid, signum);
}

/* But for a process that is still there: it is waited for. */
static void close_run(struct listrun *run)
{
    close_handle((uv_handle_t *)&run->timer);
    close_handle((uv_handle_t *)&run->out);
    close_handle((uv_handle_t *)&run->err);
    if (run->runs)
        return;
    if (run->watched)
        close_handle((uv_handle_t *)&run->ending);
    if (run->pid > 0) {
        signal_group(run, SIGKILL); /* what it has left behind: none is to grow with each list */
        (void)waitpid(run->pid, NULL, WNOHANG);
    }
    run->pid = 0;
}

/* ---- what came of it ---- */

__attribute__((format(printf, 2, 3))) static void set_failure(struct listrun *run,
                                                              const char *format, ...)
{
    va_list args;
    if (run->why.code != 0)
        return; /* the first thing that is wrong explains the others */
    run->why.code = ERROR_IO;
    va_start(args, format);
    (void)vsnprintf(run->why.text, sizeof run->why.text, format, args);
    va_end(args);
}

static void on_timer(uv_timer_t *timer);

/* What it named, in pieces, so that the loop goes on. */
static void send_next_ids(struct listrun *run)
{
    size_t left = run->lines.count - run->sent;
    struct core_event event = {.kind = CORE_JOBPOLL_DONE};
    event.u.jobpoll.id = run->id;
    event.u.jobpoll.ok = true;
    event.u.jobpoll.more = left > PIECE_IDS;
    event.u.jobpoll.active = run->lines.ids + run->sent;
    event.u.jobpoll.count = left > PIECE_IDS ? PIECE_IDS : left;
    run->sent += PIECE_IDS;
    run->stage = STAGE_REPORTING;
    if (event.u.jobpoll.more)
        (void)uv_timer_start(&run->timer, on_timer, NEXT_TURN_MS, 0);
    else
        close_run(run);
    run->all->step(run->all->arg, &event);
}

static void report_result(struct listrun *run)
{
    char words[ERROR_TEXT_SIZE + STDERR_MAX + 32];
    if (run->answered)
        return;
    run->answered = true;
    (void)uv_timer_stop(&run->timer);
    if (run->why.code == 0)
        (void)joblines_end(&run->lines, &run->why);
    if (run->why.code == 0 && run->lines.count == 0 && run->wrote_stderr)
        set_failure(run, "it names no job, but wrote to stderr");
    if (run->why.code == 0) {
        send_next_ids(run);
        return;
    }
    (void)snprintf(words, sizeof words, "%s%s%s", run->why.text,
                   run->stderr_length > 0 ? "; its stderr: " : "", run->stderr_line);
    struct core_event event = {.kind = CORE_JOBPOLL_DONE};
    event.u.jobpoll.id = run->id;
    event.u.jobpoll.words = words;
    close_run(run);
    run->all->step(run->all->arg, &event);
}

static void report_when_over(struct listrun *run)
{
    if (!run->runs && run->out_over && run->err_over)
        report_result(run);
}

/* ---- its end, wanted or not ---- */

static void enter_stage(struct listrun *run, enum stage stage)
{
    run->stage = stage;
    (void)uv_timer_start(&run->timer, on_timer, KILL_WAIT_MS, 0);
}

static void terminate_run(struct listrun *run)
{
    if (run->stage != STAGE_RUNS)
        return;
    signal_group(run, SIGTERM);
    enter_stage(run, STAGE_TERMINATED);
}

static void on_timeout(struct listrun *run)
{
    char timeout[32];
    duration_format(timeout, sizeof timeout, run->timeout_ms);
    set_failure(run,
                run->runs ? "it did not end within %s and was killed"
                          : "it ended, but what it started held its output open for %s",
                timeout);
    terminate_run(run);
}

static void on_timer(uv_timer_t *timer)
{
    struct listrun *run = timer->data;
    switch (run->stage) {
    case STAGE_RUNS:
        on_timeout(run);
        break;
    case STAGE_TERMINATED:
        signal_group(run, SIGKILL);
        enter_stage(run, STAGE_KILLED);
        break;
    case STAGE_REPORTING:
        send_next_ids(run);
        break;
    case STAGE_REFUSED:
    case STAGE_KILLED:
        report_result(run);
        break;
    }
}

/* How it has ended; it stays a zombie, so that its number stays its own. */
static void judge_exit(struct listrun *run)
{
    siginfo_t end = {0};
    if (waitid(P_PID, (id_t)run->pid, &end, WEXITED | WNOHANG | WNOWAIT) < 0 || end.si_pid == 0)
        set_failure(run, "it ended, but its exit status is not available");
    else if (end.si_code != CLD_EXITED)
        set_failure(run, "it was ended by signal %d (%s)", end.si_status, strsignal(end.si_status));
    else if (end.si_status != 0)
        set_failure(run, "it exited with status %d", end.si_status);
}

static void on_ended(uv_poll_t *ending, int status, int events)
{
    struct listrun *run = ending->data;
    (void)status;
    (void)events;
    (void)uv_poll_stop(ending);
    run->runs = false;
    if (run->answered) { /* it was given up */
        close_run(run);
        return;
    }
    judge_exit(run);
    if (run->why.code != 0) {
        signal_group(run, SIGKILL);
        enter_stage(run, STAGE_KILLED);
    }
    report_when_over(run);
}

/* ---- what it prints ---- */

static void on_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct listrun *run = handle->data;
    (void)wanted;
    *buffer = uv_buf_init(run->all->buffer, BUFFER_SIZE);
}

static void on_out(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct listrun *run = stream->data;
    if (size == 0)
        return;
    if (size > 0 && run->why.code == 0 &&
        joblines_add(&run->lines, buffer->base, (size_t)size, &run->why) == 0)
        return;
    if (size < 0 && size != UV_EOF)
        set_failure(run, "its output cannot be read: %s", uv_strerror((int)size));
    (void)uv_read_stop(stream);
    run->out_over = true;
    if (run->why.code != 0)
        terminate_run(run);
    report_when_over(run);
}

static void keep_first_line(struct listrun *run, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size && !run->stderr_done; i++) {
        char c = bytes[i];
        if (run->stderr_length == 0 && isspace((unsigned char)c))
            continue;
        run->stderr_done = c == '\n' || c == '\r' || run->stderr_length == STDERR_MAX;
        if (!run->stderr_done)
            run->stderr_line[run->stderr_length++] = (char)(isprint((unsigned char)c) ? c : '?');
    }
}

static void on_err(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct listrun *run = stream->data;
    if (size > 0)
        keep_first_line(run, buffer->base, (size_t)size);
    run->wrote_stderr |= size > 0;
    if (size >= 0)
        return;
    if (size != UV_EOF)
        set_failure(run, "its stderr cannot be read: %s", uv_strerror((int)size));
    (void)uv_read_stop(stream);
    run->err_over = true;
    report_when_over(run);
}

/* ---- its beginning ---- */

static int watch_end(struct listrun *run)
{
    run->pidfd = pidfd_open(run->pid, 0);
    int rc = run->pidfd < 0 ? -errno : uv_poll_init(run->all->loop, &run->ending, run->pidfd);
    if (rc < 0)
        return rc;
    run->watched = true;
    run->handles++;
    return uv_poll_start(&run->ending, UV_READABLE, on_ended);
}

static int spawn_command(struct listrun *run, char *const *argv, int out, int err)
{
    char cluster[sizeof "MCAST_CLUSTER=" + CLUSTER_NAME_MAX], tz[TZ_SIZE];
    char search[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    char lang[] = "LANG=C.UTF-8";
    char *environment[] = {search, lang, cluster, NULL, NULL};
    const char *zone = getenv("TZ");
    (void)snprintf(cluster, sizeof cluster, "MCAST_CLUSTER=%s", run->cluster);
    if (zone && (size_t)snprintf(tz, sizeof tz, "TZ=%s", zone) < sizeof tz)
        environment[3] = tz;
    int rc = child_start(argv, environment, out, err, &run->pid);
    if (rc < 0)
        return rc;
    rc = watch_end(run);
    run->runs = rc == 0;
    if (rc < 0) { /* its end would not be noticed */
        signal_group(run, SIGKILL);
        (void)waitpid(run->pid, NULL, 0);
        run->pid = 0;
    }
    return rc;
}

/* A pipe, not libuv's socket: a script may open /dev/stdout. */
static int open_pipe(uv_pipe_t *pipe, int *write_end)
{
    uv_file ends[2];
    int rc = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
    if (rc < 0)
        return rc;
    *write_end = ends[1];
    rc = uv_pipe_open(pipe, ends[0]);
    if (rc < 0)
        (void)close(ends[0]);
    return rc;
}

static void start_command(struct listrun *run, const struct config_cluster *cluster)
{
    int out = -1, err = -1;
    int rc = open_pipe(&run->out, &out);
    if (rc == 0)
        rc = open_pipe(&run->err, &err);
    if (rc == 0)
        rc = spawn_command(run, cluster->list_command, out, err);
    if (out >= 0)
        (void)close(out);
    if (err >= 0)
        (void)close(err);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&run->out, on_alloc, on_out);
    if (rc == 0)
        rc = uv_read_start((uv_stream_t *)&run->err, on_alloc, on_err);
    if (rc < 0)
        set_failure(run, "%s cannot be run: %s", cluster->list_command[0], uv_strerror(rc));
    if (!run->runs)
        return;
    run->stage = STAGE_RUNS;
    run->timeout_ms = cluster->list_timeout_ms;
    uv_update_time(run->all->loop);
}

static struct listrun *create_run(struct listcommand *all, uint64_t id, const char *cluster)
{
    struct listrun *run = memory_zeroed(sizeof *run);
    run->all = all;
    run->id = id;
    (void)snprintf(run->cluster, sizeof run->cluster, "%s", cluster);
    (void)uv_timer_init(all->loop, &run->timer);
    (void)uv_pipe_init(all->loop, &run->out, 0);
    (void)uv_pipe_init(all->loop, &run->err, 0);
    run->timer.data = run->out.data = run->err.data = run->ending.data = run;
    run->pidfd = -1;
    run->handles = 3;
    LIST_INSERT_HEAD(&all->runs, run, link);
    return run;
}

/* ---- all of them ---- */

/* The process of this cluster that outlived SIGKILL and was given up; 0: none. */
static pid_t find_unkilled(const struct listcommand *all, const char *cluster)
{
    const struct listrun *run = LIST_FIRST(&all->runs);
    while (run && !(run->answered && run->runs && strcmp(run->cluster, cluster) == 0))
        run = LIST_NEXT(run, link);
    return run ? run->pid : 0;
}

void listcommand_ask(struct listcommand *all, uint64_t id, const char *name)
{
    const struct config_cluster *cluster = config_cluster_find(all->config, name);
    const pid_t unkilled = find_unkilled(all, name);
    struct listrun *run = create_run(all, id, name);
    struct error why = {0};
    if (!cluster || !cluster->list_command)
        set_failure(run, "it is no longer configured");
    else if (unkilled != 0)
        set_failure(run,
                    "process %d, killed for an earlier one, has not ended yet: look what it waits "
                    "for",
                    (int)unkilled);
    else if (trustedcommand_check(cluster->list_command, &why) == ERROR_REFUSED)
        set_failure(run, "it is not run: %s", why.text); /* it has been changed since the start */
    else
        start_command(run, cluster);
    (void)uv_timer_start(&run->timer, on_timer, (uint64_t)run->timeout_ms, 0);
    if (run->runs && run->why.code != 0)
        terminate_run(run);
}

void listcommand_configure(struct listcommand *all, const struct config *config)
{
    all->config = config;
}

struct listcommand *listcommand_create(uv_loop_t *loop, listcommand_step_fn *step, void *arg)
{
    struct listcommand *all = memory_zeroed(sizeof *all);
    all->loop = loop;
    all->step = step;
    all->arg = arg;
    return all;
}

void listcommand_destroy(struct listcommand *all, void (*closed)(void *arg), void *arg)
{
    all->closing = true;
    all->closed = closed;
    all->closed_arg = arg;
    struct listrun *run = NULL;
    LIST_FOREACH(run, &all->runs, link)
    {
        signal_group(run, SIGKILL);
        run->runs = false;
        run->answered = true;
        close_run(run);
    }
    if (LIST_EMPTY(&all->runs))
        finish_destroy(all);
}
