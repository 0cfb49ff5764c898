# SPDX-License-Identifier: GPL-2.0-only
"""KTAP for tests in Python.

    from ktap import Ktap
    ktap = Ktap()
    ktap.result('it counts to three', [] if count() == 3 else ['no, to %d' % count()])
    sys.exit(ktap.end())
"""

import re
import sys
import traceback

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
        sys.stdout.reconfigure(errors='backslashreplace')	# a note may have any byte
        print('KTAP version 1', flush=True)

    def result(self, name, wrong=()):
        """One case. It passes if the list of what is wrong is empty; what a generator of it raises
        is wrong, too."""
        found, wrong = wrong, []
        try:
            for text in found:
                wrong.append(text)
        except Exception:	# pylint: disable=broad-except
            wrong += traceback.format_exc().splitlines()[-SHOWN:]
        self.num += 1
        self.bad |= bool(wrong)
        if len(wrong) > SHOWN:	# the last lines say why a program has ended
            wrong[SHOWN // 2:-SHOWN // 2] = ['and %d more' % (len(wrong) - SHOWN)]
        for text in wrong:
            note(text)
        print('%sok %d %s' % ('not ' if wrong else '', self.num, name), flush=True)

    def guest(self, done, where):
        """The results of the test that vm.boot() ran, as our own. It has failed as well if it printed
        fewer than it planned, or ended otherwise than they say. Our machine has what it needs, so a
        skip is a failure."""
        seen, plan, bad = 0, None, 0
        for line in done.stdout.splitlines():
            found = re.match(r'(not )?ok (?:\d+ )?(.*)', line)
            if found:
                seen += 1
                self.num += 1
                bad |= bool(found.group(1))
                skipped = '# SKIP' in line
                self.bad |= skipped
                how = 'not ' if skipped else found.group(1) or ''
                print(f'{how}ok {self.num} {where}: {found.group(2)}')
            elif line.startswith('1..'):
                plan = int(line[3:].split()[0])
            elif not line.startswith('KTAP version'):
                note(line.removeprefix('# '))
        note(done.stderr)
        self.bad |= bool(bad)
        wrong = [] if seen and seen == plan else [f'{seen} of {plan} results']
        if done.returncode != bad:
            wrong.append(f'the machine ended with status {done.returncode}, not {bad}')
        self.result(f'{where}: all of it has run', wrong)

    def end(self):
        """The plan, and the status to exit with."""
        print('1..%d' % self.num + ('' if self.num else ' # SKIP for none of these kernels'))
        return int(self.bad)
