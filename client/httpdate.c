#include "client/httpdate.h"

#include <string.h>
#include <time.h>

/* '0': a digit; 'M': a month's first letter, the two after it as well; else itself. The day of the
 * week says nothing new. */
static const char form[] = "00 Mmm 0000 00:00:00 GMT";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

enum { BEFORE = sizeof("Sun, ") - 1, LENGTH = sizeof(form) - 1 };

static bool has_form(const char *date)
{
    for (size_t i = 0; i < LENGTH; i++) {
        bool digit = date[i] >= '0' && date[i] <= '9';
        bool any = form[i] == 'M' || form[i] == 'm' || (form[i] == '0' && digit);
        if (!any && (form[i] == '0' || date[i] != form[i]))
            return false;
    }
    return true;
}

static int number(const char *digits, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++)
        value = value * 10 + (digits[i] - '0');
    return value;
}

/* From 0; -1: there is none of that name. Not strptime, whose names are the locale's. */
static int month(const char *name)
{
    for (int i = 0; i < 12; i++)
        if (memcmp(months + 3 * i, name, 3) == 0)
            return i;
    return -1;
}

bool httpdate_parse(const char *text, size_t length, int64_t *seconds)
{
    if (length < BEFORE + LENGTH || text[3] != ',' || text[4] != ' ')
        return false;
    const char *date = text + BEFORE;
    struct tm tm;
    if (!has_form(date))
        return false;
    tm = (struct tm){.tm_mday = number(date, 2),
                     .tm_mon = month(date + 3),
                     .tm_year = number(date + 7, 4) - 1900,
                     .tm_hour = number(date + 12, 2),
                     .tm_min = number(date + 15, 2),
                     .tm_sec = number(date + 18, 2)};
    if (tm.tm_mon < 0 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
        tm.tm_sec > 60)
        return false;
    *seconds = timegm(&tm);
    return true;
}
