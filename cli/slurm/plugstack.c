#include "cli/slurm/plugstack.h"

#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r";

/* Cuts the first word off and returns it; rest is what follows, without blanks before it. */
static char *cut_word(char **rest)
{
    char *word = *rest + strspn(*rest, blanks);
    char *end = word + strcspn(word, blanks);
    const bool more = *end != '\0';
    *end = '\0';
    *rest = end + more;
    *rest += strspn(*rest, blanks);
    return word;
}

static bool read_kind(const char *word, enum plugstack_kind *kind)
{
    static const char *const words[] = {[PLUGSTACK_OPTIONAL] = "optional",
                                        [PLUGSTACK_REQUIRED] = "required",
                                        [PLUGSTACK_INCLUDE] = "include"};
    for (int i = PLUGSTACK_OPTIONAL; i <= PLUGSTACK_INCLUDE; i++) {
        if (strcmp(words[i], word) == 0) {
            *kind = (enum plugstack_kind)i;
            return true;
        }
    }
    return false;
}

/* False: it is not understood. */
static bool read_line(char *text, plugstack_fn *each, void *data)
{
    struct plugstack_line line;
    text[strcspn(text, "#")] = '\0';
    const char *kind = cut_word(&text);
    if (!kind[0])
        return true;
    line.path = cut_word(&text);
    line.words = text;
    if (!read_kind(kind, &line.kind) || !line.path[0])
        return false;
    each(&line, data);
    return true;
}

size_t plugstack_read(const char *text, plugstack_fn *each, void *data)
{
    size_t strange = 0;
    char *copy = strdup(text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        strange += !read_line(line, each, data);
    free(copy);
    return strange;
}
