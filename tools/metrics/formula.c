// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formulas, computed by muParser.
 */
#include <muParserDLL.h>
#include <string.h>

#include "metrics.h"

static void formula_error(muParserHandle_t parser)
{
	/* mupError() tells; muParser would print it otherwise. */
	(void)parser;
}

/*
 * Sets a formula over the variables of a metric, whose events have to be known. What is
 * wrong with it shows when it is evaluated once.
 */
bool formula_set(struct formula *formula, struct metric *metric, const char *text, char **error)
{
	muParserHandle_t parser = mupCreate(muBASETYPE_FLOAT);
	int i;

	mupSetErrorHandler(parser, formula_error);
	for (i = 0; i <= metric->num_events; i++) {
		metric->var[i] = 1;
		mupDefineVar(parser, i < metric->num_events ? metric->event[i].name : "seconds",
			     &metric->var[i]);
	}
	if (!mupError(parser)) {
		mupSetExpr(parser, text);
		mupEval(parser);
	}
	if (mupError(parser)) {
		*error = strdup(mupGetErrorMsg(parser));
		mupRelease(parser);
		return false;
	}
	formula->text = strdup(text);
	formula->parser = parser;
	return true;
}

double formula_value(const struct formula *formula)
{
	return mupEval(formula->parser);
}
