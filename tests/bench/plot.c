/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/plot.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 3,
    PANEL_WIDTH = 300,
    PANEL_HEIGHT = 200,
    MARGIN_LEFT = 56,
    MARGIN_TOP = 34,
    MARGIN_RIGHT = 14,
    MARGIN_BOTTOM = 26
};

static const char style[] = "<style>text{font:11px sans-serif;fill:#333}.title{font-weight:bold}"
                            ".frame{fill:none;stroke:#999}.grid{stroke:#ddd}"
                            ".line{fill:none;stroke:#1a5fb4;stroke-width:2}"
                            ".bar{stroke:#1a5fb4}.dot{fill:#1a5fb4}</style>\n";

/* Powers of ten that hold all of a curve: 10^low … 10^high. */
struct axis {
    int low, high;
    double from, to; /* where they are drawn */
};

static double at(const struct axis *axis, double value)
{
    const double share = (log10(value) - axis->low) / (axis->high - axis->low);

    return axis->from + share * (axis->to - axis->from);
}

static void extend(struct axis *axis, double value)
{
    /* What is not above zero has no place on it. */
    if (value <= 0)
        return;
    if (floor(log10(value)) < axis->low)
        axis->low = (int)floor(log10(value));
    if (ceil(log10(value)) > axis->high)
        axis->high = (int)ceil(log10(value));
}

static void begin_axis(struct axis *axis, double first)
{
    axis->low = axis->high = first > 0 ? (int)floor(log10(first)) : 0;
    axis->high++;
}

static void tick_text(FILE *out, int power)
{
    if (power >= 0 && power < 4)
        fprintf(out, "%.0f", pow(10, power));
    else
        fprintf(out, "10<tspan dy=\"-4\" font-size=\"8\">%d</tspan>", power);
}

static void draw_grid(FILE *out, const struct axis *x, const struct axis *y)
{
    fprintf(out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            x->from, y->to, x->to - x->from, y->from - y->to);
    for (int power = y->low; power <= y->high; power++) {
        const double row = at(y, pow(10, power));

        fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", x->from, row, x->to);
        fprintf(out, "<text text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">", x->from - 5, row + 4);
        tick_text(out, power);
        fputs("</text>\n", out);
    }
    for (int power = x->low; power <= x->high; power++) {
        fprintf(out, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", at(x, pow(10, power)),
                y->from + 17);
        tick_text(out, power);
        fputs("</text>\n", out);
    }
}

static void draw_points(FILE *out, const struct report_curve *curve, const struct axis *x,
                        const struct axis *y)
{
    const char *step = "M";

    fputs("<path class=\"line\" d=\"", out);
    for (size_t i = 0; i < curve->count; i++) {
        const double median = sample_median(&curve->points[i].sample);

        if (median > 0) {
            fprintf(out, "%s%.1f %.1f", step, at(x, curve->points[i].x), at(y, median));
            step = "L";
        }
    }
    fputs("\"/>\n", out);
    for (size_t i = 0; i < curve->count; i++) {
        const struct sample *sample = &curve->points[i].sample;
        const double column = at(x, curve->points[i].x);

        if (sample_least(sample) > 0)
            fprintf(out,
                    "<path class=\"bar\" d=\"M%.1f %.1fV%.1f\"/>"
                    "<circle class=\"dot\" r=\"3\" cx=\"%.1f\" cy=\"%.1f\"/>\n",
                    column, at(y, sample_least(sample)), at(y, sample_most(sample)), column,
                    at(y, sample_median(sample)));
    }
}

static void draw_panel(FILE *out, const struct report_curve *curve, size_t index)
{
    const size_t row = index / COLUMNS, column = index % COLUMNS;
    const double left = (double)column * PANEL_WIDTH, top = (double)row * PANEL_HEIGHT;
    struct axis x = {.from = left + MARGIN_LEFT, .to = left + PANEL_WIDTH - MARGIN_RIGHT};
    struct axis y = {.from = top + PANEL_HEIGHT - MARGIN_BOTTOM, .to = top + MARGIN_TOP};

    begin_axis(&x, curve->points[0].x);
    begin_axis(&y, sample_median(&curve->points[0].sample));
    for (size_t i = 0; i < curve->count; i++) {
        extend(&x, curve->points[i].x);
        extend(&y, sample_least(&curve->points[i].sample));
        extend(&y, sample_most(&curve->points[i].sample));
    }
    fprintf(out, "<text class=\"title\" x=\"%.1f\" y=\"%.1f\">%s%s%s</text>\n", x.from,
            top + MARGIN_TOP - 10.0, curve->key, *curve->unit ? ", " : "", curve->unit);
    draw_grid(out, &x, &y);
    draw_points(out, curve, &x, &y);
}

int plot_write(const struct report *report, const char *path)
{
    const size_t rows = (report->curve_count + COLUMNS - 1) / COLUMNS;

    if (report->curve_count == 0) {
        fprintf(stderr, "%s: no curves were measured: they are of the part scale\n", path);
        return -1;
    }
    FILE *out = fopen(path, "we");
    if (!out) {
        perror(path);
        return -1;
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\">\n%s"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            COLUMNS * PANEL_WIDTH, rows * PANEL_HEIGHT, style);
    for (size_t i = 0; i < report->curve_count; i++)
        draw_panel(out, &report->curves[i], i);
    fputs("</svg>\n", out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        perror(path);
        return -1;
    }
    return 0;
}
