"""Bytes to text: which encoding it is, and what had to be repaired.

Order: byte order mark, ISO-2022-JP by its escapes, UTF-16 by its zeros or its scripts, UTF-8, UTF-8 with a few foreign bytes
(read as Windows-1252, counted in a warning), else the old encoding that gives the most plausible text, with a warning that
it is a guess.
Invariant: what comes out is what is stored: \\n for every line break, no NUL, no lone surrogate; nothing is dropped
silently.
Source: DESIGN §12 (encodings are looked at before storing); the Encoding Standard §4.2 (labels).
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from math import log
from typing import NamedTuple

from memoir_engine.core.errors import NothingToIngest, TextInvalid

# === wide: UTF-16 without a byte order mark: which order its bytes are in, or that it is none.
#
# Bytes of another encoding give characters of all kinds when they are taken in pairs: one letter and a blank make a sign,
# two
# letters a Chinese character. So nearly all must be of scripts that people write, and some of them of blocks with a low
# number.
# Invariant: what holds no control characters is never UTF-16. Blanks, line breaks and Eastern full stops give some in all
# that is.


_SAMPLE = 4096
_LEAST = 6  # characters
_PLAIN = "\t\n\r\x20-\x7e\xa0-\xff"
_LETTERS = "\u0370-\u06ff\u0e00-\u0e7f"  # Greek, Cyrillic, Hebrew, Arabic, Thai
_KANA = "\u3000-\u30ff\uff00-\uffef"  # with the signs of Chinese, Japanese and Korean texts
_KNOWN = re.compile(f"[{_PLAIN}{_LETTERS}{_KANA}\u2010-\u203b\u4e00-\u9fff\uac00-\ud7a3]")
_TELLING = re.compile(f"[{_PLAIN}{_LETTERS}{_KANA}]")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def wide_encoding(data: bytes) -> str | None:
    sample = data[:_SAMPLE]
    if len(sample) < 4:
        return None
    even, odd = sample[0::2], sample[1::2]
    zeros_even, zeros_odd = even.count(0) / len(even), odd.count(0) / len(odd)
    if zeros_odd > 0.4 and zeros_even < 0.05:
        return "utf-16-le"
    if zeros_even > 0.4 and zeros_odd < 0.05:
        return "utf-16-be"
    if len(data) % 2 or 100 * len(_CONTROL.findall(sample)) < len(sample):
        return None
    return next((encoding for encoding in ("utf-16-le", "utf-16-be") if _is_written(sample.decode(encoding, "replace"))), None)


def _is_written(text: str) -> bool:
    if len(text) < _LEAST:
        return False
    known, telling = len(_KNOWN.findall(text)), len(_TELLING.findall(text))
    return known >= 0.98 * len(text) and telling >= 0.08 * len(text)


# === letters: How much of a surprise a character is in each language that old encodings were made for.
#
# Unit: nats, −ln of its share. Letters stand in the order of their frequency, which falls by about 9 % from one to the
# next;
# Chinese, Japanese and Korean ones are common, of the first level of their standard, of the second, or strange.
# Source: national standards (JIS X 0208, GB 2312, Big5, KS X 1001) sort by use; orders of letters are public knowledge.


Cost = Callable[[str], float]
STRANGE = 13.0
_ODD = 9.0

# Signs that any text may hold, and those that fewer do.
_SIGNS = dict.fromkeys("“”‘’„‚«»‹›–—…€£§°·•™®©№\xa0×±", 4.5) | dict.fromkeys("\xad½¼²³¿¡÷¢¥µ", 5.5)
_WIDE = dict.fromkeys("　、。，．・：；？！「」『』（）【】《》〜～“”‘’…—", 5.0)


class Language(NamedTuple):
    """encodings: those it was written in, the more usual first. words: small ones that most of its sentences hold.

    apart: it has no letter of ASCII, so that the more of these there are, the less are its own to be expected.
    """

    encodings: tuple[str, ...]
    cost: Cost
    words: frozenset[str] = frozenset()
    apart: bool = False


def _alphabet(letters: str, first: float) -> Cost:
    """first: of the most frequent letter."""
    costs = {letter: first + 0.09 * rank for rank, letter in enumerate(letters)}
    costs |= {letter.upper(): cost for letter, cost in costs.items() if len(letter.upper()) == 1 and letter.upper() != letter}

    def cost(char: str) -> float:
        found = costs.get(char)
        if found is not None:
            return found
        return _SIGNS.get(char) or (_ODD if char.isprintable() else STRANGE)

    return cost


def _latin(encodings: str, **written: str) -> list[Language]:
    """written: the letters beyond ASCII and the words of each language."""
    found = []
    for letters, *words in (each.split() for each in written.values()):
        found.append(Language(tuple(encodings.split()), _alphabet(letters, 3.5), frozenset(words)))
    return found


def _own(encodings: str, *alphabets: str) -> list[Language]:
    """Of scripts that have no letter of ASCII."""
    return [Language(tuple(encodings.split()), _alphabet(letters, 2.3), apart=True) for letters in alphabets]


def _lead(char: str, encoding: str) -> int:
    """Where a standard has it; 0 where it has not."""
    coded = char.encode(encoding, "ignore")
    return coded[0] if len(coded) == 2 else 0


def _ideographs(encoding: str, common: str, first: range, second: range, own: Cost) -> Cost:
    """own: of a script of the language's own; 0 for what is none of it."""
    usual = _WIDE | {char: 4.5 + rank / 60 for rank, char in enumerate(common)}

    def cost(char: str) -> float:
        found = usual.get(char) or own(char)
        if found:
            return found
        lead = _lead(char, encoding)
        return 8.5 if lead in first or "\uff00" <= char <= "\uff60" else 11.0 if lead in second else STRANGE

    return cost


def _kana(char: str) -> float:
    return 4.2 if "ぁ" <= char <= "ん" else 5.2 if "ァ" <= char <= "ー" else 7.5 if "\uff61" <= char <= "\uff9f" else 0.0


_HANGUL = (
    "이다에의는로하을가고지서한은기으년대사시를리도인스일어나자해아정그있부들수것보과여상전제원라장주만구"
    "성오면니안장조게러마습요국"
)
_KANJI = (
    "日一人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木"
    "国会社者自地事方場合手力問代明動京目通言理体田主題意不作用度強公持野以思家世多正安院心界教文元重近考画海売知道集別物使品計"
    "死特私始朝運終台広住無真有口少町料工建空急止送切転研足究楽起着店病質待試族銀早映親験英医仕去味写字答夜音注帰古歌買悪図週"
    "室歩風紙黒花春赤青館屋色走秋夏習駅洋旅服夕借曜飲肉貸堂鳥飯勉冬昼茶弟牛魚兄犬妹姉漢県市村時代的第部和成新発内"
)
_HANZI = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方"
    "多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明"
    "性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世"
    "位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方"
    "多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明"
    "性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世"
    "位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量"
)

LANGUAGES: tuple[Language, ...] = (
    *_latin(
        "cp1252 iso8859_15",
        english="éèïñöü the of and to in is it that for with was on as",
        german="üäöß der die und das ist nicht ein eine mit zu den von sie",
        french="éèàêçùôîâûëïœ de la le et les des en un une du est que dans",
        spanish="óíáéñúü de la que el en los se del las un por con una y",
        portuguese="ãçáéóíêõâúàô de a o que e do da em um para os no não com",
        italian="àèìòùé di e che la il un per in non sono del della",
        swedish="äåöé och att det i en som är av för den till på",
        danish="åøæé og at det i en som er af på for til den med",
        finnish="äöå ja on ei se että oli hän mutta ovat kun",
        dutch="ëéïèö de van het een en in is dat op te zijn met",
        icelandic="íðáþéóúöæý og að í er sem á það til hann við",
    ),
    *_latin(
        "cp1250 iso8859_2",
        polish="łóążęśćźń i w na z się do nie że to jest o od po są",
        czech="íáěéčšžřýůúťóďň a se na v je že to s z do ve co si má",
        slovak="áíčšéýžúľťňôďäóĺŕ a sa na v je že to s z do vo čo si má",
        hungarian="éáöóőíüúű a az és hogy nem is egy ez van meg",
        croatian="šžčćđ i u je se na da su za od o kao što",
        slovene="čšž in je v na se da za so z pa ki",
        romanian="ăîşţâ de şi în a la cu pe un o nu din care să se",
    ),
    *_latin("cp1254", turkish="ıüşğçöiâî ve bir bu da de için ile ne o çok"),
    *_latin(
        "cp1257 iso8859_13 iso8859_4",
        lithuanian="ėųšžąčįūę ir yra su kad tai į iš jo bet",
        latvian="āīšēļūņžķčģ un ir ar no par ka uz tas kas",
    ),
    *_own(
        "cp1251 koi8_u koi8_r iso8859_5 cp866",
        *("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оаинвіетрслкумдпзяьбгйчхцїюжшєщфґ", "аиоентрсвлкдпмзгяъубчцйжщхшюфь"),
        *("аиоенрстувјкдмлпзгбчшцжћњхђљфџ", "анірытеслокяуцпвдзьбмгжйўчшэхюёф"),
    ),
    *_own("cp1253 iso8859_7", "αοιετσνηυρπκμλςήίόάέδγθχωύβφώξζψϊ"),
    *_own("cp1255 iso8859_8", "יוהלארתבמשנדעקפחםטצגסכןזץךף"),
    *_own("cp1256 iso8859_6", "اليمونرتبةعدسفهكقأحجشطصىخإذثزضغظءئؤآ،؟"),
    *_own("cp874", "านรอกเง่มยลวดท้สตะัปีบิคหแจพชขใไุูโ็์ผืถณศธซญฐษภฟึำๆฎฉฆฏฮ"),
    Language(("cp932", "euc_jp", "euc_jis_2004"), _ideographs("euc_jp", _KANJI, range(0xB0, 0xD0), range(0xD0, 0xF5), _kana)),
    Language(("gb18030",), _ideographs("gb2312", _HANZI, range(0xB0, 0xD8), range(0xD8, 0xF8), lambda _char: 0.0)),
    Language(("big5", "big5hkscs"), _ideographs("big5", _TRADITIONAL, range(0xA4, 0xC7), range(0xC9, 0xFA), lambda _char: 0.0)),
    Language(
        ("cp949",),
        _ideographs(
            *("euc_kr", _HANGUL, range(0), range(0xCA, 0xFE)),
            lambda char: 7.0 if "가" <= char <= "힣" and _lead(char, "euc_kr") else 0.0,
        ),
    ),
)


# === guessing: Which old encoding some bytes are in, where they do not say it.
#
# Every candidate that decodes all of the bytes is weighed by how plausible a text it gives: the characters by their
# frequency
# in the languages it was made for, and what stands beside what.
# Invariant: a text that reads well in no candidate is in none; the same bytes give the same guess.


SAMPLE = 32_000  # bytes that are weighed, of the lines that are not plain ASCII
DOUBT = 4.0  # nats between the best and the next that make the best e^4 = 50 times as likely
IMPLAUSIBLE = 5.6  # nats per byte beyond ASCII; plausible texts take 2 to 5.3
_ASCII = 3.0
_LATER = 1.0  # for each encoding of a language that is more usual than this one
_RARER = 1.5  # for one that is not of _SHARED
_CASE, _SCRIPTS, _EAST, _NO_WORD = 4.0, 5.0, 2.0, 3.0
_WORD = 1.5  # what a small word of the language speaks for it
_BEHIND, _BEFORE = frozenset("½¼£§€®±×÷¢¥"), frozenset("½¼£±²³¹¥")  # no letter stands beside them
_WORDS = re.compile(r"\w+")
_SHARED = ("cp1252", "cp932", "gb18030", "cp1251")  # first where two fit alike


class Guess(NamedTuple):
    """nearly: another encoding that would have given another text, almost as plausible."""

    encoding: str
    text: str
    nearly: str | None


class _Weighed(NamedTuple):
    """surprise: the cost of the characters beyond ASCII alone, and foreign: how many bytes these take."""

    cost: float
    surprise: float
    foreign: int
    encoding: str
    sample: str


def guess(data: bytes) -> Guess | None:
    """None where no encoding gives a plausible text. data: not ASCII alone."""
    sample = _sample(data)
    for at, best in enumerate(ranked := _ranked(sample)):
        text = _decoded(data, best.encoding)
        if text is None:
            continue
        if best.surprise > IMPLAUSIBLE * best.foreign + _CASE:
            return None
        return Guess(best.encoding, text, _nearly(best, ranked[at + 1 :], data))
    return None


def _sample(data: bytes) -> bytes:
    """No encoding here has a line break within a character."""
    lines: list[bytes] = []
    left = SAMPLE
    for line in data.split(b"\n"):
        if left > 0 and not line.isascii():
            lines.append(line[:left])
            left -= len(line) + 1
    return b"\n".join(lines)


def _ranked(sample: bytes) -> list[_Weighed]:
    languages: dict[str, list[Language]] = {}
    usual: dict[str, float] = {}
    for language in LANGUAGES:
        for rank, encoding in enumerate(language.encodings):
            languages.setdefault(encoding, []).append(language)
            usual[encoding] = _LATER * rank + (0.0 if encoding in _SHARED else _RARER)
    weighed = []
    for encoding, written in languages.items():
        text = _begun(sample, encoding)
        if text:
            cost, surprise = _cost(text, written)
            foreign = len(sample) - sum(map(str.isascii, text))
            weighed.append(_Weighed(usual[encoding] + cost, surprise, foreign, encoding, text))
    return sorted(weighed, key=lambda one: one.cost)  # stable: ties in the order of LANGUAGES


def _begun(sample: bytes, encoding: str) -> str | None:
    """The last character may be cut."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _nearly(best: _Weighed, others: list[_Weighed], data: bytes) -> str | None:
    near = (one for one in others if one.cost - best.cost < DOUBT and one.sample != best.sample)
    return next((one.encoding for one in near if _decoded(data, one.encoding) is not None), None)


def _cost(text: str, languages: list[Language]) -> tuple[float, float]:
    """Of the likeliest language: the whole cost and the surprise."""
    chars: Counter[str] = Counter()
    beside = 0.0
    for (before, char), count in Counter(zip(" " + text, text, strict=False)).items():
        chars[char] += count
        if not (before.isascii() and char.isascii()):
            beside += count * _beside(before, char)
    plain = _ASCII * sum(count for char, count in chars.items() if char.isascii())
    foreign = [(char, count) for char, count in chars.items() if not char.isascii()]
    words = Counter(_WORDS.findall(text.lower())) if any(language.words for language in languages) else Counter[str]()
    letters = sum(count for char, count in chars.items() if char.isascii() and char.isalpha())
    own = sum(count for _char, count in foreign)
    apart = own * log(1 + letters / own) if own else 0.0

    def weighed(language: Language) -> tuple[float, float]:
        surprise = beside + sum(count * language.cost(char) for char, count in foreign)
        spoken = _WORD * sum(words[word] for word in language.words) - (apart if language.apart else 0.0)
        return plain + surprise - spoken, surprise

    return min(map(weighed, languages))


def _beside(before: str, char: str) -> float:
    """What no word has: a capital or a final letter within it, letters of two scripts, a digit or a sign right behind one."""
    case = _CASE if before.islower() and char.isupper() else 0.0
    if char.isupper() and not char.isascii():
        case += 0.1 if before.isupper() else 0.7
    if not before.isalpha():
        return case + (_NO_WORD if before in _BEFORE and char.isalpha() else 0.0)
    if before == "ς" and char.isalpha():  # stands at the end of words only
        return _NO_WORD
    one, two = _script(before), _script(char)
    if not char.isalpha():
        return case + (_NO_WORD if char in _BEHIND or (char.isdecimal() and one != "east") else 0.0)
    return case if one == two else _EAST if "east" in (one, two) else case + _SCRIPTS


def _script(letter: str) -> str:
    code = ord(letter)
    if code >= 0x2E80:
        return "east"
    bounds = ((0x250, "latin"), (0x400, "greek"), (0x530, "cyrillic"), (0x600, "hebrew"), (0x780, "arabic"))
    return next((script for bound, script in bounds if code < bound), "other")


# === decode


_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_JAPANESE_ESCAPES = (b"\x1b$B", b"\x1b$@")
_FOREIGN = re.compile("[\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MEANT = {
    **dict.fromkeys(("us-ascii", "ascii", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "iso8859-9", "iso_8859-9", "latin5", "l5"), "cp1254"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis"), "cp932"),
    **dict.fromkeys(("ks_c_5601-1987", "euc-kr"), "cp949"),
}


class Decoded(NamedTuple):
    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, name: str) -> Decoded:
    """Raises TextInvalid (E205)."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_strictly(data, encoding, name), encoding)
    if any(escape in data for escape in _JAPANESE_ESCAPES):
        japanese = _try(data, "iso2022_jp")
        if japanese is not None:
            return Decoded(japanese, "iso2022_jp")
    wide = wide_encoding(data)
    if wide is not None:
        return Decoded(_strictly(data, wide, name), wide)
    text = _try(data, "utf-8")
    return Decoded(text, "utf-8") if text is not None else _mixed(data) or _guessed(data, name)


def meant(label: str) -> str:
    """The encoding that a page or a message is in whose label names a smaller one, as every browser reads it."""
    return _MEANT.get(label.strip().lower(), label)


def clean(text: str, name: str) -> tuple[str, tuple[str, ...]]:
    """The text as it is stored, and what was repaired. Raises TextInvalid (E205), NothingToIngest (E201)."""
    if "\x00" in text:
        advice = "Remove them, or save the file as UTF-8 text."
        raise TextInvalid(name=name, problem=f"it holds NUL characters, the first at {text.index(chr(0))}", advice=advice)
    text, warnings = without_surrogates(text)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.replace("\ufffd", "").strip():
        raise NothingToIngest(name=name)
    return text, warnings


def without_surrogates(text: str) -> tuple[str, tuple[str, ...]]:
    """Pairs become the character they stand for, lone ones U+FFFD."""
    if not _SURROGATE.search(text):
        return text, ()
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lone = joined.count("\ufffd") - text.count("\ufffd")
    return joined, (f"{lone} half character(s) (lone surrogates) became \ufffd",) if lone else ()


def _mixed(data: bytes) -> Decoded | None:
    """UTF-8 with a few bytes that are not: only where at least as many characters are UTF-8 beyond ASCII."""
    text = data.decode("utf-8", "surrogateescape")
    foreign = len(_FOREIGN.findall(text))
    beyond = len(text) - len(text.encode("ascii", "ignore")) - foreign
    if beyond < foreign:
        return None
    warning = f"not all of it is UTF-8: {foreign} byte(s) were read as Windows-1252"
    return Decoded(_FOREIGN.sub(_as_windows, text), "utf-8", (warning,))


def _as_windows(match: re.Match[str]) -> str:
    return bytes([ord(match[0]) - 0xDC00]).decode("cp1252", "replace")


def _guessed(data: bytes, name: str) -> Decoded:
    found = guess(data)
    if found is None:
        advice = "Save it again as UTF-8."
        raise TextInvalid(name=name, problem="it is in no single encoding that could be recognised", advice=advice)
    nearly = f" ({found.nearly} fits almost as well: look at the text, or save it again as UTF-8)" if found.nearly else ""
    return Decoded(found.text, found.encoding, (f"the encoding is not stated; read as {found.encoding}{nearly}",))


def _strictly(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as broken:
        problem = f"it says it is {broken.encoding}, but byte {broken.start} is not"
        raise TextInvalid(name=name, problem=problem, advice="Save it again as UTF-8.") from broken


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None
