"""How much of a surprise a character is in each language that old encodings were made for.

Unit: nats, −ln of its share. Letters stand in the order of their frequency, which falls by about 9 % from one to the next;
Chinese, Japanese and Korean ones are common, of the first level of their standard, of the second, or strange.
Source: national standards (JIS X 0208, GB 2312, Big5, KS X 1001) sort by use; orders of letters are public knowledge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
