#include "broker/config/words.h"

#include <stdlib.h>
#include <string.h>

bool config_words_add(char ***words, const char *text, const char *between)
{
    size_t count = 0;
    while (*words != NULL && (*words)[count] != NULL)
        count++;
    for (text += strspn(text, between); *text != '\0'; text += strspn(text, between)) {
        size_t take = strcspn(text, between);
        char **longer = realloc(*words, (count + 2) * sizeof *longer);
        if (longer == NULL)
            return false;
        *words = longer;
        longer[count] = strndup(text, take);
        longer[count + 1] = NULL;
        if (longer[count++] == NULL)
            return false;
        text += take;
    }
    return true;
}

void config_words_print(FILE *out, char *const *words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

void config_words_destroy(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}
