/* SPDX-License-Identifier: Apache-2.0 */
#include "core/effect.h"

static const struct {
    int status;
    const char *word;
} answers[] = {
#define ANSWER_ROW_(name, status, word) [ANSWER_##name] = {status, word},
    ANSWER_KINDS(ANSWER_ROW_)
#undef ANSWER_ROW_
};

int answer_status(enum answer_kind kind)
{
    return kind < sizeof answers / sizeof *answers ? answers[kind].status : 500;
}

const char *answer_word(enum answer_kind kind)
{
    return kind < sizeof answers / sizeof *answers ? answers[kind].word : "unknown";
}
