"""One sentence on each term of a card, for people who meet the term for the first time."""

# Keys are the words with which the name of a fact begins. The first key that fits is taken.
TERMS = {
    "Share of each position": (
        "How often the score that the judge chose stood first, second, and so on in the prompt."
    ),
    "Scores that another ordering": (
        "Of the scores of single items, those that come out differently when the levels are listed in another "
        "order, less what chance alone changes."
    ),
    "Items whose score another ordering": (
        "Items whose score comes out differently when the levels are listed in another order, less what "
        "chance alone changes."
    ),
    "Groups whose best candidate": (
        "Of the prompts with several candidates, those in which another one comes out best when the levels "
        "are listed in another order, less what chance alone changes."
    ),
    "What an ordering does to single items": (
        "How far one order moves single items, some up and others down. A mean over items does not show it. A "
        "card compares it with a margin."
    ),
    "Orderings, chosen at random": (
        "How many orders to read, one time each, for scores that are typically (root mean square) no further than this "
        "from those of all orders. Fewer miss it: by the order, and by chance."
    ),
    "Cramér's V": (
        "Inequality of the shares: 0 where each position is chosen equally often, 1 where one is always "
        "chosen. It is above 0 by chance, and depends on how sure a judge is: it does not rank judges."
    ),
    "Preference of each position": (
        "How much standing at a position adds to the log-odds that a score is chosen. 0 is none; 0.2 makes "
        "the odds 22% larger."
    ),
    "Usual ordering less mean": (
        "Mean score where levels stand from 1 up, less the mean over all orders: the error of somebody who "
        "asks in the usual order alone."
    ),
    "Smallest p": (
        "Probability of so large an effect if the order had none, adjusted (Holm) for the number of tests of the card."
    ),
    "Commonest score": "Where one score is nearly always given, an order has next to nothing to change.",
    "Pairs of reads": "How much the judge varies, by order and by chance together.",
    "Mean probability of the most probable": "How sure the judge is. 1/n for n levels: it says nothing.",
    "Agreement with intended levels": (
        "Pearson's correlation r with the levels that the texts were written for; nobody rated them."
    ),
    "Agreement": "Pearson's correlation r with the scores of people: 1 is perfect, 0 is none.",
    "The same of one read": "Mean of r over the orders, with one read per item.",
    "Of the change, due to the order": "What r gains where the order is balanced, without more reads.",
    "Of the change, due to averaging": "What r gains because several reads are averaged, whatever their order.",
    "Highest r": "People do not agree perfectly either: a judge without error has this correlation with them.",
    "Best candidate changes": (
        "Prompts in which the best candidate by one order is not that by the mean over all, chance included."
    ),
    "Of that, more than": "The same, less what as few reads change by chance.",
    "Smallest V": "A smaller inequality would likely be missed by a study of this size.",
    "Items": (
        "Items of a group share a prompt, an article or a story: groups are the sample, and single items are "
        "not independent."
    ),
    "Effective number of groups": "Groups of equal size that would say as much as these, which can be unequal.",
    "Copies": "One item under several names counts as several independent ones, and makes all too sure.",
    "Reads": "A read is one answer of the judge to one prompt. Reads without a score are left out and counted.",
    "Orderings": "Orders in which the levels were listed in the prompts.",
}


def term(name: str) -> str:
    """The sentence on a fact of a card; empty if the fact has none.

    Args:
        name: name of the fact, see `card.facts`.
    """
    return next((text for begin, text in TERMS.items() if name.startswith(begin)), "")
