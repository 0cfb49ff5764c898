// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as a map has them: short, and with what is to be known of them.
 */
#include <stdio.h>
#include <string.h>

#include "map.h"

char *map_number(char text[MAP_NUMBER], double value)
{
	static const char prefixes[] = " kMGTPE";
	int n = 0;

	/* What would be rounded up to four digits gets the next prefix. */
	while (value >= 999.5 && prefixes[n + 1]) {
		value /= 1000;
		n++;
	}
	snprintf(text, MAP_NUMBER, "%.*f%.*s", !n || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value,
		 !!n, prefixes + n);
	return text;
}

char *map_label(char text[MAP_LABEL], const struct map_value *value)
{
	char number[MAP_NUMBER];

	if (value->state == MAP_ABSENT)
		return strcpy(text, "-");
	if (value->state == MAP_NONE)
		return strcpy(text, "n/a");
	snprintf(text, MAP_LABEL, "%s%s", value->state == MAP_TURNS ? "~" :
		 value->state == MAP_ODD ? "!" : "", map_number(number, value->value));
	return text;
}

bool map_is(const struct map_value *value)
{
	return value->state >= MAP_ODD;
}

struct map_value map_sum(const struct map_value *values, int num)
{
	struct map_value sum = {};
	int i;

	for (i = 0; i < num; i++) {
		if (values[i].state == MAP_ABSENT)
			continue;
		if (sum.state == MAP_ABSENT || values[i].state < sum.state) {
			sum.state = values[i].state;
			sum.why = values[i].why;
		}
		sum.value += values[i].value;
	}
	return sum;
}

double map_share(const struct map_value *value, double most)
{
	return map_is(value) && most > 0 ? value->value / most : 0;
}

const char *map_peer(const struct map *map, int package, int port)
{
	const char *peer = map->topology.link[package][port].peer;

	return *peer ? peer : "?";
}

bool map_busiest(const struct map *map, int package, int port)
{
	return map->busiest.package == package && map->busiest.port == port;
}
