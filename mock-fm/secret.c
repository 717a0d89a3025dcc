#include "mock-fm/secret.h"

#include <stddef.h>
#include <string.h>

bool secret_equal(const char *expected, const char *given)
{
    size_t expected_length = strlen(expected), given_length = strlen(given);
    /* volatile: the compiler must not leave the loop at the first difference. */
    volatile unsigned char difference = expected_length != given_length;

    for (size_t i = 0; i < given_length; i++) {
        char other = expected[expected_length ? i % expected_length : 0];

        difference = (unsigned char)(difference | (other ^ given[i]));
    }
    return difference == 0;
}
