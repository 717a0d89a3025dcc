#include "mock-fm/http/answer.h"

#include <stdlib.h>

#include "mock-fm/objects/document.h"

void answer_problem(struct answer *answer, const struct problem *problem)
{
    answer_release(answer);
    *answer = (struct answer){.status = problem->status,
                              .document = document_of_problem(problem),
                              .challenge = problem->status == 401};
}

void answer_release(struct answer *answer)
{
    json_decref(answer->document);
    answer->document = NULL;
}

int answer_render(const struct answer *answer, struct body *body)
{
    size_t length;

    *body = (struct body){0};
    if (!answer->document)
        return 0;
    length = json_dumpb(answer->document, NULL, 0, JSON_COMPACT);
    if (length == 0 || !(body->bytes = malloc(length + 1)))
        return -1;
    json_dumpb(answer->document, body->bytes, length, JSON_COMPACT);
    body->length = length;
    if (length % 4096 == 0)
        body->bytes[body->length++] = '\n';
    return 0;
}
