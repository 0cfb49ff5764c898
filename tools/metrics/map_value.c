// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values as a map has them: short, and with what is to be known of them.
 */
#include <math.h>

#include "map.h"

char *map_number(double value)
{
	static const char prefixes[] = " kMGTPE";
	int n = 0;

	/* What would be rounded up to four digits gets the next prefix. */
	while (value >= 999.5 && prefixes[n + 1]) {
		value /= 1000;
		n++;
	}
	return format("%.*f%.*s", !n || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, !!n,
		      prefixes + n);
}

char *map_label(const struct map_value *value)
{
	static const char * const marks[] = {
		[MAP_ABSENT] = "-", [MAP_NONE] = "n/a", [MAP_ODD] = "!", [MAP_TURNS] = "~",
		[MAP_WHOLE] = "",
	};

	return format("%s%s", marks[value->state], map_is(value) ? map_number(value->value) : "");
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
	return map_is(value) && most > 0 ? fmax(fmin(value->value / most, 1), 0) : 0;
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
