/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/bearer.h"

#include "base/base64url.h"
#include "base/hex.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "mcast1.";

enum {
    PREFIX_LENGTH = sizeof prefix - 1,
    CAVEAT_HEAD_SIZE = 3,
    NUMBER_SIZE = 8,
    EXPIRES_SIZE = 8,
    OPERATIONS_SIZE = 1,
};

_Static_assert(PREFIX_LENGTH + BASE64URL_LENGTH(BEARER_BYTES_MAX) <= BEARER_TEXT_MAX &&
                   PREFIX_LENGTH + BASE64URL_LENGTH(BEARER_BYTES_MAX + 1) > BEARER_TEXT_MAX,
               "as many bytes as fit into the text");

void bearer_wipe(struct bearer *bearer)
{
    explicit_bzero(bearer, sizeof *bearer);
}

static uint64_t read_number(const unsigned char *bytes)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    return be64toh(number);
}

/* -- the effect of caveats -- */

static void restrict_steps(struct bearer_scope *scope, const char *steps)
{
    if (scope->steps[0] == '\0' || steppath_within(steps, scope->steps))
        memcpy(scope->steps, steps, strlen(steps) + 1);
    else if (!steppath_within(scope->steps, steps))
        scope->no_steps = true;
}

/* False: its value is none of its kind. */
static bool apply_caveat(struct bearer_scope *scope, int caveat, const unsigned char *value,
                         size_t size)
{
    char steps[STEP_ID_MAX + 1];
    scope->caveats++;
    switch (caveat) {
    case BEARER_STEPS:
        if (size > STEP_ID_MAX)
            return false;
        memcpy(steps, value, size);
        steps[size] = '\0';
        if (strlen(steps) != size || !steppath_valid(steps))
            return false;
        restrict_steps(scope, steps);
        return true;
    case BEARER_OPERATIONS:
        if (size != OPERATIONS_SIZE || value[0] == 0 || (value[0] & ~BEARER_EVERYTHING))
            return false;
        scope->operations &= value[0];
        return true;
    case BEARER_EXPIRES:
        if (size != EXPIRES_SIZE || read_number(value) == 0 || read_number(value) > INT64_MAX)
            return false;
        if ((int64_t)read_number(value) < scope->expires)
            scope->expires = (int64_t)read_number(value);
        return true;
    default:
        if (scope->unknown < 0)
            scope->unknown = caveat;
        return true;
    }
}

/* -- decoding -- */

size_t bearer_caveat_size(const unsigned char *caveat)
{
    return CAVEAT_HEAD_SIZE + ((size_t)caveat[1] << 8 | caveat[2]);
}

struct bytes {
    const unsigned char *at;
    size_t left;
};

/* The next ones; NULL: there are not so many. */
static const unsigned char *consume(struct bytes *bytes, size_t size)
{
    const unsigned char *taken = bytes->at;
    if (size > bytes->left)
        return NULL;
    bytes->at += size;
    bytes->left -= size;
    return taken;
}

static bool read_name(struct bytes *bytes, char *out, size_t max)
{
    const unsigned char *length = consume(bytes, 1);
    const unsigned char *name = length && *length <= max ? consume(bytes, *length) : NULL;
    if (!name)
        return false;
    memcpy(out, name, *length);
    out[*length] = '\0';
    return strlen(out) == *length;
}

static bool read_head(struct bytes *bytes, struct bearer_scope *scope)
{
    const unsigned char *number;
    if (!consume(bytes, BEARER_KEY_ID_SIZE) || !(number = consume(bytes, NUMBER_SIZE)) ||
        !read_name(bytes, scope->cluster, CLUSTER_NAME_MAX) ||
        !read_name(bytes, scope->job, JOB_ID_MAX) || !consume(bytes, BEARER_NONCE_SIZE))
        return false;
    scope->number = read_number(number);
    return scope->number > 0 && scope->number <= INT64_MAX && cluster_name_valid(scope->cluster) &&
           job_id_valid(scope->job);
}

static int read_caveats(struct bytes *bytes, struct bearer_scope *scope, struct error *err)
{
    while (bytes->left > 0) {
        const unsigned char *head = consume(bytes, CAVEAT_HEAD_SIZE);
        size_t size = head ? bearer_caveat_size(head) - CAVEAT_HEAD_SIZE : 0;
        const unsigned char *value = head ? consume(bytes, size) : NULL;
        if (!value)
            return error_set(err, ERROR_INVALID, "the token is cut off or damaged");
        if (scope->caveats == BEARER_CAVEATS_MAX)
            return error_set(err, ERROR_INVALID, "the token has more than %d restrictions",
                             BEARER_CAVEATS_MAX);
        if (!apply_caveat(scope, head[0], value, size))
            return error_set(err, ERROR_INVALID,
                             "the token's restriction %u has a value that is not allowed",
                             scope->caveats);
    }
    return 0;
}

static int parse_bytes(struct bearer *bearer, struct error *err)
{
    bearer->scope =
        (struct bearer_scope){.operations = BEARER_EVERYTHING, .expires = INT64_MAX, .unknown = -1};
    struct bytes bytes = {bearer->bytes, bearer->size > CHAIN_SIZE ? bearer->size - CHAIN_SIZE : 0};
    if (!read_head(&bytes, &bearer->scope))
        return error_set(err, ERROR_INVALID, "the token is cut off or damaged");
    bearer->head_size = (size_t)(bytes.at - bearer->bytes);
    return read_caveats(&bytes, &bearer->scope, err);
}

bool bearer_is_ours(struct secret text)
{
    const char *at = secret_none(text) ? "" : secret_expose(text);
    if (strncmp(at, prefix, 5) != 0)
        return false;
    size_t digits = strspn(at + 5, "0123456789");
    return digits > 0 && at[5 + digits] == '.';
}

static int decode_text(const char *text, struct bearer *bearer, struct error *err)
{
    size_t length = strnlen(text, BEARER_TEXT_MAX + 1);
    if (!bearer_is_ours(secret_of(text)))
        return error_set(err, ERROR_INVALID, "this is no token of mcastd: those begin with %s",
                         prefix);
    if (strncmp(text, prefix, PREFIX_LENGTH) != 0)
        return error_set(err, ERROR_VERSION,
                         "the token is of a version that mcastd %s does not know: its tokens begin "
                         "with %s",
                         MCAST_VERSION, prefix);
    if (length > BEARER_TEXT_MAX)
        return error_set(err, ERROR_INVALID, "the token is longer than %d characters",
                         BEARER_TEXT_MAX);
    int size = base64url_decode(text + PREFIX_LENGTH, length - PREFIX_LENGTH, bearer->bytes,
                                sizeof bearer->bytes);
    if (size < 0)
        return error_set(err, ERROR_INVALID,
                         "the token is cut off or damaged: what follows %s is not base64url",
                         prefix);
    bearer->size = (size_t)size;
    return parse_bytes(bearer, err);
}

int bearer_decode(struct secret text, struct bearer *bearer, struct error *err)
{
    int code = secret_none(text) ? error_set(err, ERROR_INVALID, "there is no token")
                                 : decode_text(secret_expose(text), bearer, err);
    if (code < 0)
        bearer_wipe(bearer);
    return code;
}

void bearer_encode(const struct bearer *bearer, char out[static BEARER_TEXT_MAX + 1])
{
    assert(bearer->size <= BEARER_BYTES_MAX);
    memcpy(out, prefix, PREFIX_LENGTH);
    base64url_encode(bearer->bytes, bearer->size, out + PREFIX_LENGTH);
}

/* -- making and narrowing -- */

static unsigned char *write_name(unsigned char *at, const char *name)
{
    size_t length = strlen(name);
    *at++ = (unsigned char)length;
    memcpy(at, name, length);
    return at + length;
}

void bearer_begin(struct bearer *bearer, const unsigned char key_id[static BEARER_KEY_ID_SIZE],
                  uint64_t number, const char *cluster, const char *job,
                  const unsigned char nonce[static BEARER_NONCE_SIZE])
{
    assert(cluster_name_valid(cluster) && job_id_valid(job) && number > 0 && number <= INT64_MAX);
    *bearer = (struct bearer){0};
    unsigned char *at = bearer->bytes;
    const uint64_t big_endian = htobe64(number);
    memcpy(at, key_id, BEARER_KEY_ID_SIZE);
    memcpy(at + BEARER_KEY_ID_SIZE, &big_endian, NUMBER_SIZE);
    at = write_name(at + BEARER_KEY_ID_SIZE + NUMBER_SIZE, cluster);
    at = write_name(at, job);
    memcpy(at, nonce, BEARER_NONCE_SIZE);
    bearer->size = (size_t)(at - bearer->bytes) + BEARER_NONCE_SIZE + CHAIN_SIZE;
    int code = parse_bytes(bearer, NULL);
    assert(code == 0);
    (void)code;
}

static int add_caveat(struct bearer *bearer, enum bearer_caveat caveat, const void *value,
                      size_t size, struct error *err)
{
    struct chain chain;
    size_t whole = CAVEAT_HEAD_SIZE + size;
    if (bearer->scope.caveats == BEARER_CAVEATS_MAX || bearer->size + whole > BEARER_BYTES_MAX)
        return error_set(err, ERROR_FULL,
                         "the token has no room for one more restriction: %d restrictions and %d "
                         "characters at most; narrow the one that it was made from",
                         BEARER_CAVEATS_MAX, BEARER_TEXT_MAX);
    unsigned char *at = bearer->bytes + bearer->size - CHAIN_SIZE;
    memcpy(chain.mac, at, CHAIN_SIZE);
    at[0] = (unsigned char)caveat;
    at[1] = (unsigned char)(size >> 8);
    at[2] = (unsigned char)(size & 0xff);
    memcpy(at + CAVEAT_HEAD_SIZE, value, size);
    int code = chain_add(&chain, at, whole, err);
    memcpy(at + whole, chain.mac, CHAIN_SIZE);
    chain_wipe(&chain);
    if (code < 0)
        return code;
    bearer->size += whole;
    bool applied = apply_caveat(&bearer->scope, caveat, value, size);
    assert(applied);
    (void)applied;
    return 0;
}

static int narrow_steps(struct bearer *bearer, const char *steps, struct error *err)
{
    const struct bearer_scope *scope = &bearer->scope;
    int code = steppath_check(steps, err);
    if (code < 0)
        return code;
    if (scope->no_steps)
        return error_set(err, ERROR_INVALID,
                         "nothing can be left: the token's restrictions have no step in common");
    if (scope->steps[0] != '\0' && !steppath_within(steps, scope->steps) &&
        !steppath_within(scope->steps, steps))
        return error_set(err, ERROR_INVALID,
                         "nothing would be left: the token reaches %.100s, and no step of %.100s",
                         scope->steps, steps);
    return add_caveat(bearer, BEARER_STEPS, steps, strlen(steps), err);
}

static int narrow_operations(struct bearer *bearer, unsigned operations, struct error *err)
{
    const unsigned char value = (unsigned char)operations;
    if (operations & ~(unsigned)BEARER_EVERYTHING)
        return error_set(err, ERROR_INVALID,
                         "there is no such operation: show, cleanup and join are");
    if ((operations & bearer->scope.operations) == 0)
        return error_set(err, ERROR_INVALID,
                         "nothing would be left: the token allows none of these operations");
    return add_caveat(bearer, BEARER_OPERATIONS, &value, sizeof value, err);
}

static int narrow_expires(struct bearer *bearer, int64_t expires, struct error *err)
{
    const uint64_t value = htobe64((uint64_t)expires);
    if (expires < 0)
        return error_set(err, ERROR_INVALID, "the token would have expired before 1970");
    return add_caveat(bearer, BEARER_EXPIRES, &value, sizeof value, err);
}

int bearer_narrow(struct bearer *bearer, const struct bearer_limits *limits, struct error *err)
{
    struct bearer next = *bearer;
    int code = 0;
    if (limits->steps)
        code = narrow_steps(&next, limits->steps, err);
    if (code == 0 && limits->operations != 0)
        code = narrow_operations(&next, limits->operations, err);
    if (code == 0 && limits->expires != 0)
        code = narrow_expires(&next, limits->expires, err);
    if (code == 0)
        *bearer = next;
    bearer_wipe(&next);
    return code;
}

/* -- what it allows -- */

static int refuse_operation(const struct bearer_scope *scope, enum bearer_operation operation,
                            struct error *err)
{
    char allowed[32] = "";
    size_t used = 0;
    for (unsigned bit = 1; bit < BEARER_EVERYTHING; bit <<= 1) {
        if (scope->operations & bit)
            used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s%s",
                                     used > 0 ? " and " : "",
                                     bearer_operation_word((enum bearer_operation)bit));
    }
    return error_set(err, ERROR_REFUSED, "this token does not allow %s: it allows %s",
                     bearer_operation_word(operation), used > 0 ? allowed : "nothing");
}

int bearer_allows(const struct bearer_scope *scope, enum bearer_operation operation,
                  const char *step, struct error *err)
{
    assert(step || operation != BEARER_CLEANUP);
    if (!(scope->operations & operation))
        return refuse_operation(scope, operation, err);
    const int code = step ? steppath_check(step, err) : 0;
    if (code < 0)
        return code;
    if (scope->no_steps && (step || operation == BEARER_JOIN))
        return error_set(err, ERROR_REFUSED,
                         "this token reaches no step at all: its restrictions have none in common");
    if (!step)
        return 0;
    if (scope->steps[0] != '\0' && !steppath_within(step, scope->steps))
        return error_set(err, ERROR_REFUSED,
                         "step %.100s is out of this token's reach: it reaches %.100s%s", step,
                         scope->steps, scope->steps[0] == '/' ? " and what is below it" : "");
    return 0;
}

void bearer_id(const struct bearer *bearer, char id[static BEARER_ID_SIZE])
{
    const unsigned char *nonce = bearer->bytes + bearer->head_size - BEARER_NONCE_SIZE;
    hex_write(nonce, (BEARER_ID_SIZE - 1) / 2, id);
    id[BEARER_ID_SIZE - 1] = '\0';
}

const char *bearer_operation_word(enum bearer_operation operation)
{
    static const char *const words[] = {
        [BEARER_SHOW] = "show", [BEARER_CLEANUP] = "cleanup", [BEARER_JOIN] = "join"};
    assert(operation < sizeof words / sizeof *words && words[operation]);
    return words[operation];
}

unsigned bearer_operation_parse(const char *word, size_t length)
{
    for (unsigned bit = 1; bit < BEARER_EVERYTHING; bit <<= 1) {
        const char *known = bearer_operation_word((enum bearer_operation)bit);
        if (strlen(known) == length && memcmp(known, word, length) == 0)
            return bit;
    }
    return 0;
}
