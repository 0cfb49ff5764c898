#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every open question about the hardware is in spec/readings.json, and what names one means it.

The data are complete; what is made of them is fresh; each open question that the documentation, the
spec or the model speaks of has a name in them; the model asks for each reading it can be; and
what the model cannot be is refused. Each check is tried on something wrong as well.
"""
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
from ktap import Ktap

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = f'{TOP}/tools/readings'
MODEL = f'{TOP}/tools/silicon/model'
SOURCES = re.compile(r'\b(guide|SDM|LIKWID|mainline|programs?|PCM)\b')
LEVELS = ('count', 'pmi', 'hand')
LINK = re.compile(r'\[([a-z0-9_]+)\]\(readings\.md#([a-z0-9_]+)\)')


def load_tool():
    """tools/readings, which is a program without suffix."""
    loader = importlib.machinery.SourceFileLoader('readings', TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('readings', loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


tool = load_tool()


def text_of(path):
    """A file of the project."""
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


def wrong_data(rows):
    """What a reading lacks."""
    for r in rows:
        name = r['name']
        if not re.fullmatch('[a-z][a-z0-9_]+', name) or len(r['answers']) < 2 or not r['doubt']:
            yield f'{name}: no name, no doubt, or not two answers'
        if [a for a in r['answers'] if not re.fullmatch('[a-z0-9_]+', a) or a == 'undetermined']:
            yield f'{name}: an answer that is no word'
        if r['model'] not in ('all', 'first') or not SOURCES.search(r['source']):
            yield f'{name}: model or source'
        if ('experiment' in r) == bool(r.get('no_experiment')) or \
                'experiment' in r and (r['experiment']['level'] not in LEVELS or
                                       not r['experiment']['how']):
            yield f'{name}: neither an experiment nor the reason why there is none'
        driver = r['driver']
        if driver['verdict'] == 'indifferent':
            if not driver['why']:
                yield f'{name}: indifferent, but not why'
        elif driver['verdict'] != 'limit' or not driver['symptom']:
            yield f'{name}: no verdict on the driver'
        elif f'(readings.md#{name})' not in text_of(f'Documentation/{driver["page"]}'):
            yield f'{name}: {driver["page"]} does not tell of the limit'
    names = [r['name'] for r in rows]
    yield from (f'{n}: twice' for n in set(names) if names.count(n) > 1)


def doubts(page):
    """The items below "## Open questions", or the paragraph if there are none."""
    for section in re.findall(r'^## Open questions\n(.*?)(?=^## |\Z)', page, re.M | re.S):
        # A block of commands in between belongs to the item; what comes behind does not.
        items = re.split(r'^- ', section, flags=re.M)[1:]
        yield from items or [section]


def wrong_page(page, known):
    """Doubts without a name, names without a doubt."""
    for item in doubts(page):
        if 'readings.md#' not in item:
            yield f'a doubt without a reading: {item.splitlines()[0]}'
    for shown, name in LINK.findall(page):
        if name not in known or shown != name:
            yield f'no reading {name}'


def wrong_spec(page, known):
    """Rows that are open."""
    for row in page.splitlines():
        if not re.search(r'\| open\b|not recovered|is not\s+stated', row):
            continue
        names = re.findall(r'\(([a-z0-9_]+)\)', row)
        if not [n for n in names if n in known]:
            yield f'open, without a reading: {row}'


def wrong_choices(source, known):
    """Choices in the head of a file of the model, and names in brackets anywhere in comments."""
    for head in re.findall(r'Choices where.*?:\n(.*?)(?:\n \*\n|\*/)', source, re.S):
        for item in re.split(r'^ \* - ', head, flags=re.M)[1:]:
            if not re.match(r'\[', item):
                yield f'a choice without a reading: {item.splitlines()[0]}'
    for comment in re.findall(r'/\*.*?\*/', source, re.S):
        for name in re.findall(r'(?<=[\s.(])\[([a-z][a-z0-9]*(?:_[a-z0-9]+)*)\](?=[\s,.;:)])', comment):
            if name not in known:
                yield f'no reading {name}'


def wrong_list(page, known):
    """The list of the model's choices."""
    section = page.split("## What is the model's choice")[1].split('\n## ')[0]
    for item in re.split(r'^- ', section, flags=re.M)[1:]:
        names = [n.strip() for group in re.findall(r'\(([a-z0-9_, \n]+)\)', item)
                 for n in group.split(',')]
        if not [n for n in names if n in known]:
            yield f'a choice without a reading: {item.splitlines()[0]}'


def wrong_model(rows, sources):
    """A reading the model is said to take and never asks for."""
    code = re.sub(r'/\*.*?\*/', '', sources, flags=re.S)
    for r in rows:
        asked = f'reading(RD_{r["name"].upper()})' in code
        if asked != (r['model'] == 'all'):
            yield f'{r["name"]}: the data say {r["model"]}, the model does' + ' not' * (not asked) + ' ask'


def wrong_experiments(rows, text):
    """Experiments that hwcheck lacks, or has at another level or for another machine."""
    of = {'X7500': ['xeon7500'], 'E7': ['westmereex'], '': ['xeon7500', 'westmereex']}
    there = {name: (level.lower(), of[only]) for level, name, only in re.findall(
        r'^\t' r'E\((\w+), (\w+), .*?(?:\.of = (\w+))?\),$', text, re.M)}
    for r in rows:
        level, on = r.get('experiment', {}).get('level'), tool.machines(r)
        want = (level, on) if level in ('count', 'pmi') else None
        if there.pop(r['name'], None) != want:
            yield f'{r["name"]}: the data want {want or "no experiment"} of hwcheck'
    yield from (f'{name}: an experiment about nothing' for name in there)


def fresh(option, path):
    """What is made of the data."""
    made = subprocess.run([TOOL, option], stdout=subprocess.PIPE, encoding='utf-8', check=True)
    if made.stdout != text_of(path):
        yield f'{path} is not what tools/readings {option} makes'


def refused(text, why, machine=None):
    """It has to be, and for this reason."""
    try:
        tool.parse(text, machine)
    except tool.Wrong as wrong:
        if why not in str(wrong):
            yield f'{text}: {wrong}'
        return
    yield f'{text} is accepted'


def tells(name, found, what):
    """A check that must find something."""
    ktap.result(f'{name} finds {what}', [] if list(found) else ['nothing is found'])


ktap = Ktap()
rows = json.loads(text_of('spec/readings.json'))['readings']
known = {r['name'] for r in rows}
sources = {p: text_of(p) for p in sorted(glob.glob(f'{MODEL}/*/*.c'))}

ktap.result(f'{len(rows)} readings are complete', wrong_data(rows))
tells('the check of the data', wrong_data([{**rows[0], 'answers': {'one': 'only'}}]), 'a lone answer')
tells('the check of the data', wrong_data([{**rows[0], 'source': 'we think so'}]), 'no source')
tells('the check of the data', wrong_data([{k: v for k, v in rows[0].items() if k != 'experiment'}]),
      'no experiment')
tells('the check of the data', wrong_data([{**rows[0], 'driver': {
    'verdict': 'limit', 'symptom': 'x', 'page': 'install.md'}}]), 'a limit no page tells of')

pages = [p for p in sorted(glob.glob(f'{TOP}/Documentation/*.md')) if not p.endswith('/readings.md')]
ktap.result('every open question in Documentation is in the data',
            [f'{os.path.basename(p)}: {w}' for p in pages for w in wrong_page(text_of(p), known)])
tells('the check of pages', wrong_page('## Open questions\n\n- *This.* Not known.\n', known), 'one without')
tells('the check of pages', wrong_page('see [that](readings.md#that)', known), 'one not in the data')

ktap.result('what spec/ calls open has a reading',
            [w for p in ('errata', 'hierarchy') for w in wrong_spec(text_of(f'spec/xeon7500/{p}.md'), known)])
tells('the check of spec/', wrong_spec('| 2-6 | this | open |', known), 'one without')

ktap.result('every choice of the model has a reading',
            [f'{os.path.basename(p)}: {w}' for p, s in sources.items() for w in wrong_choices(s, known)] +
            list(wrong_list(text_of('Documentation/silicon.md'), known)))
tells('the check of the model', wrong_choices(' * Choices where one is open:\n * - cond is up.\n */', known),
      'a choice without')
tells('the check of the model', wrong_choices('/* It is [some_other]. */', known), 'one not in the data')
ktap.result('the model asks for each reading that it can be', wrong_model(rows, '\n'.join(sources.values())))
tells('the check of the model', wrong_model(rows, ''), 'one it never asks for')

experiments = text_of('tools/hwcheck/count.c') + text_of('tools/hwcheck/pmi.c')
ktap.result('hwcheck has the experiments', wrong_experiments(rows, experiments))
tells('the check of hwcheck', wrong_experiments(rows, experiments.replace('rst_all,', 'rst_some,')),
      'one that is missing')
ktap.result('the page and the headers are fresh',
            [*fresh('--page', 'Documentation/readings.md'), *fresh('--header', 'tools/silicon/model/readings.h')])
ktap.result('what the model cannot be is refused', [
    *refused('no_such=1', 'there are ' + sorted(known)[0]), *refused('rst_all=wave', 'pulse, level'),
    *refused('rst_all', 'pulse, level'), *refused('rst_all=pulse,rst_all=level', 'two answers'),
    *refused('m_fvid=any_1', 'cannot be'), *refused('@/nowhere', 'no report'), *refused('@/dev/null', 'no report'),
    *refused('cbox_sides=by_eight', 'no open question of', 'xeon7500')])


def of(report):
    """A report, as a file."""
    path = f'{directory}/{len(os.listdir(directory))}.json'
    with open(path, 'w', encoding='utf-8') as f:
        f.write(report if isinstance(report, str) else json.dumps(report))
    return '@' + path


def answers(**rows):
    return {name: {'answer': answer} for name, answer in rows.items()}


with tempfile.TemporaryDirectory() as directory:
    taken = tool.parse(of({'machine': 'xeon7500', 'readings': answers(
        rst_all='level', cond='undetermined', refreeze='not run')}), 'xeon7500')
    ktap.result('of a report what it has found is taken', [] if taken == {'rst_all': 'level'} else [str(taken)])
    newer = of({'readings': answers(rst_all='level', of_tomorrow='yes')})
    done = subprocess.run([TOOL, newer], capture_output=True, encoding='utf-8', check=False)
    ktap.result('a reading of a newer report is left out, with a word',
                [] if done.stdout == 'rst_all=level\n' and re.fullmatch(
                    r'readings: of_tomorrow .*\n', done.stderr) else [done.stdout, done.stderr])
    broken = ('', '[]', '{', '7', '{"readings": []}', '{"readings": {"cond": 7}}', '[' * 10**5, '\0',
              '{"readings": {"cond": {"answer": {}}}}',
              # What a terminal would obey
              *(json.dumps({'machine': machine, 'readings': answers(**{name: answer})}) for machine, name, answer in (
                  ('\033[2J', 'cond', 'never'), ('xeon7500', '\033[2J', 'never'), ('xeon7500', 'cond', '\033[2J'))))
    ktap.result('a broken report is one line', [w for text in broken for w in refused(of(text), 'no report of hwcheck')])
    ktap.result('the report of another machine is refused', refused(
        of({'machine': 'westmereex', 'readings': {}}), 'add --machine westmereex', 'xeon7500'))
sys.exit(ktap.end())
