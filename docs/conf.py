"""Settings by which `make docs` builds the pages of this folder."""

import os
import re
import sys
import warnings
from pathlib import Path

from typer.testing import CliRunner

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

import rubric_order  # noqa: E402
from rubric_order.commands.app import app as program  # noqa: E402

# sphinx_autodoc_typehints calls what Sphinx 10 will not have; both are pinned.
warnings.filterwarnings("ignore", message=".*_RstSnippetParser.set_application.*")

project = "rubric-order"
author = copyright = "The rubric-order authors"
release = version = rubric_order.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_autodoc_typehints",
    "sphinx_copybutton",
    "sphinx_design",
]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Pages with cells of Python are run, and an error ends the build. Their Python finds the library where this file does,
# takes no settings of the user, and does not warn that it talks to this process without encryption.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds per cell
_KERNEL = HERE / "_generated" / "ipython"
os.environ["IPYTHONDIR"] = str(_KERNEL)
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(ROOT / "workflow" / "scripts"), os.environ.get("PYTHONPATH")])
)
exclude_patterns = ["_build", "_generated/ipython"]
html_theme = "furo"
html_title = "rubric-order"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_js_files = ["keyboard.js"]
html_copy_source = False
pygments_style = "default"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # by sphinx_autodoc_typehints
typehints_document_rtype = True
napoleon_google_docstring = True
napoleon_custom_sections = ["Source"]
# Other projects' names are linked where the network may be used. Without it the pages are the same but for these links.
_OTHERS = {"python": "docs.python.org/3", "numpy": "numpy.org/doc/stable", "pandas": "pandas.pydata.org/docs"}
online = bool(os.environ.get("DOCS_ONLINE"))
intersphinx_mapping = {name: (f"https://{at}/", None) for name, at in _OTHERS.items()} if online else {}

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)[^)#\s]*)(#[^)\s]*)?\)")


def _of_the_project(match: re.Match) -> str:
    """A link of a page to a file of the project: it can be downloaded; a folder is only named."""
    text, path = match[1], match[2]
    if (HERE / path).is_file():
        return f"{{download}}`{text.strip('`')} <{path}>`"
    return text


def _read(app: object, name: str, source: list[str]) -> None:
    if not name.startswith("_generated/"):
        source[0] = _LINK.sub(_of_the_project, source[0])


def _write_pages(app: object) -> None:
    """The pages that lie elsewhere, and the help of every command as the program prints it."""
    parts = [
        "# The command line",
        "",
        "`pip install .` installs the program `rubric-order`. `--help` of each command says:",
        "",
    ]
    for command in program.registered_commands:
        said = CliRunner().invoke(program, [command.name, "--help"], env={"COLUMNS": "100", "TERM": "dumb"}).output
        parts += [f"## {command.name}", "", "```text", said.strip(), "```", ""]
    folder = HERE / "_generated"
    (_KERNEL / "profile_default").mkdir(parents=True, exist_ok=True)
    (_KERNEL / "profile_default/ipython_kernel_config.py").write_text(
        "c.IPKernelApp.log_level = 40\n", encoding="utf-8"
    )
    (folder / "commands.md").write_text("\n".join(parts), encoding="utf-8")
    for name, path, here in (("config", "config/README.md", r"\.\./docs/"), ("changelog", "CHANGELOG.md", "docs/")):
        text = (ROOT / path).read_text(encoding="utf-8")
        text = re.sub(rf"\]\({here}", "](../", text)
        text = re.sub(r"\[([^\]]+)\]\((?!\.\./|#|https?:)[^)]*\)", r"\1", text)  # other files are only named
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def setup(app: object) -> None:
    """Connect what is above."""
    app.connect("source-read", _read)
    app.connect("builder-inited", _write_pages)
