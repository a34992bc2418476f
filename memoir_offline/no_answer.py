"""The language of a question, and the sentence that says in it that no answer was found.

Invariant: by script where it tells the language, else by function words, above all the first;
English where nothing tells.
Source: spec/README 20.
"""

from __future__ import annotations

import re

from memoir_engine.prompts.chat import NOTHING_FOUND

UNANSWERED = {
    "en": "The chunks read do not answer this.",
    "de": "Die gelesenen Stellen beantworten das nicht.",
    "fr": "Les passages lus n'y répondent pas.",
    "es": "Los pasajes leídos no lo responden.",
    "it": "I passi letti non rispondono a questa domanda.",
    "pt": "Os trechos lidos não respondem a isto.",
    "nl": "De gelezen passages beantwoorden dit niet.",
    "ja": "読んだ箇所には、この質問の答えがありません。",
    "zh": "读到的段落没有回答这个问题。",
    "ko": "읽은 부분에는 이 질문의 답이 없습니다.",
}
_WORDS = {
    "en": """who whom whose what when where which why how is are was were do does did the a an of to in and has have had can will
    on by""",
    "de": """wer wen wem wessen wie was wann wo woher wohin warum wieso welche welcher welches welchen wofür womit der die das den
    dem des und ist sind hat haben nicht ein eine einen kann wird wurde gibt war im am zu von für""",
    "fr": """qui que quoi quand où quel quelle quels quelles pourquoi comment combien est sont était le la les un une des du de et
    dans pour par sur ce cette il elle a ont qu""",
    "es": """quién quiénes qué cuándo dónde cuál cuáles cómo cuánto cuántos cuánta cuántas es son fue el la los las un una del de
    y en para por se su está hay quien que cuando donde como""",
    "it": """chi che cosa quando dove quale quali perché come quanto quanti quanta è sono era il lo la gli le un uno una del della
    dei di e nel nella per con ha hanno""",
    "pt": """quem que quando onde qual quais como quanto quantos quanta é são foi o a os as um uma do da dos das de e no na em
    para por não está há""",
    "nl": """wie wat wanneer waar welke welk waarom hoe hoeveel is zijn was waren de het een van en in op voor niet heeft hebben
    wordt werd er kan""",
}
_KNOWN = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_FIRST = 3  # what the first word counts: a question begins in its own language, whatever names it has
_WORD = re.compile(r"[^\W\d_]+")
_KANA, _HANGUL, _HAN = re.compile(r"[\u3040-\u30ff]"), re.compile(r"[\uac00-\ud7af]"), re.compile(r"[\u4e00-\u9fff]")


def unanswered(question: str) -> str:
    """Return the sentence of an answer that what was read gives none."""
    return UNANSWERED[language(question)]


def nothing_found(question: str) -> str:
    """Return the sentence of a conversation's reply that the memory says nothing of it."""
    return NOTHING_FOUND[language(question)]


def language(question: str) -> str:
    """Return the code of the question's language, one of UNANSWERED."""
    for code, script in (("ja", _KANA), ("ko", _HANGUL), ("zh", _HAN)):
        if script.search(question):
            return code
    words = [word.casefold() for word in _WORD.findall(question)]
    weighed = dict.fromkeys(words, 1) | dict.fromkeys(words[:1], _FIRST)
    # of equals the first, which is English
    return max(_KNOWN, key=lambda code: sum(weight for word, weight in weighed.items() if word in _KNOWN[code]))
