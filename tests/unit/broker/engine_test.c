/* SPDX-License-Identifier: Apache-2.0 */
/* The engine: the real core, joined to a store that the test holds the reins of. */

#include "tests/unit/unit.h"

#include "broker/engine.h"
#include "tests/coreconfig.h"
#include "broker/log/log.h"
#include "tests/unit/broker/fakeetcd.h"
#include "tests/unit/broker/gate.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    uv_loop_t loop;
    struct gate gate;
    struct config config;
    struct engine *engine;
    char calls[1024]; /* "render 1 created; send 1; events 1; " */
    unsigned answered, stopped;
    unsigned started, won, lost;
    char start_fault[ERROR_TEXT_SIZE];
};

static void note_call(struct fixture *fixture, const char *format, ...)
{
    size_t length = strlen(fixture->calls);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(fixture->calls + length, sizeof fixture->calls - length, format, args);
    va_end(args);
}

static void on_render(void *arg, const struct answer *answer)
{
    note_call(arg, "render %d %s; ", (int)answer->ticket, answer_word(answer->kind));
}

static void on_send(void *arg, uint64_t ticket, int code, const char *words)
{
    if (code == 0)
        note_call(arg, "send %d; ", (int)ticket);
    else
        note_call(arg, "refuse %d %s (%s); ", (int)ticket, error_word(code), words);
    ((struct fixture *)arg)->answered++;
}

static void on_events(void *arg, uint64_t last_seq)
{
    note_call(arg, "events %d; ", (int)last_seq);
}

static void on_stopped(void *arg)
{
    ((struct fixture *)arg)->stopped++;
}

static void on_started(void *arg, const struct error *err)
{
    struct fixture *fixture = arg;
    fixture->started++;
    (void)snprintf(fixture->start_fault, sizeof fixture->start_fault, "%s", err ? err->text : "");
}

static void on_won(void *arg)
{
    ((struct fixture *)arg)->won++;
}

static void on_lost(void *arg, const char *words)
{
    (void)words;
    ((struct fixture *)arg)->lost++;
}

/* leadership: of several brokers, this one waits for an election; else it has started. */
static int open_with(void **state, bool several)
{
    static struct fixture fixture;
    struct error err = {0};
    struct leadership *leadership = NULL;
    memset(&fixture, 0, sizeof fixture);
    log_set_level(-1);
    assert_int_equal(uv_loop_init(&fixture.loop), 0);
    gate_init(&fixture.gate, false);
    coreconfig_init(&fixture.config.core);
    strcpy(fixture.config.core.clusters[0].name, "elcap");
    fixture.config.core.cluster_count = 1;
    struct engine_options options = {
        .loop = &fixture.loop, .config = &fixture.config, .started = on_started};
    options.started_arg = &fixture;
    if (several) {
        const struct leadership_hooks hooks = {.arg = &fixture, .won = on_won, .lost = on_lost};
        fakeetcd_open();
        leadership = leadership_create(&fixture.loop, (struct etcd *)(void *)&fakeetcd, 2000,
                                       "unix:/own", &hooks);
    }
    options.leadership = leadership;
    fixture.engine = engine_create(&options);
    assert_non_null(fixture.engine);
    struct engine_listener listener = {
        .arg = &fixture, .render = on_render, .send = on_send, .events = on_events};
    engine_listen(fixture.engine, &listener);
    if (!several) {
        engine_use_store(fixture.engine, &fixture.gate.store);
        assert_int_equal(engine_start(fixture.engine, &err), 0);
    }
    *state = &fixture;
    return 0;
}

static int open_fixture(void **state)
{
    return open_with(state, false);
}

static int open_several(void **state)
{
    return open_with(state, true);
}

static void turn(struct fixture *fixture)
{
    (void)uv_run(&fixture->loop, UV_RUN_NOWAIT);
}

static int close_fixture(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->stopped == 0) {
        engine_stop(fixture->engine, on_stopped, fixture);
        fixture->gate.automatic = true;
        if (fixture->gate.batch)
            gate_finish(&fixture->gate, &fixture->loop, 0);
        gate_await(&fixture->loop, &fixture->stopped, 1);
    }
    assert_int_equal(fixture->stopped, 1);
    leadership_destroy(engine_leadership(fixture->engine));
    engine_destroy(fixture->engine);
    (void)uv_run(&fixture->loop, UV_RUN_DEFAULT);
    assert_true(fixture->gate.closed);
    gate_release(&fixture->gate);
    assert_int_equal(uv_loop_close(&fixture->loop), 0);
    return 0;
}

static void reserve(struct fixture *fixture, uint64_t ticket, const char *job)
{
    struct core_event event = {
        .kind = CORE_RESERVE,
        .ticket = ticket,
        .u.reserve =
            {.cluster = "elcap", .job = job, .node_count = 2, .uid = 1000, .vni_count = -1},
    };
    engine_step(fixture->engine, &event);
}

static struct engine_counters counters_of(const struct fixture *fixture)
{
    struct engine_counters counters;
    engine_counters(fixture->engine, &counters);
    return counters;
}

/* ---- the edge to the fabric manager (the linker's --wrap) ---- */

static struct {
    enum fmcall_kind kind;
    uint64_t id, list;
    char name[64], step[64], token[64];
    uint32_t addresses;
    unsigned tree;
    unsigned calls, logins;
} asked; /* last */

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
void __wrap_fabric_perform(struct fabric *fabric, const struct effect *effect);

void __wrap_fabric_perform(struct fabric *fabric, const struct effect *effect)
{
    if (effect->kind == EFFECT_LOGIN) {
        assert_int_equal(effect->u.login.url, 0);
        asked.logins++;
    } else if (effect->kind == EFFECT_LIST) {
        asked.list = effect->u.list.id;
    } else {
        assert_int_equal(effect->kind, EFFECT_CALL);
        const char *step = effect->u.call.about.step,
                   *token = secret_expose(effect->u.call.about.token);
        asked.calls++;
        asked.id = effect->u.call.id;
        asked.kind = effect->u.call.kind;
        asked.addresses = effect->u.call.about.addresses;
        asked.tree = effect->u.call.about.tree;
        (void)snprintf(asked.name, sizeof asked.name, "%s", effect->u.call.about.name);
        (void)snprintf(asked.step, sizeof asked.step, "%s", step ? step : "");
        (void)snprintf(asked.token, sizeof asked.token, "%s", token ? token : "");
    }
}
/* NOLINTEND(readability-identifier-naming) */

static void save_all(struct fixture *fixture)
{
    turn(fixture);
    if (fixture->gate.batch)
        gate_finish(&fixture->gate, &fixture->loop, 0);
    turn(fixture);
}

/* The call that is under way ends so. */
static void answered(struct fixture *fixture, enum fmcall_outcome outcome, const char *token,
                     const struct fmcall_steps *steps)
{
    struct core_event event = {.kind = CORE_CALL_DONE,
                               .u.call = {.id = asked.id,
                                          .outcome = outcome,
                                          .token = secret_of(token),
                                          .steps = steps,
                                          .words = "as told"}};
    engine_step(fixture->engine, &event);
    save_all(fixture);
}

/* With a fabric manager: the core's link is up. */
static void link_up(struct fixture *fixture)
{
    struct error err = {0};
    fixture->config.core.fm_present = true;
    fixture->config.core.fm_url_count = 1;
    strcpy(fixture->config.core.fm_urls[0], "http://fm");
    fixture->config.core.addresses_per_job = 23;
    fixture->config.core.min_nodes = 2;
    memset(&asked, 0, sizeof asked);
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, true, &err), 0);
    assert_int_equal(asked.logins, 1);
    struct core_event login = {.kind = CORE_LOGIN_DONE, .u.login = {.ok = true}};
    engine_step(fixture->engine, &login);
    save_all(fixture);
    assert_int_not_equal(asked.list, 0);
    struct core_event listed = {.kind = CORE_LIST_DONE,
                                .u.list_done = {.list = asked.list, .outcome = FM_OK}};
    engine_step(fixture->engine, &listed);
    save_all(fixture);
}

#define STAND_TEST(name) UNIT_WITH(name, open_fixture, close_fixture)

/* F8, F19: how many addresses, which step, which tree, and with which token. */
STAND_TEST(calls__reach_the_fabric_manager_whole)
{
    struct fixture *fixture = *state;
    static const uint16_t trees[] = {4077};
    static const struct fmcall_step step = {"/fA", trees, 1};
    static const struct fmcall_steps steps = {.steps = &step, .count = 1};
    static const char *const scope[] = {NULL};
    link_up(fixture);
    reserve(fixture, 1, "f1");
    turn(fixture);
    assert_int_equal(asked.calls, 0); /* B6: not before the intent is on disk */
    save_all(fixture);
    assert_int_equal(asked.kind, FMCALL_RESERVE);
    assert_string_equal(asked.name, "elcap-f1");
    assert_int_equal(asked.addresses, 23);
    answered(fixture, FM_OK, "sess-1", NULL);

    struct core_event cleanup = {.kind = CORE_CLEANUP,
                                 .ticket = 2,
                                 .u.cleanup = {.number = 1, .step = "/fA", .scopes = scope}};
    engine_step(fixture->engine, &cleanup);
    save_all(fixture);
    assert_int_equal(asked.kind, FMCALL_END_STEP);
    assert_string_equal(asked.name, "elcap-f1");
    assert_string_equal(asked.step, "/fA");
    assert_string_equal(asked.token, "sess-1");
    answered(fixture, FM_REFUSED, NULL, NULL);
    assert_int_equal(asked.kind, FMCALL_STEPS);
    answered(fixture, FM_OK, NULL, &steps);
    assert_int_equal(asked.kind, FMCALL_END_TREE);
    assert_string_equal(asked.step, "/fA");
    assert_int_equal(asked.tree, 4077);
    assert_string_equal(asked.token, "sess-1");
    answered(fixture, FM_GONE, NULL, NULL);
    answered(fixture, FM_OK, NULL, NULL); /* STEPS: none is left */
    assert_int_equal(asked.calls, 5);
}

/* B6, I2: what is acknowledged is on disk. */
STAND_TEST(answer__goes_out_when_it_is_durable)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    assert_string_equal(fixture->calls, "render 1 created; ");
    assert_int_equal(fixture->gate.commits, 1);
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_non_null(strstr(fixture->calls, "render 1 created; send 1; "));
    assert_non_null(strstr(fixture->calls, ""));
}

/* I7: the same request again; nothing to save, but not before the first one is durable. */
STAND_TEST(repeat__waits_for_the_first)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    reserve(fixture, 2, "f1");
    engine_after_saved(fixture->engine, 3);
    assert_string_equal(fixture->calls, "render 1 created; render 2 same; ");
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_non_null(strstr(fixture->calls, "send 1; "));
    assert_non_null(strstr(fixture->calls, "send 2; send 3; "));
    engine_after_saved(fixture->engine, 4);
    assert_non_null(strstr(fixture->calls, "send 4; "));
}

/* G4 */
STAND_TEST(requests_of_one_turn__share_a_commit)
{
    struct fixture *fixture = *state;
    for (uint64_t i = 0; i < 40; i++) {
        char job[8];
        (void)snprintf(job, sizeof job, "f%d", (int)i);
        reserve(fixture, i + 1, job);
    }
    turn(fixture);
    assert_int_equal(fixture->gate.commits, 1);
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_int_equal(fixture->answered, 40);
    assert_int_equal(counters_of(fixture).commits, 1);
    assert_int_equal(counters_of(fixture).steps, 40);
}

STAND_TEST(failing_store__refuses_and_recovers)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    gate_finish(&fixture->gate, &fixture->loop, ERROR_FULL);
    assert_non_null(strstr(fixture->calls, "refuse 1 full (the gate says full); "));
    assert_true(counters_of(fixture).storage_failing);
    assert_string_equal(counters_of(fixture).storage_error, "the gate says full");
    assert_int_equal(counters_of(fixture).commit_failures, 1);

    gate_await(&fixture->loop, &fixture->gate.commits, 2);
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_false(counters_of(fixture).storage_failing);
    assert_int_equal(fixture->answered, 1); /* not a second time */
    reserve(fixture, 2, "f1");
    assert_non_null(strstr(fixture->calls, "render 2 same; send 2; "));
}

/* Issue: SIGTERM answers what was accepted. */
STAND_TEST(stop__answers_what_was_accepted)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    engine_stop(fixture->engine, on_stopped, fixture);
    reserve(fixture, 2, "f2"); /* came too late */
    for (int i = 0; i < 5; i++)
        turn(fixture);
    assert_int_equal(fixture->stopped, 0);
    assert_non_null(strstr(fixture->calls, "refuse 2 refused (mcastd is stopping"));
    fixture->gate.automatic = true;
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_non_null(strstr(fixture->calls, "send 1; "));
    gate_await(&fixture->loop, &fixture->stopped, 1);
    engine_after_saved(fixture->engine, 3); /* a client that still looks is answered */
    assert_non_null(strstr(fixture->calls, "send 3; "));
}

STAND_TEST(stop__does_not_wait_for_a_disk_that_fails)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    gate_finish(&fixture->gate, &fixture->loop, ERROR_IO);
    engine_stop(fixture->engine, on_stopped, fixture);
    gate_await(&fixture->loop, &fixture->stopped, 1);
    assert_int_equal(fixture->gate.records, 0);
}

/* B7: the store says that another broker leads. */
STAND_TEST(deposed__is_standby_and_refuses)
{
    struct fixture *fixture = *state;
    reserve(fixture, 1, "f1");
    turn(fixture);
    gate_finish(&fixture->gate, &fixture->loop, ERROR_NOT_LEADER);
    assert_int_equal(counters_of(fixture).role, ROLE_STANDBY);
    assert_non_null(strstr(fixture->calls, "refuse 1 not-leader (the gate says not-leader); "));
    reserve(fixture, 2, "f2");
    assert_non_null(strstr(fixture->calls, "refuse 2 not-leader (this broker does not lead"));
}

/* ---- several brokers (B7) ---- */

static void take_over(struct fixture *fixture)
{
    struct error err = {0};
    fakeetcd.automatic = true;
    fakeetcd_await(&fixture->loop, &fixture->won, 1);
    fakeetcd.automatic = false;
    engine_use_store(fixture->engine, &fixture->gate.store);
    fixture->gate.pages = 2;
    assert_int_equal(engine_start(fixture->engine, &err), 1);
}

#define SEVERAL_TEST(name) UNIT_WITH(name, open_several, close_fixture)

SEVERAL_TEST(start__goes_on_between_turns)
{
    struct fixture *fixture = *state;
    assert_int_equal(counters_of(fixture).role, ROLE_STARTING); /* etcd has not answered */
    reserve(fixture, 1, "f1");
    assert_non_null(strstr(fixture->calls, "refuse 1 not-leader"));
    take_over(fixture);
    assert_int_equal(counters_of(fixture).role, ROLE_STARTING);
    assert_int_equal(counters_of(fixture).leadership->phase, LEADER_LEADING);
    gate_await(&fixture->loop, &fixture->started, 1);
    assert_string_equal(fixture->start_fault, "");
    assert_int_equal(counters_of(fixture).role, ROLE_LEADER);
    fixture->gate.automatic = true;
    reserve(fixture, 2, "f2");
    gate_await(&fixture->loop, &fixture->answered, 2);
    assert_non_null(strstr(fixture->calls, "send 2; "));
}

SEVERAL_TEST(start__of_a_damaged_ledger_is_told)
{
    struct fixture *fixture = *state;
    fixture->gate.damaged = true;
    take_over(fixture);
    gate_await(&fixture->loop, &fixture->started, 1);
    assert_string_equal(fixture->start_fault, "the gate is damaged");
    assert_int_equal(counters_of(fixture).role, ROLE_STARTING);
}

SEVERAL_TEST(start__can_be_stopped_between_turns)
{
    struct fixture *fixture = *state;
    take_over(fixture);
    engine_stop(fixture->engine, on_stopped, fixture);
    gate_await(&fixture->loop, &fixture->stopped, 1);
    assert_int_equal(fixture->started, 0);
}

SEVERAL_TEST(standby__is_reconfigured)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    static struct config other;
    other = fixture->config;
    strcpy(other.core.clusters[0].name, "tuo");
    assert_int_equal(engine_configure(fixture->engine, &other, false, &err), 0);
    assert_string_equal(core_config_of(engine_core(fixture->engine))->clusters[0].name, "tuo");
    take_over(fixture);
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, false, &err),
                     ERROR_REFUSED);
    assert_string_equal(err.text, "the ledger is being loaded: reload again in a moment");
    gate_await(&fixture->loop, &fixture->started, 1);
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, true, &err), 0);
}

/* I10: a commit that ended well is not answered by a broker whose lease has run out. */
SEVERAL_TEST(lost__says_nothing_more)
{
    struct fixture *fixture = *state;
    fakeetcd.ttl_ms = 3000;
    take_over(fixture);
    gate_await(&fixture->loop, &fixture->started, 1);
    if (fixture->gate.batch)
        gate_finish(&fixture->gate, &fixture->loop, 0);
    reserve(fixture, 1, "f1");
    while (!fixture->gate.batch)
        turn(fixture);
    while (leadership_holds(engine_leadership(fixture->engine)))
        ;
    gate_finish(&fixture->gate, &fixture->loop, 0);
    assert_int_equal(fixture->lost, 1);
    assert_int_equal(fixture->answered, 0);
}

/* F3: a held-back VNI comes free by a tick that nobody but the engine's timer brings. */
STAND_TEST(deadline__ticks_the_core)
{
    struct fixture *fixture = *state;
    fixture->gate.automatic = true;
    struct core_event configure = {.kind = CORE_CONFIGURE};
    fixture->config.core.vni_hold_ms = 20;
    configure.u.config = &fixture->config.core;
    engine_step(fixture->engine, &configure);
    reserve(fixture, 1, "f1");
    gate_await(&fixture->loop, &fixture->answered, 1);
    struct core_event release = {
        .kind = CORE_RELEASE, .ticket = 2, .u.release = {.cluster = "elcap", .job = "f1"}};
    engine_step(fixture->engine, &release);
    gate_await(&fixture->loop, &fixture->answered, 2);
    struct core_status status;
    int64_t give_up = engine_now_ms(fixture->engine) + 60000;
    do {
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
        core_status(engine_core(fixture->engine), &status);
        assert_true(engine_now_ms(fixture->engine) < give_up);
    } while (status.vnis_in_quarantine > 0 || status.use.jobs_releasing > 0);
    assert_int_equal(status.vnis_live, 0);
}

/* F5: the core's part of a reload. */
STAND_TEST(configure__reaches_the_core)
{
    struct fixture *fixture = *state;
    struct error err;
    struct core_status status;
    idset_init(&fixture->config.core.vni_pool);
    idset_add(&fixture->config.core.vni_pool, 5000);
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, true, &err), 0);
    core_status(engine_core(fixture->engine), &status);
    assert_int_equal(status.vnis_pool, 1);
}

STAND_TEST(configure__is_refused_whole)
{
    struct fixture *fixture = *state;
    struct error err;
    struct core_status status;
    fixture->config.core.fm_present = true; /* but nowhere */
    idset_init(&fixture->config.core.vni_pool);
    assert_true(engine_configure(fixture->engine, &fixture->config, false, &err) < 0);
    core_status(engine_core(fixture->engine), &status);
    assert_int_equal(status.vnis_pool, 65536 - 1024);

    engine_stop(fixture->engine, on_stopped, fixture);
    fixture->config.core.fm_present = false;
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, false, &err),
                     ERROR_REFUSED);
}

/* From here on the cluster is asked which jobs are active; at once, as after every change. */
static void configure_list(struct fixture *fixture, char *const *argv)
{
    struct error err = {0};
    struct config_cluster *cluster = &fixture->config.clusters[0];
    strcpy(cluster->name, "elcap");
    cluster->list_command = (char **)(uintptr_t)argv;
    cluster->list_timeout_ms = 60000;
    fixture->config.core.clusters[0].jobpoll = true;
    assert_int_equal(engine_configure(fixture->engine, &fixture->config, true, &err), 0);
}

/* F22, and "save before speaking": what is asked may depend on what is not yet on disk. */
STAND_TEST(jobpoll__waits_for_the_disk)
{
    struct fixture *fixture = *state;
    char folder[] = "/var/tmp/mcast-engine.XXXXXX";
    struct core_cluster_status cluster = {0};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(rmdir(folder), 0);
    reserve(fixture, 1, "f1");
    turn(fixture);
    configure_list(fixture, (char *const[]){"/bin/mkdir", folder, NULL});
    for (int i = 0; i < 50; i++)
        turn(fixture);
    assert_int_equal(rmdir(folder), -1); /* it was not run */
    gate_finish(&fixture->gate, &fixture->loop, 0);
    while (cluster.jobpoll_ms == 0 && cluster.jobpoll_failures == 0) {
        turn(fixture);
        assert_true(core_cluster_status(engine_core(fixture->engine), 0, &cluster));
    }
    assert_string_equal(cluster.jobpoll_error, "");
    assert_int_equal(rmdir(folder), 0);
}

static bool has_child(void)
{
    siginfo_t ended;
    return waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Killed, and nothing comes back: the next start asks again. */
STAND_TEST(stop__ends_a_jobpoll)
{
    struct fixture *fixture = *state;
    configure_list(fixture, (char *const[]){"/bin/sleep", "1000", NULL});
    while (!has_child()) /* it waits for the disk */
        turn(fixture);
    engine_stop(fixture->engine, on_stopped, fixture);
    uint64_t steps = counters_of(fixture).steps;
    gate_await(&fixture->loop, &fixture->stopped, 1);
    assert_int_equal(counters_of(fixture).steps, steps);
    int status;
    errno = 0;
    pid_t pid = waitpid(-1, &status, 0); /* if it was dead at once, the engine has done that */
    assert_true(pid > 0 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : errno == ECHILD);
}

enum { SPIN_MS = 30 };

static void spin(uv_async_t *async)
{
    uint64_t end = uv_hrtime() + SPIN_MS * UINT64_C(1000000);
    while (uv_hrtime() < end)
        continue;
    uv_close((uv_handle_t *)async, NULL);
}

/* The loop was away for as long as one callback of a descriptor took. */
STAND_TEST(absence__sees_callbacks_of_descriptors)
{
    struct fixture *fixture = *state;
    uv_async_t async;
    turn(fixture);
    assert_int_equal(uv_async_init(&fixture->loop, &async, spin), 0);
    assert_int_equal(uv_async_send(&async), 0);
    while (uv_is_active((uv_handle_t *)&async))
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    turn(fixture); /* the measure is taken before the next wait */
    turn(fixture);
    assert_true(counters_of(fixture).loop_stall_us_peak >= SPIN_MS * 1000);
}

static void on_alarm(uv_signal_t *signal, int signum)
{
    struct fixture *fixture = signal->data;
    engine_turn(fixture->engine)->interrupted = true;
    uv_close((uv_handle_t *)signal, NULL);
}

/* libuv forgets how long it waited when a signal ends the wait. */
STAND_TEST(absence__does_not_count_a_wait_that_a_signal_ends)
{
    struct fixture *fixture = *state;
    const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    uv_signal_t signal = {.data = fixture};
    turn(fixture);
    turn(fixture);
    assert_int_equal(uv_signal_init(&fixture->loop, &signal), 0);
    assert_int_equal(uv_signal_start(&signal, on_alarm, SIGALRM), 0);
    uint64_t turns = 0;
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    while (!uv_is_closing((uv_handle_t *)&signal)) {
        turns = counters_of(fixture).loop_stall->count;
        (void)uv_run(&fixture->loop, UV_RUN_ONCE);
    }
    uint64_t before = counters_of(fixture).loop_stall->count;
    turn(fixture); /* would measure the turn of the signal */
    assert_int_equal(counters_of(fixture).loop_stall->count, before);
    turn(fixture);
    assert_int_equal(counters_of(fixture).loop_stall->count, before + 1);
    assert_true(before >= turns);
}

STAND_TEST(never_started__stops_at_once)
{
    struct fixture *fixture = *state;
    struct gate other;
    gate_init(&other, false);
    struct engine_options options = {
        .loop = &fixture->loop, .config = &fixture->config, .store = &other.store};
    struct engine *engine = engine_create(&options);
    unsigned before = fixture->stopped;
    engine_stop(engine, on_stopped, fixture);
    assert_int_equal(fixture->stopped, before + 1);
    fixture->stopped = before;
    engine_destroy(engine);
    assert_true(other.closed);
    gate_release(&other);
}

UNIT_RUN(NULL, NULL)
