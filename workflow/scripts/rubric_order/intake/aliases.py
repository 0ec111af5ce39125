"""Names that others give to a column, the likeliest first. They are suggested, and never taken automatically."""

from collections.abc import Mapping

_NAMES = {
    "item": """item_id sample_id sample question_id question custom_id example_id doc_id text_id article_id task_id uid
        id idx index key testidx instruction prompt_id prompt""",
    "ordering": """order orderings shown permutation score_order rubric_order label_order option_order options levels
        labels candidates models""",
    "score": """judge_score rating grade judge_rating llm_score predicted_score prediction judgment judgement answer
        response output completion raw_output value label result""",
    "choice": "winner verdict preference preferred judgment response answer score label",
    # A column `model` or `annotator` is left out: it names what was judged, or a person, as often as the judge.
    "judge": "judge_model judge_name judge_id llm_judge grader grader_model evaluator",
    "group": "group_id prompt prompt_id task task_id article story source cluster",
    "human_score": """human human_rating human_mean mean_human_score annotator_mean annotator_score annotator_rating
        expert_score expert_mean mean_rating gold_score gold label reference_score expert""",
    "failure": "failure_reason error_type reason error",
    "criterion": "dimension aspect metric rubric rubric_id",
    "gold": "human human_choice human_winner label reference truth",
    "first": "shown_first answer_a model_a model_1 a",
    "second": "shown_second answer_b model_b model_2 b",
}
LIKELY: Mapping[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _NAMES.items()}
# Pairs of columns of candidates. `SHOWN_FIRST` has columns that name the candidate that was shown first.
SIDES: tuple[tuple[str, str], ...] = (*zip(LIKELY["first"][1:], LIKELY["second"][1:], strict=True),)
SHOWN_FIRST = ("first", "shown_first", "first_shown", "presented_first", "displayed_first")
