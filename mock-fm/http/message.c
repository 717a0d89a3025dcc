/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mock-fm/objects/document.h"

int problem_set(struct problem *problem, int status, const char *format, ...)
{
    va_list arguments;
    problem->status = status;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return -1;
}

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

void answer_render(const struct answer *answer, struct body *body)
{
    *body = (struct body){0};
    if (!answer->document)
        return;
    body->bytes = json_dumps(answer->document, JSON_COMPACT);
    body->length = strlen(body->bytes);
    if (body->length % 4096 == 0)
        body->bytes[body->length++] = '\n'; /* in place of the NUL */
}
