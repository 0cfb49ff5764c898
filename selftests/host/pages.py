#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Links of the pages lead somewhere, each page is in the table of contents, pictures are current, and
the messages in troubleshooting.md are those of the programs.

A link is to a file, and to a heading in it if it has a #. Documentation/index.md is the table of
contents. Each check is tried on something wrong as well.
"""
import glob
import hashlib
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INDEX = 'Documentation/index.md'
CODE = re.compile(r'^ *```.*?^ *```$|^(?:\t|    ).*?$|`[^`\n]*`', re.M | re.S)
LINK = re.compile(r'\]\(([^)\s]+)\)')
# What other files call a page by.
NAMED = re.compile(r'\bDocumentation/[\w/.-]+\.md\b(?:#[\w-]+)?')


def text_of(path):
    """A file of the project."""
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def anchors(text):
    """Of the headings, as GitHub and Sphinx make them."""
    heads = re.findall(r'^#+ (.*)$', re.sub(r'^ *```.*?^ *```$', '', text, flags=re.M | re.S), re.M)
    return {re.sub(r'[^\w -]', '', re.sub(r'\]\([^)]*\)', '', head.strip())).lower().replace(' ', '-') for head in heads}


def dead(path, text):
    """Links of a page that lead nowhere."""
    for link in LINK.findall(CODE.sub('', text)):
        to, _, anchor = link.partition('#')
        target = os.path.normpath(os.path.join(os.path.dirname(path), to)) if to else path
        if re.match('[a-z]+:', link):
            if not re.match(r'https://[\w.-]+\.[a-z]+(/\S*)?$', link):
                yield f'{path}: {link} is no address'
        elif not os.path.exists(os.path.join(TOP, target)):
            yield f'{path}: no {link}'
        elif anchor and anchor not in anchors(text if target == path else text_of(target)):
            yield f'{path}: no heading {link}'


def unlisted(pages, index):
    """Pages that are not in the table of contents."""
    listed = {os.path.normpath(os.path.join('Documentation', to)) for to in LINK.findall(index)}
    yield from (f'{INDEX} lacks {page}' for page in sorted(pages - listed - {INDEX}))


def old_picture(source, style, picture):
    """A picture that is not made from this source."""
    digest = hashlib.sha256((source + style).encode()).hexdigest()[:16]
    if digest not in picture.partition('\n')[0]:
        yield 'not made from its source: make -C Documentation/pictures'


def not_said(page, sources):
    """Messages that troubleshooting.md quotes and no program has. N and numbers are any."""
    quoted = re.findall(r'(?:`status`|kernel log says)[^|"]*"([^"]+)"', page)
    table = page.partition('## What the driver says')[2].partition('\n## ')[0]
    for row in re.findall(r'^\| (.*?) \|', table, re.M):
        quoted += [] if row.startswith('message') else row.split('; ')
    for text in quoted:
        form = re.escape(text.strip()).replace(r'\.\.\.', '.*')
        if not re.search(re.sub(r'\bN\b|\b\d+\b', lambda found: f'(%d|{found.group()})', form), sources):
            yield f'no program says "{text}"'


def tells(name, found):
    """A check that must find something."""
    ktap.result(f'{name} is found', [] if list(found) else ['nothing is found'])


ktap = Ktap()
files = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard'], cwd=TOP, stdout=subprocess.PIPE,
                       encoding='utf-8', check=True).stdout.split('\n') if os.path.exists(f'{TOP}/.git') else \
    [os.path.relpath(path, TOP) for path in glob.glob(f'{TOP}/**', recursive=True)]
files = [path for path in files if os.path.isfile(os.path.join(TOP, path))]
pages = {path for path in files if re.match(r'(README|CONTRIBUTING|Documentation/.*)\.md$', path)}
manuals = {path for path in files if path.startswith('Documentation/man/')}

ktap.result(f'all links of {len(pages)} pages lead somewhere',
            [wrong for page in sorted(pages) for wrong in dead(page, text_of(page))])
for wrong in ('no/such.md', 'index.md#no-such-heading', '#no-such-heading', 'http://elsewhere'):
    tells(f'a link to {wrong}', dead(INDEX, f'[x]({wrong})'))
ktap.result('every page and man page is in the table of contents', unlisted(pages | manuals, text_of(INDEX)))
tells('a page that is not', unlisted({'Documentation/no-such.md'}, text_of(INDEX)))
ktap.result('pages that other files name are there', [
    wrong for path in files if path.startswith(('drivers/', 'include/', 'metrics/', 'tools/', 'selftests/', 'NEWS'))
    and not path.endswith('/pages.py')
    for name in NAMED.findall(open(os.path.join(TOP, path), encoding='utf-8', errors='replace').read())
    for wrong in dead(path, f'[x]({os.path.relpath(name, os.path.dirname(path) or ".")})')])
said = re.sub(r'"\s*\n\s*"', '', '\n'.join(text_of(path) for path in files if re.match(r'(drivers|tools/metrics)/.*\.c$', path)))
ktap.result('the messages in troubleshooting.md are those of the programs',
            not_said(text_of('Documentation/troubleshooting.md'), said))
tells('a message that no program has', not_said('the kernel log says "no such message"', said))
css = text_of('Documentation/pictures/style.css')
ktap.result('every picture is made from its source', [
    f'{path}: {wrong}' for path in files if path.endswith('.dot')
    for wrong in old_picture(text_of(path), css, text_of(path[:-3] + 'svg'))])
tells('a picture of another source', old_picture('digraph { a }', css, text_of('Documentation/pictures/stack.svg')))
sys.exit(ktap.end())
