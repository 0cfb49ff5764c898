# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx, for tools/html. The table of contents is that of index.md."""
import re

project = 'xeon7500-pmu'
extensions = ['myst_parser']
root_doc = 'Documentation/index'
myst_heading_anchors = 4
highlight_language = 'none'
html_theme = 'alabaster'
html_theme_options = {'show_powered_by': False, 'fixed_sidebar': True, 'page_width': '75rem', 'sidebar_width': '16rem'}
html_title = project
html_static_path = ['site.css']
html_css_files = ['site.css']
html_copy_source = False
# From file:// no page can read another.
html_show_search_summary = False
html_sidebars = {'**': ['about.html', 'searchbox.html', 'navigation.html']}


def add_toctrees(_, docname, source):
    """Each list of pages in index.md is a part of the navigation."""
    if docname == root_doc:
        parts = re.split(r'^(?=## )', source[0], flags=re.M)
        source[0] = ''.join(
            f'{part}\n```{{toctree}}\n:hidden:\n:caption: {part[3:].splitlines()[0]}\n'
            + '\n'.join(f'{title} <{page}>' for title, page in re.findall(r'\[([^]]+)\]\(([^):#]+)\.md\)', part)) + '\n```\n\n'
            if part.startswith('## ') else part for part in parts)


def setup(app):
    """Sphinx calls this."""
    app.connect('source-read', add_toctrees)
