#include "client/carrier.h"
#include "client/fault.h"
#include "client/problem.h"

#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 2 };

/* A request that has no answer yet. */
struct ask {
    uint64_t number;
    struct errand errand;
    struct call call;
    struct answer answer;
    struct flight flight;
    struct alarm alarm; /* set while it waits for a connection */
    struct ask *before, *after;
    mcast_done_fn *done;
    void *arg;
    int64_t deadline_ms;
    unsigned given_ms; /* how long that was at first */
    int broken;        /* how often its connection broke */
};

int carrier_init(struct carrier *carrier, struct mcast_error *error)
{
    carrier->width = 1;
    return reactor_create(&carrier->reactor, &carrier->peer.endpoint, error);
}

/* ---- those that wait ---- */

static void enqueue(struct carrier *carrier, struct ask *ask, bool in_front)
{
    ask->before = in_front ? NULL : carrier->last;
    ask->after = in_front ? carrier->first : NULL;
    *(ask->before ? &ask->before->after : &carrier->first) = ask;
    *(ask->after ? &ask->after->before : &carrier->last) = ask;
    alarms_set(&carrier->alarms, &ask->alarm, ask->deadline_ms);
}

static void dequeue(struct carrier *carrier, struct ask *ask)
{
    *(ask->before ? &ask->before->after : &carrier->first) = ask->after;
    *(ask->after ? &ask->after->before : &carrier->last) = ask->before;
    alarms_unset(&carrier->alarms, &ask->alarm);
}

/* When the descriptor has to be readable for something that the way knows nothing of. */
static void schedule(struct carrier *carrier)
{
    const struct alarm *first = alarms_first(&carrier->alarms);
    int64_t due = first ? first->due_ms : INT64_MAX;
    if (carrier->first && carrier->under_way < carrier->width && carrier->resume_ms < due)
        due = carrier->resume_ms;
    reactor_set_alarm(carrier->reactor, due);
}

/* ---- the end of one ---- */

static void destroy(struct ask *ask)
{
    text_release(&ask->answer.body);
    errand_release(&ask->errand);
    free(ask);
}

/* The ask is neither waiting nor under way any more. */
static void finish(struct carrier *carrier, struct ask *ask, const struct mcast_error *error,
                   struct result *result)
{
    const struct mcast_outcome outcome = {
        .code = error->code,
        .error = error,
        .reservation = result->reservation,
        .steps = result->steps,
        .sync = result->sync,
        .env = result->env,
        .env_count = result->env_count,
        .json = result->json,
        .releasing = result->releasing,
        .gone = result->gone,
    };
    asks_remove(&carrier->asks, ask->number);
    ask->done(&outcome, ask->arg);
    result_release(result);
    destroy(ask);
}

static void fail(struct carrier *carrier, struct ask *ask, const struct mcast_error *error)
{
    struct result nothing = {0};
    finish(carrier, ask, error, &nothing);
}

/* The time is over before there was a connection for it, or a second one. */
static void expire(struct carrier *carrier, struct ask *ask)
{
    struct mcast_error error = carrier->refusal;
    dequeue(carrier, ask);
    if (error.code == 0)
        fault_set_word(&error, MCAST_UNREACHABLE, "timeout",
                       "mcastd at %s was not asked within %u ms, because others that were sent "
                       "before have no answer yet; asking again does no harm",
                       endpoint_name(&carrier->peer.endpoint), ask->given_ms);
    fail(carrier, ask, &error);
}

/* ---- under way ---- */

static void ground(struct carrier *carrier, struct ask *ask)
{
    flight_release(&ask->flight);
    carrier->under_way--;
}

static void launch(struct carrier *carrier, struct ask *ask, int64_t now)
{
    struct flight *flight = &ask->flight;
    struct mcast_error error = {0};
    int64_t left = ask->deadline_ms - now;
    dequeue(carrier, ask);
    carrier->under_way++;
    flight->limit_ms = left > 1 ? left : 1;
    int rc = flight_prepare(flight, &error);
    if (rc == 0 && !reactor_add(carrier->reactor, flight))
        rc = fault_nomem(&error);
    if (rc < 0) {
        ground(carrier, ask);
        fail(carrier, ask, &error);
    }
}

/* One round of knocking has failed: the next one is later, and a single one. */
static void pause_all(struct carrier *carrier, unsigned after_ms, int64_t now)
{
    carrier->width = 1;
    if (now >= carrier->resume_ms) /* else it is another of the same round */
        carrier->resume_ms = now + pauses_next(&carrier->pauses, after_ms);
}

/* Whether it goes back to those that wait. A connection that broke is made anew at once, as the
 * other form does: the broker may have closed a kept one. */
static bool ask_again(struct carrier *carrier, struct ask *ask, bool broken,
                      const struct mcast_error *error, int64_t now)
{
    if (now >= ask->deadline_ms || carrier->ending)
        return false;
    ask->flight.fresh = broken;
    ask->broken += broken;
    if (broken && ask->broken < ATTEMPTS)
        return true;
    unsigned after_ms;
    if (!carrier->patient || !mcast_later(error, &after_ms))
        return false;
    pause_all(carrier, after_ms, now);
    return true;
}

static int judge(struct carrier *carrier, struct ask *ask, struct mcast_error *error)
{
    static const char why[] = "requests without waiting carry no MUNGE credential: set a client "
                              "certificate and its key (MCAST_CERT and MCAST_KEY)";
    const struct flight_peer *peer = &carrier->peer;
    bool shown = peer->endpoint.socket[0] || peer->credentials.cert || ask->errand.borne;
    return problem_judge(&ask->answer, endpoint_name(&peer->endpoint), shown ? "" : why, error);
}

/* What one is told all others would be; that its own time is over is its own affair. */
static bool is_told_to_all(const struct mcast_error *error)
{
    return mcast_later(error, NULL) && strcmp(error->word, "timeout") != 0;
}

/* One has come to its end, well or not. */
static void land(struct carrier *carrier, struct ask *ask)
{
    struct mcast_error error = {0};
    struct result result = {0};
    int64_t now = reactor_now_ms();
    int rc = flight_conclude(&ask->flight, &error);
    bool answered = rc == 0;
    ground(carrier, ask);
    if (answered)
        rc = judge(carrier, ask, &error);
    bool refused = rc < 0 && is_told_to_all(&error);
    if (refused)
        carrier->refusal = error;
    if (rc < 0 && ask_again(carrier, ask, trouble_broken(&ask->flight.trouble), &error, now)) {
        enqueue(carrier, ask, true);
        return;
    }
    if (refused) {
        carrier->width = 1;
    } else if (answered) {
        carrier->refusal.code = 0;
        carrier->width = carrier->connections;
        pauses_end(&carrier->pauses);
    }
    if (rc == 0 && ask->errand.read(&ask->answer, &result, &error) < 0)
        result_release(&result);
    finish(carrier, ask, &error, &result);
}

/* ---- from outside ---- */

int carrier_take(struct carrier *carrier, struct errand *errand, mcast_done_fn *done, void *arg,
                 uint64_t *number, struct mcast_error *error)
{
    struct ask *ask = carrier->ending ? NULL : calloc(1, sizeof(*ask));
    if (!ask || !alarms_reserve(&carrier->alarms, carrier->asks.count + 2) ||
        (ask->number = asks_add(&carrier->asks, ask)) == 0) {
        free(ask);
        errand_release(errand);
        return carrier->ending ? fault_set(error, MCAST_STOPPED, "the handle is being closed")
                               : fault_nomem(error);
    }
    ask->errand = *errand;
    ask->call = errand_call(&ask->errand, carrier->token);
    ask->done = done;
    ask->arg = arg;
    ask->flight = (struct flight){
        .peer = &carrier->peer,
        .call = &ask->call,
        .answer = &ask->answer,
        .reached = &carrier->reached,
        .owner = ask,
    };
    ask->alarm.owner = ask;
    ask->given_ms = carrier->timeout_ms + errand->wait_ms;
    ask->deadline_ms = reactor_now_ms() + ask->given_ms;
    enqueue(carrier, ask, false);
    schedule(carrier);
    if (number)
        *number = ask->number;
    return 0;
}

/* There is a connection again. Whether the broker that is there serves anybody, its next answer
 * tells; one that could not before is asked by one alone until then. */
static void take_reach(struct carrier *carrier)
{
    if (carrier->refusal.code == MCAST_REFUSED)
        return;
    carrier->refusal.code = 0;
    carrier->width = carrier->connections;
}

static void expire_all(struct carrier *carrier)
{
    int64_t now = reactor_now_ms();
    struct alarm *due;
    while (!carrier->ending && (due = alarms_first(&carrier->alarms)) && due->due_ms <= now)
        expire(carrier, due->owner);
}

/* Those that cannot be sent are answered at once, and may be asked anew by whoever hears that: no
 * more of them at a time than there are connections. */
static void launch_all(struct carrier *carrier)
{
    int64_t now = reactor_now_ms();
    for (unsigned i = 0; i < carrier->connections && !carrier->ending && carrier->first &&
                         carrier->under_way < carrier->width && carrier->resume_ms <= now;
         i++)
        launch(carrier, carrier->first, now);
}

/* What waits is launched first, so that the same turn of the reactor sends it: each turn is one of
 * the program's loop, which may have others to serve in between. */
void carrier_turn(struct carrier *carrier)
{
    struct flight *flight;
    expire_all(carrier);
    launch_all(carrier);
    reactor_turn(carrier->reactor);
    if (carrier->reached != carrier->reached_known) {
        carrier->reached_known = carrier->reached;
        take_reach(carrier);
    }
    while (!carrier->ending && (flight = reactor_landed(carrier->reactor)))
        land(carrier, flight->owner);
    launch_all(carrier);
    schedule(carrier);
}

static void stop(struct carrier *carrier, struct ask *ask)
{
    struct mcast_error error = {0};
    fault_set(&error, MCAST_STOPPED, "the program asked libmcast to stop");
    if (ask->flight.aloft) {
        reactor_remove(carrier->reactor, &ask->flight);
        ground(carrier, ask);
    } else {
        dequeue(carrier, ask);
    }
    fail(carrier, ask, &error);
}

bool carrier_cancel(struct carrier *carrier, uint64_t number)
{
    struct ask *ask = asks_find(&carrier->asks, number);
    if (!ask)
        return false;
    stop(carrier, ask);
    schedule(carrier);
    return true;
}

void carrier_release(struct carrier *carrier)
{
    struct ask *ask;
    size_t from = 0;
    carrier->ending = true;
    while ((ask = asks_next(&carrier->asks, &from)))
        stop(carrier, ask);
    reactor_destroy(carrier->reactor);
    asks_release(&carrier->asks);
    alarms_release(&carrier->alarms);
    credentials_release(&carrier->peer.credentials);
    secret_wipe(&carrier->token);
}
