/* SPDX-License-Identifier: Apache-2.0 */
/* The client's reading of pages (mcast_list), of those for a node, too, and of a sync's answer
 * (mcast_sync): each line is the body of one answer. What would ask the broker is replaced. */

#include "client/text.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { PAGES_MAX = 16 };

static struct fuzz_input *answers;
static int pages;

/* Nothing here passes answers on unread (mcast_get). */
int handle_ask(struct mcast *handle, const struct call *call, bool retry, void **document,
               struct mcast_error *error)
{
    (void)handle, (void)call, (void)retry, (void)document, (void)error;
    abort();
}

int async_begin(struct mcast_async *async, struct call call, mcast_done_fn *done, void *arg,
                uint64_t *request, struct mcast_error *error)
{
    (void)async, (void)call, (void)done, (void)arg, (void)request, (void)error;
    abort();
}

/* In place of handle.c's. */
int handle_run(struct mcast *handle, struct call call, void *out, struct mcast_error *error)
{
    struct answer answer = {.status = 200};
    void *document = NULL;
    int rc = call.rc;
    FUZZ_CHECK(rc < 0 || strncmp(call.path, "/v1/", 4) == 0);
    if (rc == 0 && (answers->left == 0 || pages++ == PAGES_MAX))
        rc = fault_set(error, MCAST_UNREACHABLE, "no more answers");
    if (rc == 0) {
        char *body = fuzz_line(answers);
        bool kept = text_add(&answer.body, body, strlen(body));
        free(body);
        rc = kept ? call.read(&answer, &document, error) : fault_nomem(error);
    }
    if (rc == 0)
        memcpy(out, &document, sizeof document);
    else
        document_free(document);
    text_release(&answer.body);
    call_release(&call);
    return rc;
}

/* Of calls that are not made here. */
int handle_run_json(struct mcast *handle, struct call call, char **json, struct mcast_error *error)
{
    abort();
}

int handle_run_number(struct mcast *handle, struct call call, const char *name, uint64_t *number,
                      struct mcast_error *error)
{
    abort();
}

int handle_run_word(struct mcast *handle, struct call call, const char *name, const char *word,
                    bool *is, struct mcast_error *error)
{
    abort();
}

static int on_reservation(const struct mcast_reservation *reservation, void *data)
{
    size_t *shown = data;
    FUZZ_CHECK(reservation->cluster && reservation->job && reservation->state);
    ++*shown;
    return 0;
}

static void check_list(const char *node)
{
    uint64_t hidden = UINT64_MAX;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct mcast_error error = {0};
    size_t shown = 0;
    filter.limit = 3;
    filter.node = node;
    filter.hidden = &hidden;
    int rc = mcast_list(NULL, &filter, on_reservation, &shown, &error);
    FUZZ_CHECK(hidden <= (node ? PAGES_MAX * (uint64_t)UINT32_MAX : 0));
    FUZZ_CHECK(shown <= 3 && (rc == 0 || (rc == error.code && error.text[0] != '\0')));
}

static void check_sync(void)
{
    static const char *const jobs[] = {"f1", "f2"};
    struct mcast_sync_result *result = NULL;
    struct mcast_error error = {0};
    int rc = mcast_sync(NULL, "elcap", jobs, 2, &result, &error);
    FUZZ_CHECK((rc == 0) == (result != NULL) && (rc == 0 || error.text[0] != '\0'));
    if (!result)
        return;
    char *text = mcast_sync_result_json(result, 0);
    FUZZ_CHECK(text && result->suspect && result->released && result->unknown);
    free(text);
    mcast_sync_result_free(result);
}

void fuzz_one(struct fuzz_input *in)
{
    answers = in;
    pages = 0;
    uint8_t what = fuzz_byte(in);
    if (what == 's')
        check_sync();
    else
        check_list(what == 'n' ? "n1" : NULL);
}
