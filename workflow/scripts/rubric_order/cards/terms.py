"""One sentence on each term of a card, for people who meet the term for the first time."""

# Keys are the words with which the name of a fact begins. The first key that fits is taken.
TERMS = {
    "Share of each position": "How often the chosen score stood first, second, and so on in the prompt.",
    "Scores that another ordering": "Single scores that differ in another order of the levels, less chance.",
    "Items whose score another ordering": "Items whose score differs in another order of the levels, less chance.",
    "Groups whose best candidate": "Prompts in which another candidate is best in another order, less chance.",
    "What an ordering does to single items": "How far an order moves single items, up or down.",
    "Orderings, chosen at random": "Orders to read, once each, to be typically this near to all orders.",
    "Cramér's V": "Inequality of the shares, from 0 to 1. It depends on how sure a judge is: no rank of judges.",
    "Preference of each position": "What a position adds to the log-odds of a score. 0 is none; 0.2: odds 22% larger.",
    "Usual ordering less mean": "Mean score where levels stand from 1 up, less the mean over all orders.",
    "Smallest p": "Probability of so large an effect if the order had none, adjusted (Holm) for the card's tests.",
    "Commonest score": "Where one score is nearly always given, an order has next to nothing to change.",
    "Pairs of reads": "How much the judge varies, by order and by chance together.",
    "Mean probability of the most probable": "How sure the judge is. 1/n for n levels: it says nothing.",
    "Agreement with intended levels": "Correlation r with the levels that texts were written for; nobody rated them.",
    "Agreement": "Pearson's correlation r with the scores of people: 1 is perfect, 0 is none.",
    "The same of one read": "Mean of r over the orders, with one read per item.",
    "Of the change, due to the order": "What r gains where the order is balanced, without more reads.",
    "Of the change, due to averaging": "What r gains because several reads are averaged, whatever their order.",
    "Highest r": "People do not agree perfectly either: a judge without error has this correlation with them.",
    "Best candidate changes": "Prompts in which one order has another best candidate than the mean, chance included.",
    "Of that, more than": "The same, less what as few reads change by chance.",
    "Smallest V": "A smaller inequality would likely be missed by a study of this size.",
    "Items": "Items of a group share a prompt, an article or a story: groups are the sample, not single items.",
    "Effective number of groups": "Groups of equal size whose mean would be as precise as that of these.",
    "Copies": "One item under several names counts as several independent ones, and makes all too sure.",
    "Reads": "A read is one answer of the judge to one prompt. Reads without a score are left out and counted.",
    "Orderings": "Orders in which the levels were listed in the prompts.",
}


def term(name: str) -> str:
    """Sentence on a fact of a card, see `card.facts`; empty if it has none."""
    return next((text for begin, text in TERMS.items() if name.startswith(begin)), "")
