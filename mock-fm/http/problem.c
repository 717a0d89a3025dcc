#include "mock-fm/http/problem.h"

#include <stdarg.h>
#include <stdio.h>

int problem_set(struct problem *problem, int status, const char *format, ...)
{
    va_list arguments;

    problem->status = status;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return -1;
}
