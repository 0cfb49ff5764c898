// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formulas, computed by muParser.
 */
#include <math.h>
#include <muParserDLL.h>
#include <string.h>

#include "metrics.h"

static void formula_error(muParserHandle_t parser)
{
	/* mupError() tells; muParser would print it otherwise. */
	(void)parser;
}

/* muParser can also set variables, which no formula has to. */
static bool assigns(const char *text)
{
	const char *at;

	for (at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
		if (at[1] == '=')
			at++;
		else if (at == text || !strchr("<>!", at[-1]))
			return true;
	}
	return false;
}

char *formula_set(struct formula *formula, struct metric *metric, char *text)
{
	muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
	char *error = NULL;
	int i, j, num = 1;

	mupSetErrorHandler(parser, formula_error);
	for (i = 0; i <= metric->num_events && !error; i++) {
		metric->var[i] = 1;
		mupDefineVar(parser, i < metric->num_events ? metric->event[i].name : "seconds",
			     &metric->var[i]);
		/* That it asks for an error takes it away. */
		if (mupError(parser))
			error = format("%s", mupGetErrorMsg(parser));
	}
	if (!error && assigns(text))
		error = format("it sets a variable");
	if (!error) {
		/* What is wrong with it shows when it is evaluated once. */
		mupSetExpr(parser, text);
		mupEvalMulti(parser, &num);
		if (mupError(parser))
			error = format("%s", mupGetErrorMsg(parser));
		else if (num != 1)
			error = format("it has %d values", num);
	}
	if (error) {
		mupRelease(parser);
		return error;
	}
	for (i = 0; i < mupGetExprVarNum(parser); i++) {
		const char *name;
		double *var;

		mupGetExprVar(parser, i, &name, &var);
		for (j = 0; j < metric->num_events; j++)
			metric->used |= (var == &metric->var[j]) << j;
	}
	formula->text = text;
	formula->parser = parser;
	return NULL;
}

double formula_value(const struct formula *formula)
{
	double value = mupEval(formula->parser);

	return mupError(formula->parser) ? NAN : value;
}
