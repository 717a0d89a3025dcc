#include "hook/viafabric.h"

#include "base/steppath.h"
#include "fmapi/wire/baseurl.h"
#include "fmapi/wire/decode.h"
#include "fmapi/wire/exchange.h"
#include "fmapi/wire/jobsteps.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* The calls to one fabric manager, over one connection. */
struct line {
    const struct surroundings *surroundings;
    const struct deadline *deadline;
    char *base; /* of all URLs */
    struct transport_options options;
    struct credential *credential;
    CURLSH *share;
    bool trees_only; /* the token does not open a step as a whole */
    struct error *err;
};

static enum outcome judge(struct line *line, enum fmcall_outcome outcome, const char *words)
{
    if (outcome == FM_OK || outcome == FM_GONE)
        return OUTCOME_DONE;
    (void)error_set(line->err, ERROR_REFUSED, "the fabric manager: %.280s", words);
    return outcome == FM_REFUSED || outcome == FM_DENIED ? OUTCOME_REFUSED : OUTCOME_ABSENT;
}

/* One call; decoded must be released. */
static enum outcome ask(struct line *line, enum fmcall_kind kind, const char *step, unsigned tree,
                        struct decoded *decoded)
{
    const struct surroundings *s = line->surroundings;
    struct secrets secrets = {0};
    struct request request;
    *decoded = (struct decoded){0};
    if (request_step(&request, line->base, kind, s->job, step, tree) < 0)
        return judge(line, FM_UNREACHED, "memory is exhausted");
    struct exchange *exchange = exchange_create(&line->options, line->share, &request,
                                                line->credential, deadline_left(line->deadline));
    enum outcome outcome = OUTCOME_ABSENT;
    if (exchange) {
        const struct transport_answer answer = exchange_perform(exchange);
        credential_add_secrets(line->credential, &secrets);
        if (answer.end == TRANSPORT_ANSWERED) {
            decode_call(decoded, kind, true, answer.status, answer.body, answer.length, &secrets);
            outcome = judge(line, decoded->outcome, decoded->words);
        } else {
            outcome = judge(line, FM_UNREACHED, answer.words);
        }
    } else {
        outcome = judge(line, FM_UNREACHED, "memory is exhausted");
    }
    exchange_destroy(exchange);
    request_release(&request);
    return outcome;
}

/* One whose answer says no more than whether it was done. */
static enum outcome tell(struct line *line, enum fmcall_kind kind, const char *step, unsigned tree)
{
    struct decoded decoded;
    enum outcome outcome = ask(line, kind, step, tree, &decoded);
    decoded_release(&decoded);
    return outcome;
}

static enum outcome end_step(struct line *line, const char *step)
{
    enum outcome outcome = OUTCOME_REFUSED;
    if (!line->trees_only)
        outcome = tell(line, FMCALL_END_STEP, step, 0);
    line->trees_only |= outcome == OUTCOME_REFUSED;
    return outcome;
}

/* As a whole, or tree by tree where the token does not open more. */
static enum outcome end_listed(struct line *line, const struct fmcall_step *listed)
{
    enum outcome worst = end_step(line, listed->step);
    if (worst != OUTCOME_REFUSED)
        return worst;
    worst = OUTCOME_DONE;
    for (size_t i = 0; i < listed->tree_count && worst < OUTCOME_LATER; i++) {
        enum outcome outcome = tell(line, FMCALL_END_TREE, NULL, listed->trees[i]);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

static enum outcome end_all_listed(struct line *line, bool below, const struct fmcall_steps *steps)
{
    const char *scope = line->surroundings->step;
    enum outcome worst = OUTCOME_DONE;
    for (size_t i = 0; steps && i < steps->count && worst < OUTCOME_LATER; i++) {
        const struct fmcall_step *listed = &steps->steps[i];
        if (below ? !steppath_within(listed->step, scope) : strcmp(listed->step, scope) != 0)
            continue;
        enum outcome outcome = end_listed(line, listed);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

/* What the token lets us see decides how far we get. */
static enum outcome look(struct line *line, bool below)
{
    const char *scope = line->surroundings->step;
    struct decoded decoded;
    enum outcome outcome = ask(line, FMCALL_STEPS, NULL, 0, &decoded);
    if (outcome == OUTCOME_DONE) {
        outcome = end_all_listed(line, below, jobsteps_list(decoded.steps));
    } else if (outcome == OUTCOME_REFUSED && below) {
        outcome = end_step(line, scope);
        if (outcome == OUTCOME_DONE) {
            (void)error_set(line->err, ERROR_REFUSED,
                            "the fabric manager does not show this token which steps are below; "
                            "only the step itself is cleaned up");
            outcome = OUTCOME_REFUSED;
        }
    }
    decoded_release(&decoded);
    return outcome;
}

enum outcome viafabric_clean(const struct surroundings *s, bool below,
                             const struct deadline *deadline, struct error *err)
{
    enum outcome outcome = OUTCOME_REFUSED;
    struct line line = {
        .surroundings = s,
        .deadline = deadline,
        .options = {.verify = s->verify, .bare = true, .parallel = 1},
        .credential = credential_session(s->session_token),
        .share = curl_share_init(),
        .err = err,
    };
    line.base = baseurl_of_trees(s->trees_url, err);
    if (!line.base)
        goto done;
    exchange_ca(&line.options, s->cacert);
    if (line.share) /* without it each call has a connection of its own */
        (void)curl_share_setopt(line.share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
    if (!below)
        outcome = end_step(&line, s->step);
    if (outcome == OUTCOME_REFUSED)
        outcome = look(&line, below);
done:
    (void)curl_share_cleanup(line.share);
    credential_drop(line.credential);
    free(line.base);
    return outcome;
}
