/* SPDX-License-Identifier: Apache-2.0 */

#include "broker/http/request/writer.h"
#include "tests/unit/unit.h"

#include <jansson.h>

/* What stands in the writer, as a parser sees it. */
static json_t *parsed(const struct writer *writer)
{
    assert_false(writer->failed);
    json_t *root = json_loadb(writer->data, writer->used, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(root);
    return root;
}

static void assert_written(const struct writer *writer, const char *text)
{
    assert_false(writer->failed);
    assert_int_equal(writer->used, strlen(text));
    assert_memory_equal(writer->data, text, writer->used);
}

UNIT(members__are_separated_and_nested)
{
    struct writer writer = {0};
    writer_begin_object(&writer, NULL);
    writer_string(&writer, "a", "x");
    writer_begin_array(&writer, "b");
    writer_number(&writer, NULL, 0);
    writer_number(&writer, NULL, UINT64_MAX);
    writer_begin_object(&writer, NULL);
    writer_end_object(&writer);
    writer_begin_array(&writer, NULL);
    writer_end_array(&writer);
    writer_end_array(&writer);
    writer_bool(&writer, "c", true);
    writer_bool(&writer, "d", false);
    writer_string(&writer, "e", NULL);
    writer_string(&writer, "f", NULL);
    writer_end_object(&writer);
    assert_written(&writer, "{\"a\":\"x\",\"b\":[0,18446744073709551615,{},[]],\"c\":true,"
                            "\"d\":false,\"e\":null,\"f\":null}");
    writer_release(&writer);
}

UNIT(string__is_escaped_whatever_is_in_it)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"", "\"\""},
        {"plain /:@", "\"plain /:@\""},
        {"\"\\", "\"\\\"\\\\\""},
        {"a\nb\tc\x01\x1f\x7f", "\"a\\nb\\u0009c\\u0001\\u001f\\u007f\""},
        {"\xc3\xa4\xe2\x86\x92\xf0\x9f\x90\x9f", "\"\xc3\xa4\xe2\x86\x92\xf0\x9f\x90\x9f\""},
        {"\xff|\xc3|\xe2\x86", "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    struct writer writer = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writer_wipe(&writer);
        writer_string(&writer, NULL, cases[i].text);
        assert_written(&writer, cases[i].written);
        json_decref(parsed(&writer));
    }
    writer_release(&writer);
}

UNIT(string__of_any_two_bytes_is_valid_json)
{
    struct writer writer = {0};
    for (int first = 1; first < 256; first++) {
        for (int second = 1; second < 256; second++) {
            char text[] = {(char)first, (char)second, '\0'};
            writer_wipe(&writer);
            writer_string(&writer, NULL, text);
            json_decref(parsed(&writer));
        }
    }
    writer_release(&writer);
}

UNIT(time__is_rfc3339_with_milliseconds)
{
    static const struct {
        int64_t ms;
        const char *written;
    } cases[] = {
        {0, "\"1970-01-01T00:00:00.000Z\""},
        {951782400007, "\"2000-02-29T00:00:00.007Z\""},
        {253402300799999, "\"9999-12-31T23:59:59.999Z\""},
        {253402300800000, "null"},
        {-1, "null"},
        {INT64_MAX, "null"},
    };
    struct writer writer = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writer_wipe(&writer);
        writer_time(&writer, NULL, cases[i].ms);
        assert_written(&writer, cases[i].written);
    }
    writer_release(&writer);
}

UNIT(buffer__grows_and_is_kept)
{
    struct writer writer = {0};
    char text[301];
    memset(text, 'x', 300);
    text[300] = '\0';
    writer_begin_array(&writer, NULL);
    for (int i = 0; i < 1000; i++)
        writer_string(&writer, NULL, text);
    writer_end_array(&writer);
    json_t *root = parsed(&writer);
    assert_int_equal(json_array_size(root), 1000);
    json_decref(root);
    size_t size = writer.size;
    writer_wipe(&writer);
    assert_int_equal(writer.size, size);
    for (size_t i = 0; i < 300000; i++)
        assert_int_equal(writer.data[i], 0); /* it may have been a token */
    writer_release(&writer);
}

UNIT(textf__writes_beside_json)
{
    struct writer writer = {0};
    writer_textf(&writer, "a %d ", 7);
    writer_text(&writer, "b");
    assert_written(&writer, "a 7 b");
    writer_release(&writer);
}

UNIT_RUN(NULL, NULL)
