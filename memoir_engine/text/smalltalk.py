"""What is said only to keep a conversation going: greetings, thanks, yes and no, requests, questions without their mark.

Invariant: a clause is small talk when nothing of content is left beside such words, or when its form asks for something. Pure.
English, German, Spanish, French, Italian, Portuguese and Japanese. Source: TIMEM "Memory Extraction" (conversational noise).
"""

from __future__ import annotations

import re

from memoir_engine.text.terms import is_cjk, words

_COURTESY = re.compile(
    r"\b(?:hi|hello|hey|good (?:morning|evening|night|afternoon)|thanks?(?: you)?(?: so much| very much| a lot)?|yes|no"
    r"|yeah|ok(?:ay)?"
    r"|sure|great|cool|perfect|fine|bye|goodbye|see you|you(?:['’]re| are) welcome|please|sorry|i see|i understand|got it"
    r"|sounds good"
    r"|hallo|servus|moin|guten (?:morgen|tag|abend)|gute nacht|grüß (?:gott|dich)|danke(?:schön)?|vielen dank|(?:herzlichen"
    r"|besten) dank"
    r"|bitte(?: (?:schön|sehr))?|gern(?:e)?(?: geschehen)?|ja|nein|doch|genau|alles klar|verstanden|verstehe|tschüss"
    r"|bis (?:bald|morgen)"
    r"|auf wiedersehen|entschuldigung|tut mir leid|wie geht(?: es|['’]?s)(?: dir| ihnen)?"
    r"|hola|buenos días|buenas (?:tardes|noches)|(?:muchas |mil )?gracias|por favor|de nada|sí|vale|claro|entiendo"
    r"|entendido|adiós"
    r"|hasta (?:luego|mañana|pronto)|perdón|lo siento|mucho gusto|encantad[oa]"
    r"|bonjour|bonsoir|salut|coucou|merci(?: beaucoup| bien)?|s['’]il (?:te|vous) plaît|oui|non|d['’]accord|au revoir"
    r"|à bientôt|pardon"
    r"|désolée?|de rien|je comprends|ciao|buongiorno|buonasera|grazie(?: mille)?|prego|sì|va bene|capito|arrivederci|scusa"
    r"|olá|bom dia|boa (?:tarde|noite)|(?:muito )?obrigad[oa]|por favor|sim|não|tchau|até logo|tudo bem|entendi"
    r"|dir|ihnen|dich|auch|sehr|muy|très|beaucoup|mucho|muito|molto|so|too|very|much)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:bitte,? )?(?:kannst|könntest|würdest|willst|magst|weißt|hast|bist|können|könnten|würden) (?:du|sie|ihr|mir)\b"
    r"|(?:bitte,? )?(?:schreib|zeig|sag|gib|erklär|hilf|übersetz|fass|erzähl|nenn|mach|schick|such|find"
    r"|empfiehl)e?n? (?:mir|uns|bitte|den|das|die|sie)\b"
    r"|(?:wer|was|wo|wann|warum|wieso|wie|welche[rsn]?|wohin|woher) (?:ist|sind|war|hat|haben|kann|soll|muss|geht|bedeutet"
    r"|viel\w*)\b"
    r"|(?:por favor,? )?(?:me )?(?:puedes|podrías|puede|podría|quieres|sabes)\b"
    r"|(?:por favor,? )?(?:di|escríbe|ayúda|explíca|muéstra|enséña|da|haz|tradúce|búsca|recomiénda|cuénta)(?:me|nos)\b"
    r"|(?:qué|quién|dónde|cuándo|cómo|cuál|cuánt[oa]s?|por qué)\b|¿"
    r"|(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|est-ce qu|qu['’]est-ce|sais-tu|savez-vous|tu peux|vous pouvez)"
    r"|(?:dis|donne|explique|montre|écris|aide|traduis|dites|donnez|expliquez|montrez|écrivez|aidez|traduisez)-?(?: ?moi"
    r"| ?nous)\b"
    r"|(?:puoi|potresti|può|sai|você (?:pode|poderia|sabe)|pode(?:ria)? me)\b"
    r"|(?:do|does|did|can|could|would|will|should|shall|is|are|am|have|has) (?:i|you|he|she|it|we|they|there|this|that|my"
    r"|your|the|any\w*)\b"
    r"|(?:what|where|when|who|why|how|which)(?:['’]s| is| are| do| does| did| can| should| would| was| were| to| about"
    r"| many| much)\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(  # English: of the one who is spoken to
    r"^(?:please\b|(?:remind|tell|show|give|send|help|teach|let|ask|get|make|find|write|wish|excuse|forgive) (?:me"
    r"|us)\b(?! [A-Z])"
    r"|(?:write|put|note|make|keep|check|look|forget|take|bring) (?:it|this|that|them)\b|i need (?:you\b|your\b|help\b"
    r"|some help|a hand)"
    r"|i(?:['’]d| would| want| wanted| need)(?: like)? (?:you to|to (?:ask|know))\b"
    r"|i(?:['’]ve)? (?:have|had|got) (?:an?|another|one more|some|two|a few|a couple of) (?:\w+ )?questions?\b"
    r"|i(?: was|['’]m| am| have been|['’]ve been)? (?:just )?wonder(?:ing|ed)?\b"
    r"|i (?:do not|don['’]?t|did not|didn['’]?t|cannot|can['’]?t) (?:really )?(?:understand|get|follow|see) (?:this|that"
    r"|your|why|how|what|it)\b"
    r"|i (?:get|got|am getting|keep getting) (?:this|that|an|the) (?:\w+ )?(?:error|message|warning|result|answer)s?\b)",
    re.IGNORECASE,
)
_OF_THE_TALK = re.compile(
    r"\b(?:your|this|that|these|the (?:last|above)) (?:answers?|repl(?:y|ies)|responses?|explanations?|suggestions?)\b",
    re.IGNORECASE,
)
_JA_COURTESY = re.compile(
    "こんにちは|こんばんは|おはよう|はじめまして|初めまして|ありがとう|有難う|ござい(?:ます|ました)|どうも|どうぞ|すみません|すいません|ごめん(?:なさい|ね)?"
    "|申し訳(?:あり|ござい)ません|よろしく|宜しく|お願い(?:いた|致)?し?ます?|はい|いいえ|うん|ええ|いや|わか(?:りました|った|ります)|分か(?:りました|った|ります)"
    "|了解(?:です|しました)?|承知(?:しました)?|さようなら|またね|また明日|おやすみ(?:なさい)?|そうですか?|そうなんです|そう|なるほど|それは|いいです|良いです|すごいです?"
    "|大丈夫です?|お疲れ様(?:です|でした)?|助か(?:りました|った|ります)|嬉しいです|とても|本当に|ほんとに|お元気です|いただきます|ごちそうさま(?:でした)?|ね|よ|か|です"
)
_JA_ASKS = re.compile(
    r"(?:(?:です|ます|でした|ました|ません|ましょう|でしょう|だろう|だった|のだ|ない|たい|の|る|た|い)か(?:な|ね|しら)?"
    r"|(?:くだ|下)さい(?:ね|ませ)?|てくれ(?:る|ます)?|ちょうだい|頂戴|てもらえ(?:る|ます)|てほしい(?:です)?|お願い(?:いた|致)?します|なさい|ましょう)[。．.!！\s]*$"
)
_JA_WORD = re.compile("[々〆\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u9fff]")


def is_smalltalk(clause: str) -> bool:
    said = clause.strip().strip("。．.!！?？…,、 ")
    if is_cjk(said):
        return bool(_JA_ASKS.search(said)) or len(_JA_WORD.findall(_JA_COURTESY.sub("", said))) < 2
    if (_ASKS.match(said) and "?" not in said) or _REQUEST.match(said) or _OF_THE_TALK.search(said):
        return True
    return not words(_COURTESY.sub(" ", said))
