/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/nodefile.h"
#include "tests/unit/unit.h"

/* A file in the format of genders (S2). */

struct told {
    char text[2048];
    unsigned count;
};

static void keep(void *arg, unsigned line, const char *words)
{
    struct told *told = arg;
    const size_t length = strlen(told->text);
    told->count++;
    snprintf(told->text + length, sizeof told->text - length, "%u: %s\n", line, words);
}

static struct nicbook *read_text(const char *text, size_t length, struct told *told,
                                 struct error *err)
{
    FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
    assert_non_null(in);
    *told = (struct told){.count = 0};
    *err = (struct error){0};
    struct nicbook *book = nodefile_read(in, keep, told, err);
    fclose(in);
    return book;
}

UNIT(file__tells_nics_of_nodes)
{
    static const char text[] = "# all\n"
                               "elcap1  nic0=0x1200,nic1=0x1201\n"
                               "elcap[2-3],tuo7\tcompute,nic0=77 # that is it\n"
                               "  elcap1 mgmt,ipmi=elcap1-bmc,nic,nicx=3,nic2=0x1202\n"
                               "login1\n\n";
    struct told told;
    struct error err;
    (void)state;
    struct nicbook *book = read_text(text, strlen(text), &told, &err);
    assert_int_equal(err.code, 0);
    assert_string_equal(told.text, "");
    assert_int_equal(nicbook_count(book), 4);
    assert_int_equal(nicbook_find(book, "elcap1")->count, 3);
    assert_int_equal(nicbook_find(book, "elcap1")->nics[1].address, 0x1201 << 12);
    assert_int_equal(nicbook_find(book, "elcap3")->nics[0].address, 77 << 12);
    assert_int_equal(nicbook_find(book, "tuo7")->count, 1);
    assert_null(nicbook_find(book, "login1"));
    nicbook_destroy(book);
}

/* As genders has them: "#" begins a comment also within a word, "%n" is the node, "%%" is "%". */
UNIT(value__has_the_nodes_name)
{
    static const char text[] = "12[0-1],77\tnic0=0x%n,nic1=%n,alt=%n-alt,x=%%\r\n"
                               "13 nic0=2#3,nic1=4\n"
                               "elcap1 nic0=0x%n\n"
                               "14 nic0=%%n\n"
                               "15 nic0=%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n%n\n"
                               "rack[1-2]n[3-4] nic0=9\n";
    struct told told;
    struct error err;
    (void)state;
    struct nicbook *book = read_text(text, strlen(text), &told, &err);
    assert_int_equal(told.count, 3);
    assert_words(told.text, "3: nic0=0x%n: an address is");
    assert_words(told.text, "4: nic0=%%n: an address is");
    assert_words(told.text, "5: nic0=%n%n");
    assert_int_equal(nicbook_find(book, "120")->nics[0].address, 0x120 << 12);
    assert_int_equal(nicbook_find(book, "121")->nics[1].address, 121 << 12);
    assert_int_equal(nicbook_find(book, "77")->nics[0].address, 0x77 << 12);
    assert_int_equal(nicbook_find(book, "13")->nics[0].address, 2 << 12);
    assert_int_equal(nicbook_find(book, "13")->count, 1);
    assert_int_equal(nicbook_find(book, "rack2n3")->count, 1);
    nicbook_destroy(book);
}

UNIT(line__that_is_wrong_is_told_and_left_out)
{
    static const char text[] = "n1 nic0=0x100000\n"
                               "n2 nic16=1\n"
                               "n[3- nic0=1\n"
                               "n4 nic0=1,nic0=2\n"
                               "n5 nic0=\n"
                               "n6 nic0=0x3\n";
    static const char *const words[] = {
        "1: nic0=0x100000: an address is a number of 20 bits", "2: nic16=1: NICs are nic0 to nic15",
        "3: node list: ", "4: nic0 of n4 is there twice", "5: nic0=: an address is"};
    struct told told;
    struct error err;
    (void)state;
    struct nicbook *book = read_text(text, strlen(text), &told, &err);
    assert_int_equal(err.code, 0);
    assert_int_equal(told.count, 5);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_words(told.text, words[i]);
    assert_non_null(nicbook_find(book, "n6"));
    assert_null(nicbook_find(book, "n1"));
    nicbook_destroy(book);
}

UNIT(file__has_limits)
{
    static char text[NODEFILE_LINE_MAX + 100];
    struct told told;
    struct error err;
    (void)state;
    memset(text, 'n', sizeof text);
    struct nicbook *book = read_text(text, sizeof text, &told, &err);
    assert_int_equal(err.code, ERROR_FULL);
    assert_words(err.text, "line 1 is longer than 65534 bytes");
    nicbook_destroy(book);
    static const char many[] = "n[1-200000] nic0=1\nm1 nic0=2\n";
    book = read_text(many, strlen(many), &told, &err);
    assert_words(told.text, "1: more than 131072 nodes");
    assert_int_equal(nicbook_count(book), 1);
    nicbook_destroy(book);
}

UNIT_RUN(NULL, NULL)
