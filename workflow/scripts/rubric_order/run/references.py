"""Stages that make reference answers at every score, or that report the cost and the progress of judging."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

from rubric_order import catalogue
from rubric_order.planning import references
from rubric_order.run.core import Stage, Wildcards, untracked
from rubric_order.settings.base import plain
from rubric_order.settings.judges import tracked
from rubric_order.settings.judges.judge import SamplingChange


class References(Stage):
    """Inputs and settings of the rules that make reference answers, round by round."""

    @property
    def made(self) -> list[str]:
        """Datasets whose reference answers may be made; a report of costs asks no judge, takes what exists and plans
        without the rest.
        """
        blocks = self.config.references
        return [name for name, block in blocks.items() if not (self.run.tells_costs and block.judges)]

    def steps(self, wildcards: Wildcards) -> list[str]:
        """Answers to the steps before the job's step, or to all steps."""
        block, step = self.config.references[wildcards.dataset], wildcards.get("step")
        steps = references.steps(block.rounds)
        before = steps[: steps.index(step)] if step else steps
        folder = f"{self.run.results}/references/{wildcards.dataset}"
        judged = [(name, references.judge_of(name, block.judges)) for name in before] if not block.file else []
        return [f"{folder}/{name}/responses/{judge}.parquet" for name, judge in judged]

    @untracked
    def named_steps(self, wildcards: Wildcards) -> list[str]:
        return [f"{Path(path).parents[1].name}={path}" for path in self.steps(wildcards)]

    def weights(self, wildcards: Wildcards) -> list[str]:
        return self._weights(wildcards.dataset)

    def _weights(self, dataset: str) -> list[str]:
        judges = self.config.references[dataset].judges
        return [path for name in judges for path in self.run.weights(name)]

    def judge(self, wildcards: Wildcards) -> str:
        block, part = self._judge(wildcards.judge, wildcards.dataset)
        return self.run.settings_file(block, tracked=part)

    def _judge(self, name: str, dataset: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings of a judge that writes and reviews, and the part on which its answers depend."""
        block, judge = self.config.references[dataset], self.config.judges[name].changed(second_request=False)
        roles = {"roles": {"writing": block.writing.block(), "reviewing": block.reviewing.block()}}
        return judge.block() | roles, tracked(judge) | roles

    def facts(self, name: str, dataset: str) -> dict[str, Any]:
        """Settings that a writer's or reviewer's answers depend on, with its roles as profiles."""
        part = self._judge(name, dataset)[1]
        roles = part.pop("roles")
        judge = self.config.judges[name].add_roles(**{role: SamplingChange(**roles[role]) for role in roles})
        return part | {"profiles": plain(judge.profiles)}

    def settings(self, wildcards: Wildcards) -> str:
        whole, part = self._settings(wildcards.dataset)
        return self.run.settings_file(whole, tracked=part)

    def _settings(self, dataset: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings by which reference answers are made, and the part on which the answers depend."""
        block = self.config.references[dataset]
        keys = ("n", "judges", "sample", "seed", "shows_rejected", "instruction", "file")
        shared = {key: getattr(block, key) for key in keys} | {"levels": block.written_levels}
        judges = {name: self._judge(name, dataset) for name in block.judges}
        whole, part = ({name: pair[number] for name, pair in judges.items()} for number in (0, 1))
        return shared | {"settings": whole}, shared | {"settings": part}

    def templates(self, wildcards: Wildcards) -> list[str]:
        """Templates of writing and reviewing, then each judge's template of scoring, in the order of the judges."""
        return self._templates(wildcards.dataset)

    def _templates(self, dataset: str) -> list[str]:
        roles = [self.run.source(f"resources/templates/{name}_reference.jinja") for name in references.STEPS]
        scoring = [
            self.run.own_template(name)
            or self.run.source(f"resources/templates/{self.config.judges[name].answer_format}.jinja")
            for name in self.config.references[dataset].judges
        ]
        return [*roles, *scoring]

    def own(self, wildcards: Wildcards) -> list[str]:
        path = self.config.references[wildcards.dataset].file
        return [os.path.relpath(path)] if path else []

    def parts_of_unmade(self, wildcards: Wildcards) -> list[str]:
        paths = []
        for name in self.run.unmade_references:
            paths += [
                f"{self.run.results}/items/{name}.parquet",
                f"{self.run.results}/rubrics/{name}.parquet",
                *self._weights(name),
            ]
        return list(dict.fromkeys(paths))

    def unmade(self, wildcards: Wildcards) -> str:
        """Settings that would make missing reference answers, and the studies that read their datasets."""
        return self.run.settings_file({name: self._unmade(name) for name in self.run.unmade_references})

    def _unmade(self, name: str) -> dict[str, Any]:
        block = self.config.references[name]
        studies = {
            key: {part: getattr(study, part) for part in ("judges", "scales", "conditions")}
            for key, study in self.config.studies.items()
            if name in study.datasets and study.probe in catalogue.SCORE_ORDER
        }
        return {
            "settings": self._settings(name)[0],
            "rounds": block.rounds,
            "items": f"{self.run.results}/items/{name}.parquet",
            "rubrics": f"{self.run.results}/rubrics/{name}.parquet",
            "templates": self._templates(name),
            "weights": self._weights(name),
            "labels": {judge: self.config.judges[judge].label for judge in block.judges},
            "studies": studies,
        }

    def made_files(self, wildcards: Wildcards) -> list[str]:
        used = [name for name in self.run.used_datasets if name in self.config.references]
        return [f"{self.run.results}/references/{name}.parquet" for name in used]

    def makers(self) -> list[str]:
        """Judges that write and review reference answers of used datasets."""
        blocks = self.config.references
        return [name for dataset in self.run.used_datasets if dataset in blocks for name in blocks[dataset].judges]


class Status(References):
    """Inputs and settings of the reports on judging: its cost and its progress."""

    def results(self, wildcards: Wildcards) -> str:
        return self.run.results

    def judges_to_plan(self, wildcards: Wildcards) -> str:
        blocks = {
            name: {
                "settings": self.config.judges[name].block(),
                "converted": self.config.judges[name].folder_name,
                "studies": self.run.studies_of(name),
                "unpinned": name in self.run.unpinned,
            }
            for name in self.run.used_judges
            if name in self.run.live
        }
        return self.run.settings_file(blocks, sort_keys=False)

    def pilots(self, wildcards: Wildcards) -> list[str]:
        return [f"{self.run.results}/pilot/{name}.json" for name in self.run.used_judges if name in self.run.live]

    def judges_to_ask(self, wildcards: Wildcards) -> str:
        blocks = {
            name: {
                "label": self.config.judges[name].label,
                "studies": list(self.run.studies_of(name)),
                "references": self._steps_of(name),
                "currency": self.config.judges[name].currency,
            }
            for name in dict.fromkeys([*self.run.used_judges, *self.makers()])
            if name in self.run.live
        }
        return self.run.settings_file(blocks, sort_keys=False)

    def _steps_of(self, judge: str) -> dict[str, list[str]]:
        """Steps of making reference answers that a judge answers, by dataset."""
        steps = {}
        for dataset in self.run.used_datasets:
            block = self.config.references.get(dataset)
            if block and judge in block.judges:
                named = references.steps(block.rounds)
                steps[dataset] = [step for step in named if references.judge_of(step, block.judges) == judge]
        return steps

    def now(self, wildcards: Wildcards) -> str:
        """The time: the rule runs whenever it is asked for."""
        return datetime.datetime.now(datetime.UTC).isoformat()
