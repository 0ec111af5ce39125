"""A decision model of ours behind the server of `endpoint`: both dialects, with a planted worth of each place.

It sees what a real one sees: the body of a call. A level is worth more the nearer it is to what the model thinks of the
text, and its place adds to that. The texts of levels say which is which; their names and numbers do not matter to it.
"""

import hashlib
import json

import numpy as np
from endpoint import Call, Reply

OPINION = 1.2
ALL_FIT = 0.9  # sum of the probabilities of yes, over the questions about one text
WHICH = {"terrible": 1, "poor": 2, "fair": 3, "good": 4, "great": 5}
LEVELS = tuple(f"It is {word}." for word in WHICH)


class DecisionModel:
    """Replies to calls.

    Attributes:
        preference: log-weight of each place.
        opinion: log-weight that a level loses for each level between it and what the model thinks of a text; 0 of a
            model that reads none.
        version: name under which it answers.
    """

    def __init__(self, preference=(0.0,) * 5, opinion=OPINION, version="a-model"):
        self.preference, self.opinion, self.version = np.array(preference, dtype=float), opinion, version

    def probabilities(self, text: str, levels: list[int]) -> np.ndarray:
        """Value of each place, where the level at each is known."""
        logits = self.preference[: len(levels)] - self.opinion * np.abs(np.array(levels) - opinion_of(text))
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    def expected_score(self, text: str, levels: list[int]) -> float:
        return float(self.probabilities(text, levels) @ np.array(levels))

    def __call__(self, call: Call) -> Reply:
        return Reply(self.answer(call.body, call.path.rpartition("/")[2]))

    def answer(self, body: dict, dialect: str) -> dict:
        text = body["input" if dialect == "decisions" else "state"]
        questions = body["questions"]
        named = questions if dialect == "systemone" else dict(enumerate(questions))
        kind = next(iter(named.values()))["type"]
        if kind in ("predicate", "noul"):
            levels = [level_of(question["instructions"]) for question in named.values()]
            n = len(self.preference)  # the questions about one ordering follow each other
            orders = [levels[place : place + n] for place in range(0, len(levels), n)]
            fits = ALL_FIT * np.concatenate([self.probabilities(text, order) for order in orders])
            field = "noul" if dialect == "systemone" else "probability"
            answers = {name: {"type": kind, field: p} for name, p in zip(named, fits.tolist(), strict=True)}
        else:
            answers = {name: self._one(text, question, dialect) for name, question in named.items()}
        if dialect == "systemone":
            return {"model": self.version, "answers": answers, "usage": {"input_tokens": tokens(body)}}
        listed = [{"name": questions[number].get("name"), **answer} for number, answer in answers.items()]
        usage = {
            "input_tokens": tokens(body),
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": len(listed),
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens(body) + len(listed),
        }
        return {"model": self.version, "answers": listed, "usage": usage}

    def _one(self, text: str, question: dict, dialect: str) -> dict:
        if question["type"] == "score":
            texts = question["criteria"] if dialect == "systemone" else [each["label"] for each in question["levels"]]
            p = self.probabilities(text, [level_of(each) for each in texts]).tolist()
            score = float(np.dot(p, range(len(p))))
            if dialect == "systemone":
                return {"type": "score", "score": score, "probabilities": {str(k): p[k] for k in range(len(p))}}
            listed = [{"label": texts[k], "value": k, "probability": p[k]} for k in range(len(p))]
            return {"type": "score", "score": score, "confidence": max(p), "probabilities": listed[::-1]}
        if dialect == "systemone":
            options = question["criteria"]
        else:
            options = {each["value"]: each["description"] for each in question["choices"]}
        p = dict(zip(options, self.probabilities(text, [*map(level_of, options.values())]).tolist(), strict=True))
        best = max(p, key=p.get)
        listed = p if dialect == "systemone" else [{"value": value, "probability": p[value]} for value in p]
        return {"type": "choice", "choice": best, "confidence": p[best], "probabilities": listed}


def level_of(text: str) -> int:
    """The level that a text of the rubric describes, from 1."""
    (level,) = [level for word, level in WHICH.items() if f"It is {word}." in text]
    return level


def opinion_of(text: str) -> float:
    """The model's opinion of a text: from 1 to 5, the same each time."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return 1 + 4 * int.from_bytes(digest, "big") / 2**64


def tokens(body: dict) -> int:
    return len(json.dumps(body)) // 4
