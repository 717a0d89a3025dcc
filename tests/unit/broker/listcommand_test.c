/* SPDX-License-Identifier: Apache-2.0 */
/* list_command, with real programs: scripts in a folder of the test's own (F20, F22). */

#include "tests/unit/unit.h"

#include "broker/jobs/listcommand.h"
#include "tests/unit/broker/gate.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATH_SIZE = 128,
    LONG_MS = 60000,  /* never waited out */
    SHORT_MS = 300,   /* for what never ends by itself, */
    ENOUGH_MS = 3000, /* after it has done something */
    HOLD_TURNS = 600, /* of 100 ms */
};

struct stand {
    uv_loop_t loop;
    struct listcommand *commands;
    char folder[64];
    unsigned answers, closed;
    unsigned pieces, ids; /* of the last answer */
    bool more;            /* of it is to come */
    uint64_t turn_ms;     /* the loop's time at the last piece: the same all through a turn */
    uint64_t id;
    bool ok;
    char told[1024]; /* ids with a blank after each, or the words */
    int fifo;        /* read end of "held": at its end once nobody has it open */
};

static void on_step(void *arg, struct core_event *event)
{
    struct stand *stand = arg;
    assert_int_equal(event->kind, CORE_JOBPOLL_DONE);
    if (!stand->more) {
        stand->pieces = stand->ids = 0;
        stand->told[0] = '\0';
    }
    assert_true(!stand->more || uv_now(&stand->loop) > stand->turn_ms);
    stand->turn_ms = uv_now(&stand->loop);
    stand->more = event->u.jobpoll.more;
    stand->pieces++;
    stand->ids += (unsigned)event->u.jobpoll.count;
    stand->answers += !stand->more;
    stand->id = event->u.jobpoll.id;
    stand->ok = event->u.jobpoll.ok;
    for (size_t i = 0; stand->ok && i < event->u.jobpoll.count; i++) {
        size_t used = strlen(stand->told);
        (void)snprintf(stand->told + used, sizeof stand->told - used, "%s ",
                       event->u.jobpoll.active[i]);
    }
    if (!stand->ok)
        (void)snprintf(stand->told, sizeof stand->told, "%s", event->u.jobpoll.words);
}

static void on_closed(void *arg)
{
    ((struct stand *)arg)->closed++;
}

static char *in(const struct stand *stand, const char *name)
{
    static char path[4][PATH_SIZE];
    static unsigned turn;
    char *out = path[turn++ % 4];
    (void)snprintf(out, PATH_SIZE, "%s/%s", stand->folder, name);
    return out;
}

static int open_stand(void **state)
{
    static struct stand stand;
    memset(&stand, 0, sizeof stand);
    strcpy(stand.folder, "/var/tmp/mcast-list.XXXXXX");
    assert_non_null(mkdtemp(stand.folder));
    assert_int_equal(mkfifo(in(&stand, "held"), 0600), 0);
    stand.fifo = open(in(&stand, "held"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(stand.fifo >= 0);
    assert_int_equal(uv_loop_init(&stand.loop), 0);
    stand.commands = listcommand_create(&stand.loop, on_step, &stand);
    *state = &stand;
    return 0;
}

static int delete (const char *path, const struct stat *found, int kind, struct FTW *at)
{
    return remove(path);
}

static void destroy(struct stand *stand)
{
    if (stand->commands)
        listcommand_destroy(stand->commands, on_closed, stand);
    stand->commands = NULL;
    gate_await(&stand->loop, &stand->closed, 1);
}

static int close_stand(void **state)
{
    struct stand *stand = *state;
    destroy(stand);
    assert_int_equal(stand->closed, 1);
    assert_int_equal(uv_loop_close(&stand->loop), 0);
    close(stand->fifo);
    (void)nftw(stand->folder, delete, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

/* ---- commands ---- */

static void configure(struct stand *stand, const char *const *argv, int64_t timeout_ms)
{
    static char words[4][PATH_SIZE], *copy[5];
    for (size_t i = 0; i < 5; i++)
        copy[i] = NULL;
    for (size_t i = 0; argv[i]; i++) {
        (void)snprintf(words[i], sizeof words[i], "%s", argv[i]);
        copy[i] = words[i];
    }
    static struct config config = {.core.cluster_count = 1};
    config.clusters[0] = (struct config_cluster){
        .name = "elcap", .list_command = copy, .list_timeout_ms = timeout_ms};
    listcommand_configure(stand->commands, &config);
}

/* A script; its own folder is $here. */
static void configure_script(struct stand *stand, const char *text, int64_t timeout_ms)
{
    const char *path = in(stand, "list");
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nhere=${0%%/*}\n%s\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    configure(stand, (const char *const[]){path, "one", "two", NULL}, timeout_ms);
}

static void ask(struct stand *stand)
{
    static uint64_t id;
    unsigned before = stand->answers;
    listcommand_ask(stand->commands, ++id, "elcap");
    assert_int_equal(stand->answers, before); /* never from inside */
    gate_await(&stand->loop, &stand->answers, before + 1);
    assert_int_equal(stand->id, id);
}

static void expect(const struct stand *stand, bool ok, const char *told)
{
    if (stand->ok != ok || strcmp(stand->told, told) != 0)
        fail_msg("%s \"%s\", expected %s \"%s\"", stand->ok ? "ok" : "failed", stand->told,
                 ok ? "ok" : "failed", told);
}

static void expect_script(struct stand *stand, const char *text, bool ok, const char *told)
{
    configure_script(stand, text, LONG_MS);
    ask(stand);
    expect(stand, ok, told);
}

/* Nobody has the fifo open any more. */
static void expect_let_go(const struct stand *stand)
{
    char bytes[64];
    ssize_t size = -1;
    for (int i = 0; i < HOLD_TURNS && size != 0; i++) {
        struct pollfd fd = {.fd = stand->fifo, .events = POLLIN};
        size = read(stand->fifo, bytes, sizeof bytes);
        if (size != 0)
            (void)poll(&fd, 1, 100);
    }
    assert_int_equal(size, 0);
}

static bool is_there(const struct stand *stand, const char *name)
{
    return access(in(stand, name), F_OK) == 0;
}

static void await_file(struct stand *stand, const char *name)
{
    for (int i = 0; i < HOLD_TURNS && !is_there(stand, name); i++) {
        (void)uv_run(&stand->loop, UV_RUN_NOWAIT);
        (void)poll(NULL, 0, 10);
    }
    assert_true(is_there(stand, name));
}

/* ---- lists that count ---- */

static void list__is_what_it_prints(void **state)
{
    struct stand *stand = *state;
    expect_script(stand, "echo 17; echo 18", true, "17 18 ");
    expect_script(stand, "printf '17\\n18'", true, "17 18 ");
    expect_script(stand, "echo 17; echo 'a warning' >&2", true, "17 ");
    expect_script(stand, ":", true, "");
    expect_script(stand, "echo $#; for a in \"$@\"; do echo $a; done", true, "2 one two ");
    expect_script(stand, "for i in $(seq 1 5); do echo $i; sleep 0.01; done", true, "1 2 3 4 5 ");
}

/* And reaches the core in pieces, so that no turn of the loop is long (G11). */
static void list__may_be_long(void **state)
{
    struct stand *stand = *state;
    configure_script(stand, "seq 1 200000", LONG_MS);
    ask(stand);
    assert_true(stand->ok);
    assert_memory_equal(stand->told, "1 2 3 4 ", 8);
    assert_int_equal(stand->ids, 200000);
    assert_in_range(stand->pieces, 20, 2000);
}

/* /dev/stdout can be opened, which a socket could not be. */
static void output__is_a_pipe(void **state)
{
    expect_script(*state, "echo 17 >/dev/stdout; echo 18 >>/proc/self/fd/1", true, "17 18 ");
}

/* ---- what it is given ---- */

static void descriptors__of_ours_stay_ours(void **state)
{
    struct stand *stand = *state;
    int left_open[2];
    assert_int_equal(pipe(left_open), 0); /* as a library might: without O_CLOEXEC */
    configure(stand, (const char *const[]){"/bin/ls", "/proc/self/fd", NULL}, LONG_MS);
    ask(stand);
    expect(stand, true, "0 1 2 3 "); /* 3 is the folder that ls reads */
    close(left_open[0]);
    close(left_open[1]);
}

static void signals__are_as_by_default(void **state)
{
    struct stand *stand = *state;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGTERM);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    configure_script(stand, "grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f2", LONG_MS);
    ask(stand);
    /* 32 and 33 are the C library's own, which it gives nobody. */
    if (!stand->ok || strcmp(stand->told, "0000000000000000 0000000180000000 ") != 0)
        expect(stand, true, "0000000000000000 0000000000000000 ");
    (void)pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
}

static void surroundings__are_its_own(void **state)
{
    expect_script(*state,
                  "[ \"$(readlink /proc/$$/cwd)\" = / ] && echo root\n"
                  "[ \"$(readlink /proc/$$/fd/0)\" = /dev/null ] && echo null\n"
                  "read -r pid name state parent group session rest </proc/$$/stat\n"
                  "[ \"$group\" = $$ ] && echo group\n[ \"$session\" = $$ ] && echo session",
                  true, "root null group session ");
}

static void environment__is_clean(void **state)
{
    static const char tell[] = "tr '\\0' '\\n' </proc/$$/environ | sed 's/[^=]*$/x/; s/=x//'";
    struct stand *stand = *state;
    assert_int_equal(setenv("MCAST_TEST_SECRET", "x", 1), 0);
    assert_int_equal(unsetenv("TZ"), 0);
    expect_script(stand, tell, true, "PATH LANG MCAST_CLUSTER ");
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    expect_script(stand, tell, true, "PATH LANG MCAST_CLUSTER TZ ");
    expect_script(stand, "echo $LANG $MCAST_CLUSTER $TZ | tr ' ' '\\n'", true,
                  "C.UTF-8 elcap UTC ");
    assert_int_equal(unsetenv("TZ"), 0);
    assert_int_equal(unsetenv("MCAST_TEST_SECRET"), 0);
}

/* ---- lists that do not count ---- */

static void end__that_is_no_success(void **state)
{
    struct stand *stand = *state;
    expect_script(stand, "echo 17; exit 1", false, "it exited with status 1");
    expect_script(stand,
                  "echo 17; echo >&2; echo ' slurm_load_jobs error: no controller' >&2\n"
                  "echo more >&2; exit 3",
                  false,
                  "it exited with status 3; its stderr: slurm_load_jobs error: no controller");
    expect_script(stand, "echo 17; kill -9 $$", false, "it was ended by signal 9 (Killed)");
    expect_script(stand, "false | cat", true, ""); /* what pipefail is for (operations.md) */
}

static void silence__with_a_complaint(void **state)
{
    struct stand *stand = *state;
    expect_script(stand, "echo 'no access' >&2", false,
                  "it names no job, but wrote to stderr; its stderr: no access");
    expect_script(stand, "echo >&2", false, "it names no job, but wrote to stderr");
}

static void garbage__ends_it(void **state)
{
    struct stand *stand = *state;
    expect_script(stand, "exec 9>$here/held; echo 17; echo 'JOBID USER'; echo 18; exec sleep 1000",
                  false,
                  "line 2 of its output, \"JOBID USER\", is no job id: 1 to 128 of A-Z, a-z, 0-9 "
                  "and ._:@+-");
    expect_let_go(stand);
}

static void output__has_a_limit(void **state)
{
    expect_script(*state, "exec yes \"$(printf %400s)\"", false,
                  "its output is longer than 64 MiB");
}

/* It ends up in the log and in answers. */
static void complaint__is_cleaned_and_cut(void **state)
{
    struct stand *stand = *state;
    expect_script(stand, "printf '\\033[31mr\\303\\244d\\0' >&2; exit 1", false,
                  "it exited with status 1; its stderr: ?[31mr??d?");
    configure_script(stand, "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1", LONG_MS);
    ask(stand);
    assert_false(stand->ok);
    assert_int_equal(strlen(stand->told), strlen("it exited with status 1; its stderr: ") + 160);
}

static void command__that_cannot_be_run(void **state)
{
    struct stand *stand = *state;
    char told[PATH_SIZE + 64];
    configure(stand, (const char *const[]){in(stand, "none"), NULL}, LONG_MS);
    ask(stand);
    (void)snprintf(told, sizeof told, "%s cannot be run: no such file or directory",
                   in(stand, "none"));
    expect(stand, false, told);
    configure_script(stand, "echo 17", LONG_MS);
    assert_int_equal(chmod(in(stand, "list"), 0600), 0);
    ask(stand);
    (void)snprintf(told, sizeof told, "%s cannot be run: permission denied", in(stand, "list"));
    expect(stand, false, told);
    static const struct config without = {.core.cluster_count = 0};
    listcommand_configure(stand->commands, &without);
    ask(stand);
    expect(stand, false, "it is no longer configured");
}

/* ---- its time ---- */

static void time__ends_it_and_what_it_started(void **state)
{
    struct stand *stand = *state;
    configure_script(stand, "exec 9>$here/held; echo 17; sleep 1000 & sleep 1000", SHORT_MS);
    ask(stand);
    expect(stand, false, "it did not end within 300ms and was killed");
    expect_let_go(stand);
    /* It can say why, when it is asked to end. */
    configure_script(stand, "trap 'echo slow disk >&2; exit 0' TERM; echo 17; sleep 1000 & wait",
                     ENOUGH_MS);
    ask(stand);
    expect(stand, false, "it did not end within 3s and was killed; its stderr: slow disk");
}

static void time__ends_what_does_not_obey(void **state)
{
    struct stand *stand = *state;
    configure_script(stand, "exec 9>$here/held; trap '' TERM; while :; do sleep 0.05; done",
                     SHORT_MS);
    ask(stand);
    expect(stand, false, "it did not end within 300ms and was killed");
    expect_let_go(stand);
}

/* The list may not be whole: somebody can still write. */
static void output__that_is_held_open(void **state)
{
    struct stand *stand = *state;
    configure_script(stand, "exec 9>$here/held; echo 17; sleep 1000 & exit 0", ENOUGH_MS);
    ask(stand);
    expect(stand, false, "it ended, but what it started held its output open for 3s");
    expect_let_go(stand);
    /* Out of reach of signals to its group: it is not waited for. */
    configure_script(stand, "setsid sh -c 'exec 9>$0/held; read x <$0/go' $here & exit 0",
                     ENOUGH_MS);
    assert_int_equal(mkfifo(in(stand, "go"), 0600), 0);
    ask(stand);
    expect(stand, false, "it ended, but what it started held its output open for 3s");
    int go = open(in(stand, "go"), O_RDWR | O_CLOEXEC);
    assert_int_equal(write(go, "\n", 1), 1);
    expect_let_go(stand);
    close(go);
}

/* ---- one that SIGKILL does not end ---- */

static void *wait_for_ever(void *arg)
{
    FILE *file = fopen(arg, "we");
    fprintf(file, "%d\n", (int)gettid());
    fclose(file);
    for (;;)
        (void)pause();
    return NULL;
}

/* This program, run as a list_command: a second thread, whose number is in the file. */
static int be_two_threads(char *path)
{
    char new_path[PATH_SIZE];
    pthread_t thread;
    (void)snprintf(new_path, sizeof new_path, "%s.new", path);
    if (pthread_create(&thread, NULL, wait_for_ever, new_path) != 0)
        return 1;
    while (access(new_path, F_OK) != 0)
        (void)poll(NULL, 0, 1);
    (void)rename(new_path, path);
    for (;;)
        (void)pause();
}

/* A process that traces the thread and never hears of its end, so that the program does not end
 * either, killed or not. 0: nothing can be traced here. */
static pid_t start_tracer(const char *thread_file)
{
    int ready[2], thread = 0;
    char byte = 'n';
    FILE *file = fopen(thread_file, "re");
    while (!file || fscanf(file, "%d", &thread) != 1) {
        if (file)
            fclose(file);
        file = fopen(thread_file, "re");
    }
    fclose(file);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t tracer = fork();
    if (tracer == 0) {
        byte = ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0 ? 'y' : 'n';
        (void)!write(ready[1], &byte, 1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (byte == 'y')
        return tracer;
    (void)kill(tracer, SIGKILL);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    return 0;
}

static bool answers_17(struct stand *stand)
{
    ask(stand);
    return stand->ok && strcmp(stand->told, "17 ") == 0;
}

/* As one whose file system hangs: it is given up, and none is begun beside it. */
static void command__that_outlives_its_killing(void **state)
{
    struct stand *stand = *state;
    char self[PATH_MAX] = "";
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    configure(stand, (const char *const[]){self, "--two-threads", in(stand, "thread"), NULL},
              ENOUGH_MS);
    listcommand_ask(stand->commands, 1, "elcap");
    await_file(stand, "thread");
    pid_t tracer = start_tracer(in(stand, "thread"));
    if (tracer == 0)
        skip();
    gate_await(&stand->loop, &stand->answers, 1);
    expect(stand, false, "it did not end within 3s and was killed");
    configure_script(stand, "echo 17", LONG_MS);
    for (int i = 0; i < 3; i++) {
        ask(stand);
        assert_false(stand->ok);
        assert_memory_equal(stand->told, "process ", 8);
        assert_non_null(
            strstr(stand->told, ", killed for an earlier one, has not ended yet: look"));
    }
    assert_int_equal(kill(tracer, SIGKILL), 0);
    assert_int_equal(waitpid(tracer, NULL, 0), tracer);
    for (int i = 0; i < HOLD_TURNS && !answers_17(stand); i++)
        (void)poll(NULL, 0, 10);
    expect(stand, true, "17 ");
}

/* ---- more than one ---- */

static void clusters__are_asked_side_by_side(void **state)
{
    struct stand *stand = *state;
    /* Each waits for the other. */
    configure_script(stand, "touch $here/$1; until [ -e $here/$2 ]; do sleep 0.01; done; echo $1",
                     LONG_MS);
    char *elcap[] = {in(stand, "list"), "a", "b", NULL};
    char *tuo[] = {in(stand, "list"), "b", "a", NULL};
    static struct config config = {.core.cluster_count = 2};
    config.clusters[0] =
        (struct config_cluster){"elcap", .list_command = elcap, .list_timeout_ms = LONG_MS};
    config.clusters[1] =
        (struct config_cluster){"tuo", .list_command = tuo, .list_timeout_ms = LONG_MS};
    listcommand_configure(stand->commands, &config);
    listcommand_ask(stand->commands, 1, "elcap");
    listcommand_ask(stand->commands, 2, "tuo");
    gate_await(&stand->loop, &stand->answers, 2);
    expect(stand, true, stand->id == 1 ? "a " : "b ");
}

/* F5: what runs goes on, the next one is the new one. */
static void configuration__is_for_the_next(void **state)
{
    struct stand *stand = *state;
    configure_script(
        stand, "touch $here/begun; until [ -e $here/go ]; do sleep 0.01; done; echo old", LONG_MS);
    listcommand_ask(stand->commands, 1, "elcap");
    await_file(stand, "begun");
    configure(stand, (const char *const[]){"/bin/echo", "new", NULL}, LONG_MS);
    ask(stand);
    expect(stand, true, "new ");
    int go = open(in(stand, "go"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(go);
    gate_await(&stand->loop, &stand->answers, 2);
    assert_int_equal(stand->id, 1);
    expect(stand, true, "old ");
}

/* ---- the end ---- */

static void destroy__kills_without_a_word(void **state)
{
    struct stand *stand = *state;
    configure_script(stand,
                     "exec 9>$here/held; trap '' TERM; touch $here/begun; sleep 1000 & sleep 1000",
                     LONG_MS);
    listcommand_ask(stand->commands, 1, "elcap");
    await_file(stand, "begun");
    listcommand_ask(stand->commands, 2, "nobody"); /* its answer would be the next to come */
    destroy(stand);
    expect_let_go(stand);
    assert_int_equal(stand->answers, 0);
    while (waitpid(-1, NULL, WNOHANG) > 0) /* libuv no longer does */
        ;
}

#define STAND_TEST(name) cmocka_unit_test_setup_teardown(name, open_stand, close_stand)

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--two-threads") == 0)
        return be_two_threads(argv[2]);
    const struct CMUnitTest tests[] = {
        STAND_TEST(list__is_what_it_prints),
        STAND_TEST(list__may_be_long),
        STAND_TEST(output__is_a_pipe),
        STAND_TEST(descriptors__of_ours_stay_ours),
        STAND_TEST(signals__are_as_by_default),
        STAND_TEST(surroundings__are_its_own),
        STAND_TEST(environment__is_clean),
        STAND_TEST(end__that_is_no_success),
        STAND_TEST(silence__with_a_complaint),
        STAND_TEST(garbage__ends_it),
        STAND_TEST(output__has_a_limit),
        STAND_TEST(complaint__is_cleaned_and_cut),
        STAND_TEST(command__that_cannot_be_run),
        STAND_TEST(time__ends_it_and_what_it_started),
        STAND_TEST(time__ends_what_does_not_obey),
        STAND_TEST(output__that_is_held_open),
        STAND_TEST(command__that_outlives_its_killing),
        STAND_TEST(clusters__are_asked_side_by_side),
        STAND_TEST(configuration__is_for_the_next),
        STAND_TEST(destroy__kills_without_a_word),
    };
    return cmocka_run_group_tests_name("broker_listcommand", tests, NULL, NULL);
}
