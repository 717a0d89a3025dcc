/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/problem.h"

#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>

int problem_set(struct problem *problem, int status, const char *code, const char *field,
                const char *format, ...)
{
    problem->status = status;
    problem->code = code;
    problem->leader = NULL;
    problem->retry_after =
        status == MHD_HTTP_SERVICE_UNAVAILABLE || status == MHD_HTTP_TOO_MANY_REQUESTS ? 1 : 0;
    snprintf(problem->field, sizeof problem->field, "%s", field ? field : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem->detail, sizeof problem->detail, format, arguments);
    va_end(arguments);
    return -1;
}

void problem_write(const struct problem *problem, struct writer *writer)
{
    writer_begin_object(writer, NULL);
    writer_string(writer, "type", "about:blank");
    writer_string(writer, "title", MHD_get_reason_phrase_for((unsigned)problem->status));
    writer_number(writer, "status", (uint64_t)problem->status);
    writer_string(writer, "detail", problem->detail);
    writer_string(writer, "code", problem->code);
    if (problem->field[0])
        writer_string(writer, "field", problem->field);
    if (problem->leader)
        writer_string(writer, "leader", problem->leader);
    writer_end_object(writer);
}

void problem_write_fm(const struct problem *problem, struct writer *writer)
{
    writer_begin_object(writer, NULL);
    writer_string(writer, "message", problem->detail);
    writer_string(writer, "detail", problem->detail);
    writer_number(writer, "statusCode", (uint64_t)problem->status);
    writer_string(writer, "documentKind", "com:vmware:xenon:common:ServiceErrorResponse");
    writer_string(writer, "code", problem->code);
    writer_end_object(writer);
}
