#include "broker/http/api/bodies/token_json.h"

static const int64_t year_10000 = INT64_C(253402300800); /* Unix seconds */

void token_json_write_expires(struct writer *writer, const struct bearer_scope *scope)
{
    if (scope->expires >= year_10000)
        writer_null(writer, "expires");
    else
        writer_time(writer, "expires", scope->expires * 1000);
}

void token_json_write(struct writer *writer, const struct tokenproof *proof)
{
    static const enum bearer_operation all[] = {BEARER_SHOW, BEARER_CLEANUP};
    const struct bearer_scope *scope = &proof->scope;
    writer_begin_object(writer, "token");
    writer_string(writer, "kind", proof->session ? "session" : "broker");
    writer_string(writer, "id", proof->id[0] ? proof->id : NULL);
    writer_string(writer, "steps", scope->steps[0] ? scope->steps : NULL);
    writer_begin_array(writer, "operations");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (scope->operations & (unsigned)all[i])
            writer_string(writer, NULL, bearer_operation_word(all[i]));
    writer_end_array(writer);
    token_json_write_expires(writer, scope);
    writer_end_object(writer);
}
