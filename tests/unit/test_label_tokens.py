import pytest

from rubric_order.judging.engines import label_tokens


def test_single_tokens_of_a_label_are_those_of_each_spelling_once():
    spellings = [[[5], [6]], [[7], [7]], [[8, 9], [10]]]
    assert label_tokens.single_tokens(spellings) == [[5, 6], [7], [10]]


@pytest.mark.parametrize(
    ("spellings", "problem"),
    [
        ([[[1], [2]], [[3], [4]]], None),
        ([[[1], [9, 1]], [[3], [9, 3]]], None),  # a space is a token of its own
        ([[[1], [2]], [[1, 1], [2, 1]]], "the tokenizer has no single token for score ii"),
        ([[[1], [2]], [[3], [2, 1]]], "scores i and ii begin with the same token"),
    ],
)
def test_labels_are_read_at_one_token_only_where_it_tells_them_apart(spellings, problem):
    assert label_tokens.problem(("i", "ii"), spellings) == problem


def test_without_a_tokenizer_labels_that_begin_alike_are_not_read():
    assert label_tokens.shared_beginning(("E", "D", "C", "B", "A")) is None
    assert label_tokens.shared_beginning(("v", "iv", "i")) == "scores i and iv can begin with the same token"
