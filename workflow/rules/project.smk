"""Where the files of the project are."""

import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

TAKEN = Path(".snakemake", "rubric_order")  # files of the project, where the workflow comes from a repository


def project_folder():
    """Folder of the project, absolute.

    A workflow that comes from a repository (`snakefile: github(...)`, as snakedeploy writes it) has its rules read by
    Snakemake one by one. Its jobs also need scripts, configs and resources. So those of its commit are taken into a
    folder below the working directory, which a link names: the paths of jobs stay when the commit changes.
    """
    here = workflow.current_basedir
    if not hasattr(here, "ref"):
        return Path(str(here)).parents[1]
    hosted = getattr(here, "hosted_repo", None)
    git = ["git", "-C", str(hosted.repo_clone if hosted else here.repo_path)]
    commit = subprocess.check_output([*git, "rev-parse", f"{here.ref}^{{commit}}"], text=True).strip()
    link, folder = TAKEN / "current", TAKEN / commit
    if not folder.exists():
        files = subprocess.check_output(
            [*git, "archive", commit, "Snakefile", "config", "envs", "resources", "workflow"]
        )
        TAKEN.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=TAKEN) as unfinished, tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(f"{unfinished}/files", filter="data")
            try:
                os.rename(f"{unfinished}/files", folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
    if not link.is_symlink() or os.readlink(link) != commit:
        with tempfile.TemporaryDirectory(dir=TAKEN) as unfinished:
            os.symlink(commit, f"{unfinished}/link")
            os.replace(f"{unfinished}/link", link)
    return link.absolute()
