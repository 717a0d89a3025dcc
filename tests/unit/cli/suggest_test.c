/* SPDX-License-Identifier: Apache-2.0 */
/* What a mistyped word may have been (B5). */

#include "cli/command.h"
#include "base/suggest.h"
#include "core/reservation/record.h"
#include "tests/unit/unit.h"

static void expect(const char *typed, const char *answer)
{
    static const char *const words[] = {"list",    "status", "step-down", "release",
                                        "reserve", "show",   "sort",      "help"};
    struct suggestion suggestion;
    char text[SUGGEST_SIZE];
    suggest_begin(&suggestion, typed);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        suggest_try(&suggestion, words[i]);
    assert_string_equal(suggest_text(&suggestion, "--", text), answer);
}

UNIT(words__of_all_events_are_completed)
{
#define WORD_(name, word, fatal) "," word
    static const char all[] = EVENT_KINDS(WORD_);
    const struct command_option *option = command_events.options;
    while (strcmp(option->name, "kind") != 0)
        option++;
    assert_int_equal(option->value[0], '[');
    assert_int_equal(strlen(option->value), strlen(all) + 1);
    assert_memory_equal(option->value + 1, all + 1, strlen(all) - 1);
}

UNIT(words__that_are_similar)
{
    expect("lsit", "; did you mean --list?");    /* swapped */
    expect("sotr", "; did you mean --sort?");    /* at the end */
    expect("satus", "; did you mean --status?"); /* left out */
    expect("reserves", "; did you mean --reserve?");
    expect("relaese", "; did you mean --release?");
    expect("shwo", "; did you mean --show?");
}

UNIT(words__that_are_begun)
{
    expect("stat", "; did you mean --status?");
    expect("st", "; did you mean --status or --step-down?");
    expect("re", "; did you mean --release or --reserve?");
    expect("s", "");
}

UNIT(words__that_do_harm_are_only_misspelt)
{
    static const char *const typed[] = {"relaese", "lease", "rel"};
    struct suggestion suggestion;
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        suggest_begin(&suggestion, typed[i]);
        suggest_try_misspelt(&suggestion, "release");
        assert_int_equal(suggestion.count, i == 0);
    }
}

UNIT(words__that_are_like_none)
{
    expect("frobnicate", "");
    expect("", "");
    expect("xy", "");
    expect("a-word-that-is-longer-than-any-name-may-be", "");
}

UNIT_RUN(NULL, NULL)
