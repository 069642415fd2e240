"""How Sphinx builds the site: `python3 dev.py docs`."""

from __future__ import annotations

import os
import tempfile

from nbclient import NotebookClient

import dask_graphflow

project = "dask-graphflow"
author = "dask-graphflow contributors"
copyright = author
release = version = dask_graphflow.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]
nitpicky = True

# Pages run while they are built, each in a kernel of its own. Code that fails ends the build.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True
# By default, a kernel listens on six TCP ports, which everybody on the machine can reach.
# One of them is for the output of forked processes. No page has such output.
OUTPUT = "get_ipython().kernel.iopub_thread"
sockets = tempfile.TemporaryDirectory(prefix="graphflow-docs-")
create = NotebookClient.create_kernel_manager


def without_ports(client):
    """Return the manager of a new kernel, which listens on sockets in a private folder."""
    client.extra_arguments = [
        f"--IPKernelApp.exec_lines={OUTPUT}._pipe_flag = False",
        f"--IPKernelApp.exec_lines={OUTPUT}.schedule({OUTPUT}._pipe_in.close)",
    ]
    manager = create(client)
    manager.transport = "ipc"
    manager.connection_file = os.path.join(tempfile.mkdtemp(dir=sockets.name), "kernel.json")
    return manager


NotebookClient.create_kernel_manager = without_ports
# For estimates on pages, this build measures the machine.
calibration = tempfile.TemporaryDirectory(prefix="graphflow-docs-")
os.environ["DASK_GRAPHFLOW__CALIBRATION__PATH"] = calibration.name

templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say them
toc_object_entries_show_parents = "hide"  # "pagerank()": there is no room for "Graph.pagerank()"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# Known sections, in order; summaries that are sentences; parameters that are described.
# tests/api/test_docstrings.py checks the contents of the sections.
numpydoc_validation_checks = {"GL06", "GL07", "PR07", "PR10", "RT03", "SS02", "SS03", "YD01"}
# These names have no page of their own; both are on the page of EdgeOp.
nitpick_ignore = [("py:attr", "columns"), ("py:meth", "EdgeOp.bind")]

html_theme = "pydata_sphinx_theme"
html_title = "dask-graphflow"
html_sidebars = {"gallery/index": []}  # the section is a single page
html_static_path = ["_static"]
html_css_files = ["site.css", "api.css"]
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "github_url": "https://github.com/dask-graphflow/dask-graphflow",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
