// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page of a recording that needs nothing else: page.css and page.js are in it, the table is, and
 * the data of lines and maps is there as JSON. What comes from the recording is text, whatever it
 * has in it: it is escaped, and the policy of the page lets no script run but page.js.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "rule.h"
#include "page.h"

#define MOST_POINTS	1000	/* of a line; more than that have no room */
#define MOST_MAPS	60

struct page {
	struct record *record;
	struct options options;	/* for machine and packages */
	struct value *value;	/* of the lines: which ones there are */
	int num;
	struct series {
		json_t *values;
		double low, high;	/* of an interval */
	} *line;			/* of each of them */
	json_t *times, *maps;
};

static const char *safe(const char *text)
{
	return escaped(text, "<>&\"'", "&#%d;");
}

/* Nothing in it ends the element that it is in. */
static int put_piece(const char *text, size_t size, void *f)
{
	for (; size; size--, text++)
		fprintf(f, *text == '<' ? "\\u003c" : "%c", *text);
	return 0;
}

/* ---- what is read ---- */

static int add_points(struct session *session, double time, void *data)
{
	struct page *page = data;
	struct value *values;
	int num, i;

	values = values_make(session, &page->options, &num);
	json_array_append_new(page->times, json_real(time));
	for (i = 0; i < num; i++)
		json_array_append_new(page->line[i].values, values[i].why ? json_null() :
				      json_real(values[i].value));
	return 0;
}

static int add_range(struct session *session, double time, void *data)
{
	struct page *page = data;
	struct value *values;
	int num, i;

	(void)time;
	values = values_make(session, &page->options, &num);
	for (i = 0; i < num; i++) {
		if (values[i].why)
			continue;
		page->line[i].low = fmin(page->line[i].low, values[i].value);
		page->line[i].high = fmax(page->line[i].high, values[i].value);
	}
	return 0;
}

static int add_map(struct session *session, double time, void *data)
{
	struct page *page = data;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	map_make(session, time);
	map_svg(f, session->map);
	fclose(f);
	json_array_append_new(page->maps, json_pack("{sf ss}", "time", time, "svg", text));
	free(text);
	return 0;
}

/* Has the recording all that the map is of? */
static bool has_map(struct session *session)
{
	int i;

	if (!machine_is(session, "06_2e 06_2f") || session->packages > MAP_PACKAGES)
		return false;
	for (i = 0; i < session->num_metrics; i++)
		session->metric[i]->asked = false;
	if (map_ask(session))
		return false;
	for (i = 0; i < session->num_metrics; i++) {
		if (session->metric[i]->asked && !plan_has(&session->plan, session->metric[i])) {
			if (session->options.matrix)
				warn("no map: there is no %s", session->metric[i]->name);
			return false;
		}
	}
	return true;
}

static int together(const struct record *record, int most)
{
	return (record->intervals + most - 1) / most ?: 1;
}

/* ---- what is written ---- */

static void put_fact(FILE *f, const char *name, const char *text)
{
	if (*text)
		fprintf(f, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, safe(text));
}

static char *absent(const struct session *session)
{
	char *text = "";
	int i, p;

	for (i = 0; i < session->num_pmus; i++) {
		for (p = 0; p < session->packages && !session->pmu[i].core; p++) {
			if (session->online[p] && session->pmu[i].cpu[p] < 0)
				text = format("%s%s%s on S%d", text, *text ? ", " : "",
					      session->pmu[i].name, p);
		}
	}
	return text;
}

static const char *text_of(const struct record *record, const char *key)
{
	const json_t *machine = json_object_get(record->header, "machine");

	return json_string_value(json_object_get(machine, key)) ?: "";
}

static void put_facts(FILE *f, const struct record *record)
{
	const struct session *session = record->session;
	time_t start = record->start;
	char when[40] = "";
	int packages = 0, cpus = 0, i;
	struct tm tm;

	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	for (i = 0; i < session->packages; i++)
		packages += session->online[i];
	for (i = 0; i < session->cpus; i++)
		cpus += session->package_of[i] >= 0;
	fprintf(f, "<dl class=\"card\">\n");
	put_fact(f, "Command", *record->command ? record->command : "none: the whole machine");
	put_fact(f, "Recorded", when);
	put_fact(f, "Duration", !record->intervals ?
		 format("no whole interval of %d ms", record->interval) :
		 format("%.3f s, %d %s of %d ms", record->end, record->intervals,
			record->intervals == 1 ? "interval" : "intervals", record->interval));
	put_fact(f, "Host", text_of(record, "host"));
	put_fact(f, "Machine", format("%s, %d %s, %d CPUs", machine_name(session), packages,
				      packages == 1 ? "package" : "packages", cpus));
	put_fact(f, "Kernel", text_of(record, "kernel"));
	put_fact(f, "Module", text_of(record, "module"));
	put_fact(f, "Absent boxes", absent(session));
	fprintf(f, "</dl>\n");
}

static char *shown(double value, const char *unit)
{
	const char *prefix = prefixed(&value, &unit);

	return format("%s %s%s", digits_text(value, *prefix || fabs(value) >= 100 ? 2 : 4), prefix, unit);
}

static void put_number(FILE *f, double value, const char *text)
{
	fprintf(f, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, safe(text));
}

/* With the lowest and the highest interval. */
static void put_row(FILE *f, const struct series *line, const struct value *value)
{
	static const char none[] = "<td class=\"n\" data-v=\"\">n/a</td>";
	const char *unit = value->metric->unit;

	/* A name is broken where it has a _. */
	fprintf(f, "<tr><td>%s</td><td>%s</td>", safe(value->scope),
		escaped(value->metric->name, "_", "%c<wbr>"));
	if (value->why)
		fprintf(f, "%s", none);
	else
		put_number(f, value->value, shown(value->value, unit));
	if (isfinite(line->low)) {
		put_number(f, line->low, shown(line->low, unit));
		put_number(f, line->high, shown(line->high, unit));
	} else {
		fprintf(f, "%s%s", none, none);
	}
	put_number(f, value->running, format("%.1f %%", 100 * value->running));
	fprintf(f, "<td class=\"note\">%s%s</td></tr>\n", value->why ? "n/a, because " : "",
		safe(value->why ?: value->note ?: ""));
}

/* What is to be seen at once: the values of the machine, and sentences about them. */
static int put_summary(struct session *session, double time, void *data)
{
	struct page *page = data;
	FILE *f = session->file;
	struct value *values;
	char **lines;
	int num, i;

	(void)time;
	values = values_make(session, &page->options, &num);
	fprintf(f, "<h2>Summary</h2>\n<dl class=\"card\" id=\"summary\">\n");
	for (i = 0; i < num; i++) {
		if (values[i].package >= 0)
			continue;
		if (values[i].why)
			fprintf(f, "<div><dt>%s</dt><dd class=\"quiet\">n/a, because %s</dd>"
				"</div>\n",
				values[i].metric->name, safe(values[i].why));
		else
			put_fact(f, values[i].metric->name,
				 number_text(values[i].value, values[i].metric->unit));
	}
	fprintf(f, "</dl>\n");
	if (!why_ask_all(session))
		return 0;
	fprintf(f, "<h2>Verdict</h2>\n<ul class=\"card\" id=\"verdict\">\n");
	lines = why_lines(session, &num);
	for (i = 0; i < num; i++)
		fprintf(f, "<li%s>%s</li>\n", strncmp(lines[i], "not judged", 10) ? "" :
			" class=\"quiet\"", safe(lines[i]));
	fprintf(f, "</ul>\n");
	return 0;
}

static int put_table(struct session *session, double time, void *data)
{
	static const char * const columns[] = { "scope", "metric", "value", "lowest", "highest",
						"counted", "note" };
	struct page *page = data;
	FILE *f = session->file;
	struct value *values;
	unsigned int c;
	int num, i;

	(void)time;
	values = values_make(session, &page->options, &num);
	fprintf(f, "<h2>Values of the whole time</h2>\n<div class=\"card wide\">"
		"<table id=\"values\"><thead><tr>");
	for (c = 0; c < sizeof(columns) / sizeof(columns[0]); c++)
		fprintf(f, "<th%s><button type=\"button\">%s</button></th>",
			c > 1 && c < 6 ? " class=\"n\"" : "", columns[c]);
	fprintf(f, "</tr></thead>\n<tbody>\n");
	for (i = 0; i < num; i++)
		put_row(f, &page->line[i], &values[i]);
	fprintf(f, "</tbody></table></div>\n<p class=\"quiet\">lowest, highest: of an interval; "
		"counted: share of the time</p>\n");
	return 0;
}

static json_t *metrics_json(const struct page *page)
{
	json_t *metrics = json_array(), *series = NULL;
	const struct metric *last = NULL;
	int i;

	for (i = 0; i < page->num; i++) {
		const struct metric *metric = page->value[i].metric;

		/* Packages have lines, and the machine where there are none. */
		if (page->value[i].package < 0 && i + 1 < page->num &&
		    page->value[i + 1].metric == metric) {
			json_decref(page->line[i].values);
			continue;
		}
		if (metric != last) {
			series = json_array();
			last = metric;
			json_array_append_new(metrics, json_pack(
				"{ss ss ss so}", "name", metric->name, "help", metric->help,
				"unit", metric->unit, "series", series));
		}
		json_array_append_new(series, json_pack("{ss so}", "scope", page->value[i].scope,
							"values", page->line[i].values));
	}
	return metrics;
}

static int read_page(struct page *page)
{
	struct record *record = page->record;
	struct session *session = record->session;
	int i;

	page->options = (struct options){ .per_machine = true, .per_socket = true };
	page->times = json_array();
	page->maps = json_array();
	page->value = values_make(session, &page->options, &page->num);
	page->line = allocate(page->num * sizeof(*page->line));
	for (i = 0; i < page->num; i++)
		page->line[i] = (struct series){ json_array(), INFINITY, -INFINITY };
	return record_each(record, 1, add_range, page) ?:
	       record_each(record, together(record, MOST_POINTS), add_points, page) ?:
	       !has_map(session) ? 0 : record_each(record, 0, add_map, page) ?:
	       record_each(record, together(record, MOST_MAPS), add_map, page);
}

int html(struct record *record)
{
	struct session *session = record->session;
	const char *path = session->options.html;
	struct page page = { .record = record };
	int status = replace_begin(session, path);
	FILE *f = session->file;
	json_t *data;

	if (status || (status = read_page(&page)))
		return status;
	fprintf(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '" PAGE_CSS_HASH "' '" MAP_CSS_HASH "'; script-src '" PAGE_JS_HASH "'; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<title>perf metrics: %1$s</title>\n<style>%2$s</style>\n</head>\n<body>\n"
		"<h1>perf metrics: %1$s</h1>\n", safe(text_of(record, "host")), page_css);
	if (!record->whole)
		fprintf(f, "<p class=\"card warn\">The recording has no end: this is of its %d "
			"whole intervals.</p>\n", record->intervals);
	put_facts(f, record);
	record_each(record, 0, put_summary, &page);
	fprintf(f, "<h2>Over time</h2>\n<div id=\"charts\"></div>\n");
	if (json_array_size(page.maps))
		fprintf(f, "<h2>Map</h2>\n<div class=\"card\"><div class=\"slide\">"
			"<label for=\"time\">Time</label>"
			"<input type=\"range\" id=\"time\" min=\"0\" max=\"%d\" value=\"0\">"
			"<output id=\"when\" for=\"time\"></output></div>\n"
			"<div id=\"map\" class=\"wide\"></div></div>\n",
			(int)json_array_size(page.maps) - 1);
	record_each(record, 0, put_table, &page);
	fprintf(f, "<noscript><p class=\"card warn\">Lines and map are drawn by a script.</p>"
		"</noscript>\n<script type=\"application/json\" id=\"data\">");
	data = json_pack("{so so so}", "times", page.times, "metrics", metrics_json(&page), "maps",
			 page.maps);
	json_dump_callback(data, put_piece, f, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(data);
	fprintf(f, "</script>\n<script>%s</script>\n</body>\n</html>\n", page_js);
	return replace_end(session, path);
}
