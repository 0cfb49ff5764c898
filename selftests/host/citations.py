#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is cited of the manuals is there: the section, and the words in quotation marks.

spec/citations.json has the sections and tables that are cited anywhere, with their titles, and
the readings the phrases they rest on (`says`) and those whose absence they claim (`lacks`).
With MANUALS, a directory with the text of the manuals, each is looked up in it.
"""
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MANUALS = os.environ.get('MANUALS')
CITED = re.compile(r'(?<![\w.-])([Tt]ables? (?:2|18)-\d+|2\.[1-9]\.\d+(?:\.\d+)*|18\.\d+(?:\.\d+)*)(?![\w.]*\d)')
WHERE = ('Documentation', 'spec', 'metrics', 'drivers', 'tools')


def text_of(path):
    """A file of the project."""
    with open(os.path.join(TOP, path), encoding='utf-8', errors='replace') as f:
        return f.read()


def sources():
    """(path, text) of all that may cite."""
    for where in WHERE:
        for root, _, files in os.walk(f'{TOP}/{where}'):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(root, name), TOP)
                if re.search(r'(\.(md|json|metric|c|h|py)|^message)$', name) and not path.endswith('citations.json'):
                    yield path, text_of(path)


def flat(text):
    """Without line breaks, and with plain quotation marks."""
    for a, b in ('“"', '”"', "’'", "‘'"):
        text = text.replace(a, b)
    return re.sub(r'\s+', ' ', text)


def unknown(texts, sections):
    """Sections and tables that are cited and in no list."""
    for path, text in texts:
        # A version of a program is no section: only behind the name of a manual, or a table.
        for found in CITED.finditer(text):
            name = re.sub('^[Tt]ables?', 'Table', found.group(1))
            before = text[max(0, found.start() - 60):found.start()]
            manual = name.startswith('Table') or re.search(r'(?i)guide|SDM|section|manual', before)
            if manual and name not in sections:
                yield f'{path}: no {name} in spec/citations.json'


class Manual:
    """Its text, cut at the titles that are known."""

    def __init__(self, text, sections):
        self.text = flat(text)
        self.sections = sections
        self.at = {name: self.text.find(f'{name}{"." * name.startswith("Table")} {flat(title)}')
                   for name, title in sections.items() if title}

    def missing(self):
        """Titles that it lacks."""
        return [f'no {name} {self.sections[name]}' for name, at in self.at.items() if at < 0]

    def of(self, name):
        """A section with those below it; a table to whatever is next."""
        start = self.at[name]
        ends = [at for other, at in self.at.items() if at > start and (
            name.startswith('Table') or not other.startswith(('Table', f'{name}.')))]
        return self.text[start:min(ends, default=None)]


def wrong_phrases(rows, manual):
    """Phrases that are not where they are said to be."""
    for row in rows:
        for kind in ('says', 'lacks'):
            for name, phrase in row.get(kind, []):
                if name not in manual.at:
                    yield f'{row["name"]}: the text of {name} is not known'
                elif (flat(phrase) in manual.of(name)) != (kind == 'says'):
                    yield f'{row["name"]}: {name} {"lacks" if kind == "says" else "says"} "{phrase}"'


# Where a column leads: model, driver, and what tests it or makes use of it.
COLUMNS = ('tools/silicon|spec', 'drivers|include', 'selftests|metrics|spec|Documentation')
# What a test is in a file of tests. Elsewhere a whole word will do, but not in a comment.
TESTS = {'.c': r'\{ "[^"]*"[^"}]*,\s*%s[ ,]', '.h': r'\{ "[^"]*"[^"}]*,\s*%s[ ,]', '.py': r'def %s\(',
         '.json': r'"(what|name)": "(.*: )?%s"', '.metric': r'(?m)^(metric|\tvalid) %s\b', '.md': '%s'}


def leads(path, what, test):
    """Is it there?"""
    suffix = os.path.splitext(path)[1]
    form = TESTS.get(suffix, r'\b%s\b') if test else r'(?<!\w)%s(?!\w)'
    text = text_of(path)
    if suffix in ('.c', '.h'):
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    return what and re.search(form % re.escape(what), text)


def wrong_statements(page, sections, files):
    """References of the table of statements that lead nowhere, and rows without any."""
    for row in page.splitlines():
        cells = [c.strip() for c in row.strip('|').split('|')]
        if not row.startswith('| ') or cells[0] == 'section':
            continue
        if len(cells) != 6:
            yield f'not six columns: {row}'
            continue
        yield from (f'no section {name}: {cells[1]}' for name in cells[0].split(', ')
                    if name not in sections)
        for where, cell in zip(COLUMNS, cells[2:5]):
            name, _, what = cell.strip('`').partition(':')
            found = [p for p in files if os.path.basename(p) == name and
                     re.match(f'({where})/', os.path.relpath(p, TOP))]
            if cell == '-' and not cells[5]:
                yield f'nothing, and not why: {row}'
            elif cell == '-':
                continue
            elif not found:
                yield f'no {name}: {cells[1]}'
            elif not any(leads(p, what, where == COLUMNS[2]) for p in found):
                yield f'no "{what}" in {name}: {cells[1]}'


def no_phrase(rows):
    """Readings that name a section and not what it says, or quote what they do not list."""
    for row in rows:
        listed = {name for kind in ('says', 'lacks') for name, _ in row.get(kind, [])} | set(row.get('lost', []))
        names = [re.sub('^[Tt]ables?', 'Table', n) for n in CITED.findall(row.get('source', ''))]
        yield from (f'{row["name"]}: {n} without a phrase' for n in names
                    if n not in listed)
        said = [flat(phrase) for _, phrase in row.get('says', [])]
        yield from (f'{row["name"]}: quotes "{q}"' for q in re.findall('"([^"]+)"', row.get('source', ''))
                    if q not in said)


ktap = Ktap()
data = json.loads(text_of('spec/citations.json'))
sections = {name: title for manual in data['manuals'].values() for name, title in manual.items()}
rows = json.loads(text_of('spec/readings.json'))['readings'] + data['quotes']

ktap.result('every section and table that is cited is listed', unknown(sources(), sections))
ktap.result('one that is not is found',
            [] if list(unknown([('x', 'guide section 2.9.7')], sections)) else ['nothing is found'])
ktap.result('every reading has the words that it rests on', no_phrase(rows))
ktap.result('quotations that are none of the manual are found', [] if list(no_phrase(
    [{'name': 'x', 'source': 'guide, Table 2-54: "flits sent by the port"'}])) else ['nothing is found'])
ktap.result('what is quoted in Documentation is listed', [
    f'{path}: "{q}" ({name})' for path, text in sources() if path.startswith('Documentation')
    for q, name in re.findall(r'"([^"]+)" \((?:guide|SDM),? (?:section )?(Table [\d-]+|[\d.]+\d)\)', flat(text))
    if [name, q] not in [pair for row in rows for pair in row.get('says', [])]])
page = text_of('Documentation/statements.md')
files = [os.path.join(root, name) for where in (*WHERE, 'include', 'selftests')
         for root, _, names in os.walk(f'{TOP}/{where}') for name in names]
ktap.result('every statement of the manuals leads to code and a test', wrong_statements(page, sections, files))
ktap.result('references that lead nowhere are found', [
    what for section, *cells in (
        ('2.1.1', 'package.c:no_such', 'pmi.c:uncore_freeze', 'nmi.c:counting'),
        ('2.1.1', 'none.c:freeze', 'pmi.c:uncore_freeze', 'nmi.c:counting'),
        ('2.1.1', 'package.c', 'pmi.c:uncore_freeze', 'nmi.c:counting'),
        ('2.1.1', 'pmi.c:uncore_freeze', 'pmi.c:uncore_freeze', 'nmi.c:counting'),
        ('2.1.1', 'package.c:the', 'pmi.c:uncore_freeze', 'nmi.c:counting'),
        ('2.1.1', 'package.c:freeze', 'pmi.c:uncore_freeze', 'nmi.c:rings'),
        ('2.1.1', '-', '-', '-'),
        ('2.9.9', 'package.c:freeze', 'pmi.c:uncore_freeze', 'nmi.c:counting'))
    for what in [f'| {section} | x | {" | ".join(cells)} | |']
    if len(list(wrong_statements(what, sections, files))) != (3 if cells == ['-'] * 3 else 1)])
if MANUALS:
    manual = Manual('\n'.join(text_of(p) for p in sorted(glob.glob(f'{MANUALS}/*.txt'))), sections)
    ktap.result('every title is in the manuals', manual.missing())
    ktap.result('every phrase is in its section', wrong_phrases(rows, manual))
    ktap.result('one of another section is found', [] if list(wrong_phrases(
        [{'name': 'x', 'says': [['2.1.4', 'in order to see a new freeze']]}], manual))
        else ['nothing is found'])
else:
    print('# MANUALS is not set: titles and phrases are not looked up')
sys.exit(ktap.end())
