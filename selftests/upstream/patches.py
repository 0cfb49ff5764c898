#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Our changes to Linux fit the source of each kernel, one by one and together, and come out as
patches that the kernel's own checkpatch, git am and patch accept.

TEST: none
SOAK: 6.1 6.12 newest
"""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import vm
from ktap import Ktap


DOC = os.path.join(vm.TOP, 'Documentation', 'upstream')
SERIES = vm.read(f'{DOC}/series').split()
# Who sends them.
os.environ.update(GIT_AUTHOR_NAME='A', GIT_AUTHOR_EMAIL='a@example.org', GIT_COMMITTER_NAME='A',
                  GIT_COMMITTER_EMAIL='a@example.org')
# For checkpatch: perf's names with a hyphen are no subtraction, and a table of the kernel has its own
# style.
HARMLESS = "spaces preferred around that '-'|space prohibited .* square bracket"


def patches(kernel):
    """The files of a kernel's patches, in order."""
    return [vm.path(kernel, f'{i:04}-{name}.patch') for i, name in enumerate(SERIES, 1)]


def source(kernel):
    """Where its source is."""
    known = vm.shell('"$TOP/tools/vm/kernel" --cached --source "$1"', kernel)
    return re.search('^SOURCE=(.*)', known, re.M).group(1)


def tree(kernel):
    """What they change, as it was, in a repository; returns where."""
    top, was = vm.path('tree'), source(kernel)
    shutil.rmtree(top, ignore_errors=True)
    for name in set(re.findall(r'^\+\+\+ b/(.*)', ''.join(map(vm.read, patches(kernel))), re.M)):
        os.makedirs(os.path.dirname(f'{top}/{name}'), exist_ok=True)
        if os.path.exists(f'{was}/{name}'):
            shutil.copy(f'{was}/{name}', f'{top}/{name}')
    vm.shell('cd "$1" && git init -q && git add . && git commit -qm source', top)
    return top


def made(kernel):
    """Makes the patches, and yields what is wrong with which there are."""
    vm.shell('"$TOP/tools/upstream" patches "$@"', kernel, vm.path(kernel))
    yield from vm.differ(patches(kernel), sorted(glob.glob(vm.path(kernel, '*.patch'))))


def checked(kernel):
    """What checkpatch says. The sign-off is the sender's; the commits of Fixes tags are in Linux's
    history, which Debian's source does not have."""
    said = vm.shell('"$1/scripts/checkpatch.pl" --strict --no-tree --terse --no-summary '
                    '--ignore MISSING_SIGN_OFF,UNKNOWN_COMMIT_ID "${@:2}" || [ $? = 1 ]',
                    source(kernel), *patches(kernel))
    yield from (line for line in said.splitlines() if not re.search(HARMLESS, line))


def together(kernel):
    """git am takes no line that is not where it should be, nor a letter."""
    top = tree(kernel)
    vm.shell('git -C "$1" am -q "${@:2}"', top, *patches(kernel))
    subjects = (vm.read(f'{DOC}/{name}/message').splitlines()[0] for name in SERIES)
    yield from vm.differ(['source', *subjects],
                         vm.shell('git -C "$1" log --reverse --format=%s', top).splitlines())


def each(kernel):
    """Alone, each may be further up, but all that surrounds it has to be there."""
    for patch in patches(kernel):
        vm.shell('patch -F0 -d "$1" -p1 <"$2"', tree(kernel), patch)
    yield from ()


ktap = Ktap()
for under_test in vm.kernels():
    for case, check in (('the patches are made', made), ('checkpatch is silent', checked),
                        ('they apply together', together), ('they apply one by one', each)):
        ktap.result(f'{under_test}: {case}', check(under_test))
sys.exit(ktap.end())
