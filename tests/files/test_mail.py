"""E-mail: messages as mail programs write them, and as they should not."""

from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir_engine.errors import FileTypeUnknown, FileUnreadable, MemoirError, NothingToIngest, TextInvalid
from memoir_engine.files import read
from memoir_engine.files.mail import MAX_PARTS, read_mail
from memoir_engine.results import Heading

HEAD = b"From: Mia Stern <mia@example.org>\nTo: ben@example.org\nSubject: The pump\nDate: Tue, 5 Mar 2024 14:02:00 +0100\n"


def letter(text: str = "The pump is mended.", subject: str = "The pump") -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"] = "Mia Stern <mia@example.org>"
    message["To"] = "Ben Holt <ben@example.org>, ann@example.org"
    message["Cc"] = "Zoë Müller <zoe@example.org>"
    message["Subject"] = subject
    message["Date"] = "Tue, 05 Mar 2024 14:02:00 +0100"
    message.set_content(text)
    return message


def test_a_message_gives_its_header_as_lines_then_its_text():
    document = read(letter("The pump is mended.\n\nSee you.").as_bytes(), "a.eml")
    assert document.text == (
        "Subject: The pump\nFrom: Mia Stern <mia@example.org>\nTo: Ben Holt <ben@example.org>, ann@example.org\n"
        "Cc: Zoë Müller <zoe@example.org>\nDate: Tue, 05 Mar 2024 14:02:00 +0100\n\nThe pump is mended.\n\nSee you."
    )
    assert (document.kind, document.title, document.author) == ("eml", "The pump", "Mia Stern <mia@example.org>")
    assert (document.dated, document.warnings) == ("2024-03-05T14:02:00+01:00", ())


@pytest.mark.parametrize(
    ("stated", "dated"),
    [
        ("5 Mar 2024 14:02 GMT", "2024-03-05T14:02:00+00:00"),
        ("Tue, 5 Mar 2024 14:02:00 -0000", "2024-03-05T14:02:00+00:00"),
        ("Tue, 5 Mar 2024 14:02:00 -0500 (EST)", "2024-03-05T14:02:00-05:00"),
        ("2024-03-05", "2024-03-05"),
        ("31 Feb 2024 10:00:00 +0000", None),
        ("next week", None),
    ],
)
def test_the_date_is_as_precise_as_the_message_says(stated, dated):
    document = read(f"From: mia@example.org\nSubject: x\nDate: {stated}\n\nText.".encode(), "a.eml")
    assert document.dated == dated


@pytest.mark.parametrize(
    ("charset", "cte", "text"),
    [
        ("utf-8", "quoted-printable", "Grüße — schöne Straße"),
        ("utf-8", "base64", "日本語の文章です。"),
        ("iso-2022-jp", "7bit", "日本語の文章です。"),
        ("iso-8859-1", "quoted-printable", "Schöne Grüße"),
        ("windows-1251", "base64", "Привет, как дела?"),
    ],
)
def test_the_text_is_decoded_from_its_transfer_encoding_and_charset(charset, cte, text):
    message = letter(subject="Größe: 日本語")
    message.set_content(text, charset=charset, cte=cte)
    document = read(message.as_bytes(), "a.eml")
    assert document.text.endswith("\n\n" + text)
    assert (document.title, document.warnings) == ("Größe: 日本語", ())


def test_encoded_header_fields_are_decoded_and_stay_one_line():
    head = b"From: =?utf-8?q?Zo=C3=AB_M=C3=BCller?= <z@example.org>\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?= =?utf-8?b?CuKAlA==?=\n"
    document = read(head + b"Date: 5 Mar 2024 14:02 GMT\n\nText.", "a.eml")
    assert (document.title, document.author) == ("Grüße —", "Zoë Müller <z@example.org>")


@pytest.mark.parametrize("subject", ["Grüße".encode(), "Grüße".encode("cp1252")], ids=["utf-8", "windows"])
def test_header_fields_that_should_have_been_encoded_are_read_all_the_same(subject):
    assert read(b"From: mia@example.org\nSubject: " + subject + b"\n\nText.", "a.eml").title == "Grüße"


def test_windows_signs_under_the_label_of_latin1_are_read_as_meant():
    data = HEAD + b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: 8bit\n\n\x93Hello\x94 \x96 \x80 5"
    assert read(data, "a.eml").text.endswith("“Hello” – € 5")


def test_of_two_alternatives_the_plain_one_is_taken():
    message = letter("Plain words.")
    message.add_alternative("<p>Rich words.</p>", subtype="html")
    document = read(message.as_bytes(), "a.eml")
    assert document.text.endswith("+0100\n\nPlain words.")
    assert "Rich" not in document.text


def test_an_empty_plain_alternative_gives_way_to_html():
    message = letter("\n")
    message.add_alternative("<h1>Plan</h1><p>Rich <b>words</b>.<script>x</script>", subtype="html")
    document = read(message.as_bytes(), "a.eml")
    assert document.text.endswith("+0100\n\nPlan\n\nRich words.")
    assert [(h.level, h.text, document.text[h.start :][:4]) for h in document.headings] == [(1, "Plan", "Plan")]


def test_html_is_read_in_the_charset_of_its_part_whatever_the_page_says():
    message = letter()
    message.set_content('<html><head><meta charset="shift_jis"></head><p>schöne Straße</p></html>', subtype="html")
    assert read(message.as_bytes(), "a.eml").text.endswith("\n\nschöne Straße")


def test_html_whose_part_states_no_charset_is_read_as_the_page_says():
    page = '<html><head><meta charset="windows-1251"></head><p>Привет</p></html>'.encode("cp1251")
    assert read(HEAD + b"Content-Type: text/html\n\n" + page, "a.eml").text.endswith("\n\nПривет")


def test_attachments_are_named_with_their_size_and_the_warning_says_they_were_not_read():
    message = letter("See the report.")
    message.add_attachment(b"x" * 120_000, maintype="application", subtype="pdf", filename="report.pdf")
    message.add_attachment("a secret\n", filename="Größe.txt")
    document = read(message.as_bytes(), "a.eml")
    assert document.text.endswith("See the report.\n\nAttachment: report.pdf, 120 kB\nAttachment: Größe.txt, 10 bytes")
    assert document.warnings == ("2 attachment(s) are named in the text but were not read: report.pdf, Größe.txt",)


def test_an_attachment_beside_the_html_alternative_is_not_lost():
    message = letter("Plain words.")
    message.add_alternative("<p>Rich words.</p>", subtype="html")
    message.get_payload()[1].make_mixed()
    message.get_payload()[1].add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="../a/plan.pdf")
    document = read(message.as_bytes(), "a.eml")
    assert document.text.endswith("Plain words.\n\nAttachment: plan.pdf, 4 bytes")


def test_forwarded_messages_are_sections_with_headings_of_their_own():
    innermost = letter("The first word.", subject="Order")
    inner = letter("See below.", subject="Fwd: Order")
    inner.add_attachment(innermost)
    message = letter("Please handle.", subject="Fwd: Fwd: Order")
    message.add_attachment(inner)
    document = read(message.as_bytes(), "a.eml")
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "Forwarded message: Fwd: Order"),
        (2, "Forwarded message: Order"),
    ]
    assert all(document.text[h.start :].startswith(h.text + "\n\nSubject:") for h in document.headings)
    assert document.text.endswith("\n\nThe first word.")
    assert (document.title, document.warnings) == ("Fwd: Fwd: Order", ())


def test_headings_of_forwarded_html_lie_below_the_section():
    inner = letter()
    inner.set_content("<h1>Plan</h1><p>Words.</p>", subtype="html")
    message = letter()
    message.add_attachment(inner)
    document = read(message.as_bytes(), "a.eml")
    assert [(h.level, h.text) for h in document.headings] == [(1, "Forwarded message: The pump"), (2, "Plan")]
    assert document.text[document.headings[1].start :] == "Plan\n\nWords."


def test_several_texts_of_one_message_follow_one_another():
    message = letter("One.")
    message.make_mixed()
    second = EmailMessage()
    second.set_content("Two.")
    message.attach(second)
    assert read(message.as_bytes(), "a.eml").text.endswith("\n\nOne.\n\nTwo.")


PARTS = b"--sep\nContent-Type: text/plain\n\nOne.\n--sep\nContent-Type: text/plain\n\nTwo."


@pytest.mark.parametrize("stated", [b"", b"; boundary=other"], ids=["none", "wrong"])
def test_parts_without_their_boundary_are_told_apart_by_their_first_lines(stated):
    document = read(HEAD + b"Content-Type: multipart/mixed" + stated + b"\n\n" + PARTS + b"\n--sep--\n", "a.eml")
    assert document.text.endswith("\n\nOne.\n\nTwo.")
    assert ["told apart by their first lines" in warning for warning in document.warnings] == [True]


def test_parts_told_apart_keep_their_characters():
    part = "--sep\nContent-Type: text/plain; charset=utf-8\n\nSchöne Grüße.\n--sep--\n"
    document = read(HEAD + b"Content-Type: multipart/mixed\n\n" + part.encode(), "a.eml")
    assert document.text.endswith("\n\nSchöne Grüße.")


def test_a_multipart_message_without_any_parts_is_read_as_text():
    document = read(HEAD + b"Content-Type: multipart/mixed; boundary=sep\n\nOnly words.\n", "a.eml")
    assert document.text.endswith("\n\nOnly words.")
    assert len(document.warnings) == 1


def test_a_message_that_ends_in_the_middle_is_read_and_told():
    document = read(HEAD + b"Content-Type: multipart/mixed; boundary=sep\n\n" + PARTS, "a.eml")
    assert document.text.endswith("\n\nOne.\n\nTwo.")
    assert document.warnings == ("it ends in the middle; its last part may be cut short",)


@pytest.mark.parametrize("charset", ["x-none", "iso-2022-jp", "rot13", "punycode", "utf-16", '"\x01"'])
def test_a_charset_that_is_unknown_or_wrong_is_replaced_by_what_fits(charset):
    head = HEAD + f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode()
    document = read(head + "Schöne Straße, größte Mühe!".encode(), "a.eml")
    assert document.text.endswith("\n\nSchöne Straße, größte Mühe!")
    assert ["does not fit" in warning for warning in document.warnings] == [True]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"VGhlIHB1bXAgaXMgbWVuZGVkLg", "The pump is mended."),
        (b"VGhlIHB1bXAg*aXMgbWVuZGVkL", "The pump is mended"),
        (b"VGhlIHB1bXAgaXMgbWVuZGVkLg==\n_____\nThe list of pumps", "The pump is mended.\n\n_____\nThe list of pumps"),
        ("The pump is not böse at all.".encode(), "The pump is not böse at all."),
    ],
    ids=["cut short", "foreign signs", "a footer in clear", "no base64"],
)
def test_broken_base64_is_read_as_far_as_it_goes(body, text):
    document = read(HEAD + b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n" + body, "a.eml")
    assert document.text.endswith("\n\n" + text)
    assert document.warnings == ("its base64 is broken; it was decoded as far as it goes",)


@pytest.mark.parametrize("name", ["letter", "letter.mht", "letter.eml"])
def test_a_message_is_known_by_its_content(name):
    assert read(letter().as_bytes(), name).kind == "eml"


def test_a_message_named_as_text_is_read_as_text():
    document = read(HEAD + b"\nText.", "a.txt")
    assert (document.kind, document.text) == ("txt", (HEAD + b"\nText.").decode())


@pytest.mark.parametrize("data", [b"From: the beginning\nof all things", b"Date: today\n\nText", b"Note: a\nFrom: b\n\nText"])
def test_a_text_that_only_resembles_a_message_is_text(data):
    assert read(data, "notes").kind == "txt"


@pytest.mark.parametrize("data", [b"Only words.", b"<html><p>a</html>", b"Note: this\n\nis none", bytes(range(256)) * 9])
def test_an_eml_that_is_no_message_is_refused(data):
    with pytest.raises(FileTypeUnknown, match="header of a message"):
        read(data, "a.eml")


def test_a_picture_named_eml_is_refused():
    with pytest.raises(FileTypeUnknown, match="PNG"):
        read(b"\x89PNG\r\n\x1a\n", "a.eml")


POSTMARK = b"From mia@example.org Tue Mar  5 14:02:00 2024\n"


def test_a_mailbox_of_several_messages_is_refused_with_the_advice_to_split_it():
    box = POSTMARK + HEAD + b"\nOne.\nFrom here on\n\n" + POSTMARK + HEAD + b"\nTwo.\n"
    with pytest.raises(FileUnreadable, match="a mailbox of 2 messages; save each"):
        read(box, "a.mbox")


def test_a_mailbox_of_one_message_is_that_message():
    document = read(POSTMARK + HEAD + b"\nFrom here on all is well.\n", "a.mbox")
    assert document.text.endswith("\n\nFrom here on all is well.")


@pytest.mark.parametrize("kind", ["multipart/encrypted; boundary=sep", "application/pkcs7-mime"])
def test_an_encrypted_message_is_refused_in_words(kind):
    with pytest.raises(FileUnreadable, match="it is encrypted"):
        read(HEAD + b"Content-Type: " + kind.encode() + b"\n\n" + PARTS, "a.eml")


def test_a_message_without_any_words_is_refused():
    with pytest.raises(NothingToIngest):
        read(b"From: mia@example.org\nDate: Tue, 5 Mar 2024 14:02:00 +0100\n\n \n", "a.eml")


def test_nul_characters_in_a_message_are_refused():
    with pytest.raises(TextInvalid, match="NUL"):
        read(HEAD + b"\nThe pump\x00 is mended, as was to be expected of it.", "a.eml")


def test_nul_characters_of_an_attachment_do_no_harm():
    part = b"--sep\nContent-Type: image/png; name=a.png\nContent-Transfer-Encoding: binary\n\n" + b"\x00" * 90_000
    data = HEAD + b"Content-Type: multipart/mixed; boundary=sep\n\n--sep\n\nText.\n" + part + b"\n--sep--\n"
    assert read(data, "a.eml").text.endswith("Text.\n\nAttachment: a.png, 90 kB")


@pytest.mark.parametrize("depth", [40, 5_000])
def test_messages_nested_without_end_are_refused(depth):
    with pytest.raises(FileUnreadable, match="nested more than 30 deep"):
        read(HEAD + b"Content-Type: message/rfc822\n\n" * depth + b"x", "a.eml")


def test_parts_without_number_are_refused():
    data = HEAD + b"Content-Type: multipart/mixed; boundary=s\n\n" + b"--s\n\na\n" * (MAX_PARTS + 1) + b"--s--\n"
    with pytest.raises(FileUnreadable, match="more than 5000 parts"):
        read(data, "a.eml")


def test_a_hostile_header_field_is_told_as_it_stands():
    document = read(b"From: " + b"(" * 5_000 + b"\nSubject: The pump\nDate: x\n\nText.", "a.eml")
    assert document.author is not None and document.author.startswith("((((")
    assert document.title == "The pump"


def test_the_headings_of_a_message_are_where_the_document_says():
    inner = letter()
    message = letter("Words.")
    message.add_attachment(inner)
    text, headings = (document := read_mail(message.as_bytes(), "a.eml")).text, document.headings
    assert headings == (Heading(1, "Forwarded message: The pump", text.index("Forwarded")),)


PIECES = [b"From: a@b\n", b"Subject: =?utf-8?q?=ff?=\n", b"Content-Type: multipart/mixed; boundary=s\n", b"--s\n", b"--s--\n"]
PIECES += [
    b"\n",
    b"Content-Type: text/html; charset=",
    b"Content-Transfer-Encoding: base64\n",
    b"Zm9v\n",
    b"\xff\xfe \x80",
    b"<p>a",
]
PIECES += [b"Content-Type: message/rfc822\n", b'Content-Type: multipart/alternative; boundary="s"\n', b"To: ,<@:;>(\n", b"\r"]


@given(st.lists(st.sampled_from(PIECES) | st.binary(max_size=9), max_size=25).map(b"".join))
@settings(deadline=None)
def test_any_message_gives_a_document_or_one_of_our_errors(data):
    try:
        document = read_mail(b"Subject: x\n" + data, "a.eml")
    except MemoirError as error:
        assert error.code in ("E201", "E203", "E205")
    else:
        assert document.text.startswith("Subject: x") and "\r" not in document.text
