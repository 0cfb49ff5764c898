# SPDX-License-Identifier: GPL-2.0-only
"""KTAP for tests in Python.

    from ktap import Ktap
    ktap = Ktap()
    ktap.result('it counts to three', [] if count() == 3 else ['no, to %d' % count()])
    sys.exit(ktap.end())
"""

SHOWN = 20


def note(text):
    """A diagnostic."""
    for line in str(text).splitlines():
        print('# ' + line, flush=True)


class Ktap:
    """Numbers results, and knows whether all is well."""

    def __init__(self):
        self.num = 0
        self.bad = False
        print('KTAP version 1', flush=True)

    def result(self, name, wrong=()):
        """One case. It passes if the list of what is wrong is empty."""
        wrong = list(wrong)
        self.num += 1
        self.bad |= bool(wrong)
        for text in wrong[:SHOWN]:
            note(text)
        if len(wrong) > SHOWN:
            note('and %d more' % (len(wrong) - SHOWN))
        print('%sok %d %s' % ('not ' if wrong else '', self.num, name), flush=True)

    def end(self):
        """The plan, and the status to exit with."""
        print('1..%d' % self.num + ('' if self.num else ' # SKIP for none of these kernels'))
        return int(self.bad)
