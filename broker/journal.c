#include "broker/journal.h"

#include "broker/log/log.h"
#include "broker/turn.h"
#include "broker/unsaved.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE_WORDS = 512 }; /* kept for the next answers and events */

struct words {
    struct word *first, **end;
};

/* Records, and the words that wait for them. */
struct pack {
    struct batch *batch; /* NULL: no records */
    size_t records;
    struct unsaved about; /* the reservations that they are about */
    struct words words;
};

struct journal {
    struct store *store;
    struct journal_mouth mouth;
    struct pack gathering;
    struct pack writing[2]; /* the older first: being committed, or failed and to be tried again */
    struct words ready;
    struct words spare; /* without a name: what each request needs two of costs no new memory */
    unsigned spare_count;
    unsigned under_way; /* of these the store has so many */
    bool offered;       /* it may take what is gathering, too */
    bool saying;        /* journal_flush is at work further up the stack */
    bool deposed;       /* ERROR_NOT_LEADER was seen */
    uint64_t failed;    /* attempts in a row */
    struct journal_counters counters;
    uv_poll_t poll;
    uv_timer_t retry;
    unsigned open_handles;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void words_init(struct words *words)
{
    words->first = NULL;
    words->end = &words->first;
}

static void words_push(struct words *words, struct word *word)
{
    word->next = NULL;
    *words->end = word;
    words->end = &word->next;
}

static struct word *words_pop(struct words *words)
{
    struct word *word = words->first;
    if (word != NULL) {
        words->first = word->next;
        if (words->first == NULL)
            words->end = &words->first;
    }
    return word;
}

/* Moves all words of `from` behind those of `to`. */
static void words_move(struct words *to, struct words *from)
{
    if (from->first == NULL)
        return;
    *to->end = from->first;
    to->end = from->end;
    words_init(from);
}

static bool has_name(const struct word *word)
{
    return word->kind == WORD_CALL || word->kind == WORD_ROLLCALL;
}

static void word_destroy(struct word *word)
{
    if (word->kind == WORD_CALL && !secret_none(word->u.call.token)) {
        char *token = (char *)(uintptr_t)secret_expose(word->u.call.token);
        explicit_bzero(token, strlen(token));
    }
    free(word);
}

static void words_release(struct words *words)
{
    for (struct word *word; (word = words_pop(words)) != NULL;)
        word_destroy(word);
}

struct word *journal_word(struct journal *journal, enum word_kind kind, const char *name)
{
    size_t size = name != NULL ? strlen(name) + 1 : 1;
    struct word *word = name != NULL ? NULL : words_pop(&journal->spare);
    if (word != NULL) {
        journal->spare_count--;
        memset(word, 0, sizeof *word + size);
    } else {
        word = memory_zeroed(sizeof *word + size);
    }
    word->kind = kind;
    if (name != NULL)
        memcpy(word->name, name, size);
    return word;
}

/* It has been said, or never will be. */
static void give_back(struct journal *journal, struct word *word)
{
    if (has_name(word) || journal->spare_count == SPARE_WORDS) {
        word_destroy(word);
        return;
    }
    words_push(&journal->spare, word);
    journal->spare_count++;
}

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

struct word *journal_word_call(const struct effect *effect)
{
    const char *token = secret_expose(effect->u.call.token);
    size_t name_size = text_size(effect->u.call.name), step_size = text_size(effect->u.call.step),
           token_size = text_size(token);
    struct word *word = memory_zeroed(sizeof *word + name_size + step_size + token_size);
    word->kind = WORD_CALL;
    word->u.call.id = effect->u.call.id;
    word->u.call.kind = effect->u.call.kind;
    word->u.call.addresses = effect->u.call.addresses;
    word->u.call.tree = effect->u.call.tree;
    memcpy(word->name, effect->u.call.name, name_size);
    if (step_size > 0)
        word->u.call.step = memcpy(word->name + name_size, effect->u.call.step, step_size);
    if (token_size > 0)
        word->u.call.token =
            secret_of(memcpy(word->name + name_size + step_size, token, token_size));
    return word;
}

/* Answers among the words are not kept waiting for the disk: they become ready with the failure.
 * The others stay, in order, or are dropped when nothing will ever be saved again. */
static void refuse(struct journal *journal, struct words *words, int code)
{
    struct words all = {.first = NULL};
    words_init(&all);
    words_move(&all, words);
    for (struct word *word; (word = words_pop(&all)) != NULL;) {
        if (word->kind == WORD_ANSWER) {
            word->code = code;
            words_push(&journal->ready, word);
        } else if (code == ERROR_NOT_LEADER) {
            give_back(journal, word);
        } else {
            words_push(words, word);
        }
    }
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed);

/* to is empty, and then from is. */
static void pack_move(struct pack *to, struct pack *from)
{
    to->batch = from->batch;
    to->records = from->records;
    from->batch = NULL;
    from->records = 0;
    struct unsaved empty = to->about; /* its room is used again */
    to->about = from->about;
    from->about = empty;
    words_move(&to->words, &from->words);
}

static void commit(struct journal *journal)
{
    journal->under_way = 1;
    store_commit(journal->store, journal->writing[0].batch, on_done, journal);
}

static void begin(struct journal *journal)
{
    if (journal->writing[0].batch != NULL || journal->gathering.batch == NULL)
        return;
    pack_move(&journal->writing[0], &journal->gathering);
    commit(journal);
}

/* The store may go on with what has gathered by itself, until there is more to gather. */
static void offer(struct journal *journal)
{
    if (journal->under_way == 1 && journal->gathering.batch != NULL && !journal->offered)
        journal->offered = store_offer(journal->store, journal->gathering.batch, on_done, journal);
}

static void withdraw(struct journal *journal)
{
    if (!journal->offered)
        return;
    journal->offered = false;
    if (store_withdraw(journal->store) != NULL)
        return;
    pack_move(&journal->writing[1], &journal->gathering);
    journal->under_way++;
}

static void count_commit(struct journal_counters *counters, const struct commit_result *result,
                         size_t records)
{
    counters->commits++;
    counters->records += records;
    histogram_add(&counters->times, result->took_us);
    histogram_add(&counters->sizes, (int64_t)records);
}

static void succeeded(struct journal *journal, const struct commit_result *result)
{
    if (journal->counters.failing)
        log_line(LOG_NOTICE, "saving works again, after %llu failed attempts records=%zu",
                 (unsigned long long)journal->failed, journal->writing[0].records);
    journal->failed = 0;
    journal->counters.failing = false;
    journal->counters.error = (struct error){0};
    struct pack *written = &journal->writing[0];
    count_commit(&journal->counters, result, written->records);

    struct words durable;
    words_init(&durable);
    words_move(&durable, &written->words);
    written->batch = NULL;
    written->records = 0;
    unsaved_clear(&written->about);
    pack_move(written, &journal->writing[1]);
    begin(journal); /* the disk works on the next batch while this one's words go out */
    words_move(&journal->ready, &durable);
}

static void on_retry(uv_timer_t *timer)
{
    struct journal *journal = timer->data;
    commit(journal);
}

static void stuck(struct journal *journal, const struct error *error, struct batch *batch)
{
    struct journal_counters *counters = &journal->counters;
    counters->commit_failures++;
    if (!counters->failing || strcmp(counters->error.text, error->text) != 0)
        log_line(LOG_ERR,
                 "cannot save: %s; requests are refused until it works, trying again every second",
                 error->text);
    counters->failing = true;
    counters->error = *error;
    journal->failed++;
    journal->writing[0].batch = batch;
    refuse(journal, &journal->writing[0].words, error->code);
    refuse(journal, &journal->gathering.words, error->code);
    (void)uv_timer_start(&journal->retry, on_retry, JOURNAL_RETRY_MS, 0);
}

static void depose(struct journal *journal, const struct error *error, struct batch *batch)
{
    journal->deposed = true;
    journal->counters.error = *error;
    batch_destroy(batch);
    if (journal->gathering.batch != NULL)
        batch_destroy(journal->gathering.batch);
    journal->writing[0].batch = journal->gathering.batch = NULL;
    journal->writing[0].records = journal->gathering.records = 0;
    refuse(journal, &journal->writing[0].words, ERROR_NOT_LEADER);
    refuse(journal, &journal->gathering.words, ERROR_NOT_LEADER);
    journal->mouth.deposed(journal->mouth.arg);
}

static void on_done(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct journal *journal = arg;
    withdraw(journal);
    journal->under_way--;
    if (result->code == 0) {
        succeeded(journal, result);
    } else {
        struct error error = result->error;
        error.code = result->code;
        if (result->code == ERROR_NOT_LEADER)
            depose(journal, &error, failed);
        else
            stuck(journal, &error, failed);
    }
    journal_flush(journal);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct journal *journal = poll->data;
    (void)events;
    if (status < 0)
        log_line(LOG_ERR, "waiting for the store failed: %s", uv_strerror(status));
    struct turn *turn = journal->mouth.turn;
    const char *before = turn != NULL ? turn_enter(turn, "saying what is saved") : NULL;
    store_dispatch(journal->store);
    if (turn != NULL)
        turn_leave(turn, before);
}

struct journal *journal_create(uv_loop_t *loop, struct store *store,
                               const struct journal_mouth *mouth, struct error *err)
{
    struct journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) {
        (void)error_set(err, ERROR_NOMEM, "memory is exhausted");
        return NULL;
    }
    journal->store = store;
    journal->mouth = *mouth;
    journal->counters.sizes.scale = HISTOGRAM_SIZES;
    words_init(&journal->gathering.words);
    words_init(&journal->writing[0].words);
    words_init(&journal->writing[1].words);
    words_init(&journal->ready);
    words_init(&journal->spare);

    int rc = uv_poll_init(loop, &journal->poll, store_fd(store));
    if (rc < 0) {
        (void)error_set(err, ERROR_IO, "cannot watch the store: %s", uv_strerror(rc));
        free(journal);
        return NULL;
    }
    (void)uv_timer_init(loop, &journal->retry);
    journal->open_handles = 2;
    journal->poll.data = journal->retry.data = journal;
    (void)uv_poll_start(&journal->poll, UV_READABLE, on_readable);
    return journal;
}

/* The core has changed its state already, so the record must be kept or the process must end: the
 * same choice as in base/memory.h. */
static _Noreturn void exhausted(void)
{
    log_line(LOG_ERR, "memory is exhausted: stopping; what was acknowledged is on disk");
    abort();
}

void journal_save(struct journal *journal, const struct record *record)
{
    if (journal->deposed)
        return;
    withdraw(journal);
    struct pack *pack = &journal->gathering;
    if (pack->batch == NULL && (pack->batch = batch_create(journal->store)) == NULL)
        exhausted();
    if (batch_add(pack->batch, record) < 0)
        exhausted();
    pack->records = batch_size(pack->batch);
    if (record->kind == RECORD_RESERVATION)
        unsaved_add(&pack->about, record->u.reservation.number);
    if (record->kind == RECORD_GONE)
        unsaved_add(&pack->about, record->u.gone);
    if (record->kind == RECORD_NODE) /* shown with the reservation */
        unsaved_add(&pack->about, record->u.node.number);
}

/* Whose records came last; of no records when there are none. */
static struct pack *last_pack(struct journal *journal)
{
    if (journal->gathering.batch != NULL)
        return &journal->gathering;
    return &journal->writing[journal->writing[1].batch != NULL];
}

void journal_say(struct journal *journal, struct word *word)
{
    struct pack *last = last_pack(journal);
    if (journal->deposed && word->kind != WORD_ANSWER) {
        give_back(journal, word);
    } else if (last->batch == NULL) {
        word->code = journal->deposed ? ERROR_NOT_LEADER : 0;
        words_push(&journal->ready, word);
    } else if (journal->counters.failing && word->kind == WORD_ANSWER) {
        word->code = journal->counters.error.code;
        words_push(&journal->ready, word);
    } else {
        words_push(&last->words, word);
    }
}

void journal_flush(struct journal *journal)
{
    if (journal->saying || journal->ready.first == NULL)
        return;
    journal->saying = true;
    while (journal->ready.first != NULL) {
        for (struct word *word; (word = words_pop(&journal->ready)) != NULL;) {
            journal->mouth.say(journal->mouth.arg, word);
            give_back(journal, word);
        }
        journal->mouth.breath(journal->mouth.arg);
    }
    journal->saying = false;
}

void journal_turn(struct journal *journal)
{
    begin(journal);
    offer(journal);
}

bool journal_about(const struct journal *journal, uint64_t number)
{
    return unsaved_has(&journal->writing[0].about, number) ||
           unsaved_has(&journal->writing[1].about, number) ||
           unsaved_has(&journal->gathering.about, number);
}

bool journal_clean(const struct journal *journal)
{
    return journal->gathering.batch == NULL && journal->writing[0].batch == NULL &&
           journal->ready.first == NULL && !journal->saying;
}

const struct journal_counters *journal_counters(const struct journal *journal)
{
    return &journal->counters;
}

uint32_t journal_unsaved(const struct journal *journal)
{
    return (uint32_t)(journal->gathering.records + journal->writing[0].records +
                      journal->writing[1].records);
}

static void on_closed(uv_handle_t *handle)
{
    struct journal *journal = handle->data;
    if (--journal->open_handles != 0)
        return;
    void (*closed)(void *) = journal->closed;
    void *arg = journal->closed_arg;
    free(journal);
    closed(arg);
}

/* But for its batch, which may be the store's. */
static void pack_release(struct pack *pack)
{
    words_release(&pack->words);
    unsaved_release(&pack->about);
}

void journal_destroy(struct journal *journal, void (*closed)(void *arg), void *arg)
{
    withdraw(journal);
    if (journal->under_way == 0)
        batch_destroy(journal->writing[0].batch);
    batch_destroy(journal->gathering.batch);
    pack_release(&journal->gathering);
    pack_release(&journal->writing[0]);
    pack_release(&journal->writing[1]);
    words_release(&journal->ready);
    words_release(&journal->spare);
    journal->closed = closed;
    journal->closed_arg = arg;
    uv_close((uv_handle_t *)&journal->poll, on_closed);
    uv_close((uv_handle_t *)&journal->retry, on_closed);
}
