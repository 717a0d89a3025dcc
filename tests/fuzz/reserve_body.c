/* The body of a reserve (broker/http/reserve_body.h): the whole input. */

#include "broker/http/reserve_body.h"
#include "core/names.h"
#include "core/nodelist.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_taken(const struct reserve_request *request)
{
    uint32_t count = 0;
    FUZZ_CHECK(request->uid != UINT32_MAX);
    FUZZ_CHECK(request->node_count >= 1 && request->node_count <= NODELIST_COUNT_MAX);
    if (request->nodes) {
        FUZZ_CHECK(strlen(request->nodes) <= NODES_TEXT_MAX);
        FUZZ_CHECK(nodelist_count(request->nodes, &count, NULL) == 0);
        FUZZ_CHECK(count == request->node_count);
    }
    FUZZ_CHECK(request->vni_count >= -1 && request->vni_count <= VNI_PER_JOB_MAX);
    FUZZ_CHECK(request->wish <= WISH_REQUIRED);
    FUZZ_CHECK(request->traffic_classes <= 15);
    FUZZ_CHECK(request->cores_per_node <= 1000000);
}

/* What was understood is the same when the body is written anew. */
static void check_again(const struct reserve_body *body)
{
    struct reserve_body again;
    struct problem problem;
    char *text = json_dumps(body->root, JSON_COMPACT);
    FUZZ_CHECK(text && reserve_body_parse(text, strlen(text), &again, &problem) == 0);
    FUZZ_CHECK(json_equal(body->root, again.root));
    const struct reserve_request *one = &body->request, *other = &again.request;
    FUZZ_CHECK(one->uid == other->uid && one->node_count == other->node_count &&
               one->cores_per_node == other->cores_per_node && one->vni_count == other->vni_count &&
               one->wish == other->wish && one->traffic_classes == other->traffic_classes);
    reserve_body_release(&again);
    free(text);
}

void fuzz_one(struct fuzz_input *in)
{
    struct reserve_body body;
    struct problem problem = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    if (reserve_body_parse(bytes, length, &body, &problem) == 0) {
        check_taken(&body.request);
        check_again(&body);
        reserve_body_release(&body);
    } else {
        FUZZ_CHECK(problem.status == 400 || problem.status == 422);
        FUZZ_CHECK(problem.code && problem.detail[0] != '\0' && !body.root);
    }
    free(bytes);
}
